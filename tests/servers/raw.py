"""A server that says whatever bytes a test wants; it shares no code with the package."""

import contextlib
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

Speak = Callable[[socket.socket], None]


@dataclass(slots=True)
class RawServer:
    """Where it listens, and the bytes of every request that came."""

    port: int
    scheme: str = "http"
    connections: int = 0
    heard: list[bytes] = field(default_factory=list)

    @property
    def base_url(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.port}/v1"


@contextlib.contextmanager
def raw_server(speak: Speak, tls: ssl.SSLContext | None = None) -> Iterator[RawServer]:
    """Each request is answered by `speak`, which writes to the connection; then it is closed."""
    listener = socket.create_server(("127.0.0.1", 0))
    server = RawServer(listener.getsockname()[1], "https" if tls else "http")
    stopping = threading.Event()

    def serve(connection: socket.socket) -> None:
        with contextlib.suppress(OSError), connection:
            spoken = tls.wrap_socket(connection, server_side=True) if tls else connection
            with spoken:
                server.heard.append(hear(spoken))
                speak(spoken)
                with contextlib.suppress(OSError):
                    spoken.shutdown(socket.SHUT_WR)

    def accept() -> None:
        while not stopping.is_set():
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            server.connections += 1
            threading.Thread(target=serve, args=(connection,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield server
    finally:
        stopping.set()
        # a thread that waits in accept() holds the socket open: wake it
        with contextlib.suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
        listener.close()


def hear(connection: socket.socket) -> bytes:
    """One request: its head and as much body as it announces."""
    heard = b""
    while b"\r\n\r\n" not in heard:
        heard += connection.recv(65536) or b"\r\n\r\n"
    head, _, body = heard.partition(b"\r\n\r\n")
    lengths = [line for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")]
    length = int(lengths[0].partition(b":")[2]) if lengths else 0
    while len(body) < length and (piece := connection.recv(65536)):
        body += piece
    return head + b"\r\n\r\n" + body


def answer(body: bytes, *headers: str, status: str = "200 OK") -> bytes:
    """A whole HTTP answer."""
    lines = [f"HTTP/1.1 {status}", *headers, f"Content-Length: {len(body)}", "", ""]
    return "\r\n".join(lines).encode() + body
