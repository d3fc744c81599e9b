"""A small server for a lab: hands out the pages, and collects the answers in a folder.

It knows the pages and nothing else: neither key nor dataset, so whoever runs it stays blind.
"""

import logging
import os
import re
import secrets
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

from pydantic import ValidationError

from puzzlemark.errors import UsageError
from puzzlemark.files import keep_apart, sync_folder
from puzzlemark.pages.study import NO_COLLECTOR, NO_CONNECTIONS, read_data
from puzzlemark.studying.answers import AnswerFile
from puzzlemark.studying.key import StudyError

LARGEST = 1 << 20  # bytes of answers; 1,000 answers are about 100 KB
PATIENCE = 30  # seconds for a request to arrive
LOOPBACK = "127.0.0.1"
EVERYWHERE = "0.0.0.0"  # noqa: S104 - only where the user asks for it
LOGGER = logging.getLogger(__name__)
WELCOME = b"Please open the link that you were given."


@dataclass(frozen=True, slots=True)
class Served:
    """One page, and where it stands on the server."""

    participant: str
    study: str
    token: str
    content: bytes
    link: str  # `/p01-<token>`: nobody opens another's page by counting


@dataclass(frozen=True, slots=True)
class Lab:
    """A server that runs."""

    host: str
    port: int
    links: Mapping[str, str]  # by page
    answers: Path

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach it."""
        return self.host in (LOOPBACK, "localhost")


def load_pages(folder: Path | str) -> dict[str, Served]:
    """The pages of one study, by the names of their files."""
    pages: dict[str, Served] = {}
    for path in sorted(Path(folder).glob("*.html")):
        text = path.read_text(encoding="utf-8")
        try:
            data = read_data(text)
        except ValueError as exc:
            raise StudyError(f"{path}: {exc}; pass the folder that `study make` wrote") from exc
        first = data["rounds"][0]["number"]
        part = f"-{first}" if len(data["rounds"]) < data["of"] else ""
        link = f"/{data['participant']}-{data['token']}{part}"
        content = text.replace(NO_CONNECTIONS, "connect-src 'self'", 1).replace(
            NO_COLLECTOR, NO_COLLECTOR.replace('""', f'"{link}"'), 1
        )
        pages[path.name] = Served(
            data["participant"], data["study"], data["token"], content.encode(), link
        )
    if not pages:
        raise StudyError(f"{folder}: no pages here; pass the folder that `study make` wrote")
    if len({page.study for page in pages.values()}) > 1:
        raise StudyError(f"{folder}: pages of several studies; pass the folder of one")
    return pages


@contextmanager
def serve_study(
    folder: Path | str, answers: Path | str, *, host: str = LOOPBACK, port: int = 0
) -> Iterator[Lab]:
    """Serve while the block runs: `with serve_study("pages", "answers") as lab: print(lab.links)`.

    Binds to this machine only, unless another `host` is named. Each file of answers that arrives
    is written whole, under a name that is free; nothing is ever replaced, also after a restart.
    """
    pages = load_pages(folder)
    target = Path(answers)
    keep_apart({"--answers": target}, {"PAGES": [Path(folder) / name for name in pages]})
    try:
        target.mkdir(parents=True, exist_ok=True, mode=0o700)
        server = _Server((host, port), pages, target)
    except OSError as exc:
        raise UsageError(f"cannot serve at {host}:{port}: {exc.strerror}") from exc
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        bound = int(server.server_address[1])
        reached = socket.gethostname() if host == EVERYWHERE else host
        links = {name: f"http://{reached}:{bound}{page.link}" for name, page in pages.items()}
        yield Lab(host, bound, links, target)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, address: tuple[str, int], pages: Mapping[str, Served], answers: Path):
        self.pages = {page.link: page for page in pages.values()}  # all that can be asked for
        self.answers = answers
        super().__init__(address, _Handler)

    def handle_error(self, request: object, client_address: object) -> None:  # noqa: ARG002
        """A browser that hangs up is no event."""
        LOGGER.debug("a request failed", exc_info=True)


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    timeout = PATIENCE
    server_version = "study"
    sys_version = ""

    def do_GET(self) -> None:
        """A page, by its link."""
        page = self.server.pages.get(self.path)
        if page is not None:
            self._reply(HTTPStatus.OK, page.content, "text/html; charset=utf-8")
        elif self.path == "/":
            self._reply(HTTPStatus.OK, WELCOME)
        else:
            self._reply(HTTPStatus.NOT_FOUND, WELCOME)

    def do_POST(self) -> None:
        """The answers of the participant whose link it is."""
        page = self.server.pages.get(self.path)
        if page is None:
            self._refuse(HTTPStatus.NOT_FOUND, "no such page")
            return
        length = self.headers.get("Content-Length", "")
        if not re.fullmatch(r"\d{1,9}", length):
            self._refuse(HTTPStatus.LENGTH_REQUIRED, "the length is missing")
            return
        if int(length) > LARGEST:
            self._refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "more than a file of answers can be")
            return
        body = self.rfile.read(int(length))
        if len(body) < int(length):
            self._refuse(HTTPStatus.BAD_REQUEST, "cut short")
            return
        self._take(page, body)

    def _take(self, page: Served, body: bytes) -> None:
        try:
            read = AnswerFile.model_validate_json(body)
        except ValidationError:
            self._refuse(HTTPStatus.BAD_REQUEST, "no file of answers")
            return
        if (read.study, read.participant) != (page.study, page.participant):
            self._refuse(HTTPStatus.BAD_REQUEST, "answers of another page")
            return
        if read.seal != read.seal_with(page.token):
            self._refuse(HTTPStatus.BAD_REQUEST, "the seal does not fit the answers")
            return
        try:
            name = store(self.server.answers, page.participant, body)
        except OSError as exc:
            LOGGER.error("%s: answers cannot be written: %s", page.participant, exc.strerror)
            self._refuse(HTTPStatus.INTERNAL_SERVER_ERROR, "the answers cannot be written")
            return
        LOGGER.info("%s: %s", page.participant, name)
        self._reply(HTTPStatus.OK, b"received")

    def _refuse(self, status: HTTPStatus, why: str) -> None:
        self.close_connection = True  # what is left of the body is not read
        self._reply(status, why.encode())

    def _reply(
        self, status: HTTPStatus, content: bytes, kind: str = "text/plain; charset=utf-8"
    ) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("X-Frame-Options", "DENY")
        self.end_headers()
        with suppress(ConnectionError):
            self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Nothing: a link in a log would be a way to another's page."""


def store(folder: Path, participant: str, body: bytes) -> str:
    """Write a file of answers whole, under the next free name; the name of one that has them."""
    for path in sorted(folder.glob(f"{participant}-*.json")):
        if path.read_bytes() == body:  # sent twice
            return path.name
    place = folder / f".{secrets.token_hex(8)}.partial"
    handle = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(body)
            file.flush()
            os.fsync(file.fileno())
        for number in range(1, 10_000):
            target = folder / f"{participant}-{number:04}.json"
            try:
                os.link(place, target)  # fails where a file stands: nothing is replaced
            except FileExistsError:
                continue
            sync_folder(folder)
            return target.name
        raise OSError(f"too many files of {participant}")
    finally:
        place.unlink(missing_ok=True)
