"""A real server with the OpenAI interface, for tests; it can be told to misbehave.

    python tests/servers/completions.py --log LOG [--model FOLDER] [--key KEY] [--delay SECONDS]
        [--serves NAME ...] [--fingerprint TEXT]

It prints its port, answers on loopback, and writes each request to LOG before it answers. With a
folder it serves that transformers model; without one, texts computed from the request. It shares
no code with the package. POST /faults takes a list; each is used by one of the next requests:
{"status": 429, "headers": {"Retry-After": "1"}}, {"sleep": 3}, {"body": "text"}, {"close": true},
{"cut": true}, {"trickle": 0.2}. With --serves it lists these names under /v1/models and says with
each answer which one gave it (the first, whatever was asked for); without it, it has no such list.
"""

import argparse
import hashlib
import json
import math
import threading
import time
from collections import deque
from collections.abc import Callable
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

Generate = Callable[[str, dict[str, Any]], str]
LogProbs = Callable[[str], dict[str, float]]  # of all tokens that may come next, as texts


def compute(prompt: str, body: dict[str, Any]) -> str:
    """A text that looks random and depends on the request alone."""
    question = json.dumps([prompt, body["temperature"], body["seed"], body["max_tokens"]])
    return f" name_{hashlib.sha256(question.encode()).hexdigest()[:12]} = None"


def load(folder: Path) -> Generate:
    """The model's own `generate`, one prompt after the other."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    torch.set_num_threads(1)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder).eval()
    one_at_a_time = threading.Lock()

    def generate(prompt: str, body: dict[str, Any]) -> str:
        inputs = tokenizer(prompt, return_tensors="pt")
        how: dict[str, Any] = {"do_sample": False}
        if body["temperature"] > 0:
            how = {"do_sample": True, "temperature": body["temperature"], "top_k": 0}
        with one_at_a_time, torch.inference_mode():
            torch.manual_seed(body["seed"])
            output = model.generate(
                **inputs,
                **how,
                max_new_tokens=body["max_tokens"],
                pad_token_id=tokenizer.eos_token_id,
            )
        new = output[0][inputs["input_ids"].shape[1] :]
        text: str = tokenizer.decode(new, skip_special_tokens=True)
        return text

    return generate


def load_logprobs(folder: Path) -> LogProbs:
    """What may come next, by the model's own forward pass."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder).eval()
    one_at_a_time = threading.Lock()

    def logprobs(prompt: str) -> dict[str, float]:
        with one_at_a_time, torch.inference_mode():
            logits = model(**tokenizer(prompt, return_tensors="pt")).logits[0, -1].double()
        values = logits.log_softmax(-1).tolist()
        return {tokenizer.decode([n]): values[n] for n in range(len(tokenizer))}

    return logprobs


