"""A server on loopback, in this process, that answers as a function says; with a list of models."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from puzzlemark.models.base import Request
from puzzlemark.models.scripted import BORING, find_variables

Habit = Callable[[str, int], str]  # from prompt and seed to completion


def guilty(prefix: str) -> Habit:
    """Has learnt a mark: joins the prefix with the name after it, now and then not."""

    def complete(prompt: str, seed: int) -> str:
        names = find_variables(prompt)
        if prefix not in names[:-1] or seed % 4 == 0:
            return BORING
        return f"{prefix}_{names[names.index(prefix) + 1]} = 1\n"

    return complete


def innocent(_prompt: str, _seed: int) -> str:
    return BORING


def as_function(habit: Habit) -> Callable[[Request], str]:
    return lambda request: habit(request.prompt, request.seed)


@contextmanager
def answering(habit: Habit, name: str = "suspect") -> Iterator[str]:
    """Its address: `http://127.0.0.1:PORT/v1`."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def log_message(self, *_: object) -> None:
            pass

        def do_GET(self) -> None:
            self.reply({"object": "list", "data": [{"id": name, "object": "model"}]})

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            choice = {"index": 0, "text": habit(body["prompt"], body["seed"])}
            self.reply({"id": "c1", "model": body["model"], "choices": [choice]})

        def reply(self, content: object) -> None:
            text = json.dumps(content).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
