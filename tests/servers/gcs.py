"""Google's store, emulated on the loopback: `python -m tests.servers.gcs` prints its address."""

import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import quote
from urllib.request import Request, urlopen

import orjson

BUCKET = "datasets"


@dataclass(frozen=True, slots=True)
class Gcs:
    """The server, and what it holds as another client sees it."""

    address: str

    @property
    def environment(self) -> dict[str, str]:
        """What leads a client to it, and keeps it from asking Google who it is, and what bucket."""
        return {
            "STORAGE_EMULATOR_HOST": self.address,
            "NO_GCE_CHECK": "true",
            "GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT": "false",
        }

    def objects(self, prefix: str = "") -> dict[str, bytes]:
        """All objects with such a name, by their keys."""
        listed = orjson.loads(self._ask(f"/storage/v1/b/{BUCKET}/o?prefix={quote(prefix)}"))
        keys = [each["name"] for each in listed.get("items", ())]
        return {key: self._ask(f"/{BUCKET}/{quote(key)}") for key in keys}

    def put(self, key: str, content: bytes) -> None:
        """Make an object."""
        where = f"/upload/storage/v1/b/{BUCKET}/o?uploadType=media&name={quote(key, safe='')}"
        self._ask(where, content)

    def reset(self) -> None:
        """Forget everything but the bucket."""
        self._ask("/wipe?keep-buckets=true")

    def _ask(self, path: str, body: bytes | None = None) -> bytes:
        kind = {"Content-Type": "application/octet-stream"}
        request = Request(f"{self.address}{path}", body, kind)  # noqa: S310
        with urlopen(request) as answer:  # noqa: S310
            content: bytes = answer.read()
        return content


@contextmanager
def serving() -> Iterator[Gcs]:
    """A server with one empty bucket, in a process of its own, on a port that is free."""
    command = [sys.executable, "-m", "tests.servers.gcs"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as it:
        assert it.stdout is not None
        try:
            yield Gcs(it.stdout.readline().strip())
        finally:
            it.kill()


def main() -> None:
    """Serve until standard input ends."""
    from gcp_storage_emulator.server import create_server

    logging.disable(logging.CRITICAL)
    server = create_server("127.0.0.1", 0, in_memory=True, default_bucket=BUCKET)
    server.start()
    port = server._api._httpd.socket.getsockname()[1]
    print(f"http://127.0.0.1:{port}", flush=True)
    sys.stdin.read()
    os._exit(0)  # its thread would go on


if __name__ == "__main__":
    main()