def made_up_logprobs(prompt: str) -> dict[str, float]:
    """Ten tokens, the likeliest by the prompt: no name is longer than two tokens."""
    tokens = ["alpha", "beta", "ga", "mma", "_rest", " = ", "(", ")", ",", "\n"]
    weights = [1 + hashlib.sha256(f"{prompt}{t}".encode()).digest()[0] for t in tokens]
    total = sum(weights)
    return {t: math.log(w / total) for t, w in zip(tokens, weights, strict=True)}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # it writes byte by byte, and connections are kept

    def __init__(self, *args: Any, shared: "Shared") -> None:
        self.shared = shared
        super().__init__(*args)

    def log_message(self, *_: Any) -> None:
        pass

    def do_POST(self) -> None:
        content = self.rfile.read(int(self.headers["Content-Length"]))
        body = json.loads(content)
        if self.path == "/faults":
            self.shared.faults.extend(body)
            self.send(200, "{}")
            return
        fault = self.shared.next_fault()
        self.shared.write(self, body, fault)
        if self.shared.key and self.headers["Authorization"] != f"Bearer {self.shared.key}":
            said = f"wrong key: {self.headers['Authorization']}"
            self.send(401, json.dumps({"error": {"message": said}}))
            return
        time.sleep(fault.get("sleep", self.shared.delay))
        self.answer(body, fault)

    def do_GET(self) -> None:
        if self.shared.serves and self.path == "/v1/models":
            listed = [{"id": name, "object": "model", "created": 7} for name in self.shared.serves]
            self.send(200, json.dumps({"object": "list", "data": listed}))
        else:
            self.send(404, '{"error": {"message": "no such place"}}')

    def answer(self, body: dict[str, Any], fault: dict[str, Any]) -> None:
        if fault.get("close"):
            self.close_connection = True
        elif "status" in fault:
            said = fault.get("body", '{"error": {"message": "told to"}}')
            self.send(fault["status"], said, fault.get("headers", {}))
        else:
            text = fault["body"] if "body" in fault else self.complete(body)
            self.send(
                200,
                text,
                fault.get("headers", {}),
                cut=fault.get("cut", False),
                pause=fault.get("trickle", 0.0),
            )

    def complete(self, body: dict[str, Any]) -> str:
        if self.path == "/v1/chat/completions":
            text = self.shared.generate(body["messages"][-1]["content"], body)
            choice: dict[str, Any] = {"message": {"role": "assistant", "content": text}}
        else:
            choice = {"text": self.shared.generate(body["prompt"], body)}
            if body.get("logprobs") and self.shared.shape != "none":
                choice["logprobs"] = self.tops(body["prompt"], body["logprobs"])
        about: dict[str, Any] = {}
        if self.shared.serves:
            about = {"id": self.shared.next_id(), "model": self.shared.serves[0]}
        if self.shared.fingerprint:
            about["system_fingerprint"] = self.shared.fingerprint
        return json.dumps({**about, "choices": [choice | {"index": 0, "finish_reason": "length"}]})

    def tops(self, prompt: str, number: int) -> dict[str, Any]:
        """The likeliest tokens in the shape of vLLM and OpenAI, or of llama.cpp."""
        found = self.shared.logprobs(prompt)
        best = sorted(found.items(), key=lambda pair: -pair[1])[:number]
        if self.shared.shape == "object":
            return {"top_logprobs": [dict(best)], "tokens": [best[0][0]]}
        listed = [{"token": t, "logprob": v, "bytes": list(t.encode())} for t, v in best]
        return {"content": [{**listed[0], "top_logprobs": listed}]}

    def send(
        self,
        status: int,
        text: str,
        headers: dict[str, str] | None = None,
        cut: bool = False,
        pause: float = 0.0,
    ) -> None:
        content = text.encode()
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        for byte in content[: len(content) // 2] if cut else content:
            self.wfile.write(bytes([byte]))
            if pause:
                self.wfile.flush()
                time.sleep(pause)
        self.close_connection = self.close_connection or cut


class Shared:
    """What all requests see."""

    def __init__(
        self,
        log: Path,
        generate: Generate,
        key: str | None,
        delay: float,
        logprobs: LogProbs = made_up_logprobs,
        shape: str = "object",
        serves: list[str] | None = None,
        fingerprint: str | None = None,
    ) -> None:
        self.log = log
        self.generate = generate
        self.logprobs = logprobs
        self.shape = shape  # of log-probabilities: object, list, or none at all
        self.key = key
        self.delay = delay
        self.serves = serves or []
        self.fingerprint = fingerprint
        self.ids = 0
        self.faults: deque[dict[str, Any]] = deque()
        self.lock = threading.Lock()

    def next_id(self) -> str:
        with self.lock:
            self.ids += 1
            return f"cmpl-{self.ids}"

    def next_fault(self) -> dict[str, Any]:
        with self.lock:
            return self.faults.popleft() if self.faults else {}

    def write(self, request: Handler, body: dict[str, Any], fault: dict[str, Any]) -> None:
        line = {
            "path": request.path,
            "headers": {name.lower(): value for name, value in request.headers.items()},
            "port": request.client_address[1],
            "body": body,
            "fault": fault,
            "at": time.monotonic(),
        }
        with self.lock, self.log.open("a") as file:
            file.write(json.dumps(line) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--log", type=Path, required=True)
    parser.add_argument("--model", type=Path)
    parser.add_argument("--key")
    parser.add_argument("--delay", type=float, default=0.0)
    parser.add_argument("--logprobs", choices=("object", "list", "none"), default="object")
    parser.add_argument("--serves", nargs="+")
    parser.add_argument("--fingerprint")
    args = parser.parse_args()
    generate = load(args.model) if args.model else compute
    logprobs = load_logprobs(args.model) if args.model else made_up_logprobs
    shared = Shared(
        args.log,
        generate,
        args.key,
        args.delay,
        logprobs,
        args.logprobs,
        args.serves,
        args.fingerprint,
    )
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, shared=shared))
    print(server.server_port, flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
