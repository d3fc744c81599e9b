"""A server on the loopback that answers as the Hugging Face hub does to HfFileSystem.

It holds one repository of a dataset, whose files are all plain ones (no LFS, no Xet): it can be
listed, read by ranges, and changed by commits. `HF_ENDPOINT` leads a client to it.
"""

import base64
import hashlib
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

REPOSITORY = "me/data"
API = f"/api/datasets/{REPOSITORY}"
RESOLVE = f"/datasets/{REPOSITORY}/resolve/main/"
TOKEN = "hf_NotARealTokenForTestsOnly"  # noqa: S105
DATE = "2026-11-18T12:00:00.000Z"


@dataclass(slots=True)
class Hub:
    """The server, and what it holds."""

    address: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    commits: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def environment(self) -> dict[str, str]:
        """What leads a client to it, and what it lets in."""
        return {
            "HF_ENDPOINT": self.address,
            "HF_TOKEN": TOKEN,
            "HF_HUB_DISABLE_TELEMETRY": "1",
            "HF_HUB_DISABLE_XET": "1",
            "NO_PROXY": "127.0.0.1",
        }

    def objects(self, prefix: str = "") -> dict[str, bytes]:
        """All files with such a name."""
        return {name: self.files[name] for name in sorted(self.files) if name.startswith(prefix)}

    def put(self, key: str, content: bytes) -> None:
        """Make a file."""
        self.files[key] = content

    def reset(self) -> None:
        """Forget everything."""
        self.files.clear()
        self.commits = 0

    @property
    def head(self) -> str:
        """The last commit."""
        return hashlib.sha1(str(self.commits).encode()).hexdigest()  # noqa: S324

    def describe(self, path: str) -> dict[str, Any] | None:
        """A file or folder, as the hub describes it."""
        known = {"path": path, "lastCommit": {"id": self.head, "title": "-", "date": DATE}}
        if (content := self.files.get(path)) is not None:
            oid = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()  # noqa: S324
            return {"type": "file", "size": len(content), "oid": oid, **known}
        if any(name.startswith(f"{path}/") for name in self.files):
            return {"type": "directory", "size": 0, "oid": "0" * 40, **known}
        return None

    def tree(self, folder: str, *, recursive: bool) -> list[dict[str, Any]]:
        """What stands in a folder, or everywhere below it."""
        start = f"{folder}/" if folder else ""
        found: set[str] = set()
        for name in self.files:
            if name.startswith(start):
                parts = name.removeprefix(start).split("/")
                depth = len(parts) if recursive else 1
                found |= {start + "/".join(parts[:at]) for at in range(1, depth + 1)}
        return [facts for name in sorted(found) if (facts := self.describe(name)) is not None]

    def commit(self, lines: bytes) -> bool:
        """Change files as a commit says, all of it at once; False while another one is made."""
        if not self.lock.acquire(blocking=False):
            return False
        try:
            time.sleep(0.02)  # so that two at once do meet
            for line in map(json.loads, lines.splitlines()):
                key, value = line["key"], line["value"]
                if key == "file":
                    self.files[value["path"]] = base64.b64decode(value["content"])
                elif key == "deletedFile":
                    del self.files[value["path"]]
                else:
                    assert key == "header", f"not spoken here: {key}"
            self.commits += 1
        finally:
            self.lock.release()
        return True


class _Handler(BaseHTTPRequestHandler):
    hub: Hub
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Say nothing."""

    def do_HEAD(self) -> None:
        self._read()

    def do_GET(self) -> None:
        asked = urlsplit(self.path)
        path = unquote(asked.path)
        if path.startswith(RESOLVE):
            self._read()
        elif path in (API, f"{API}/revision/main"):
            self._answer({"_id": "0", "id": REPOSITORY, "sha": self.hub.head, "private": True})
        elif path == f"{API}/tree/main" or path.startswith(f"{API}/tree/main/"):
            folder = path.removeprefix(f"{API}/tree/main").strip("/")
            options = parse_qs(asked.query)
            recursive = options.get("recursive", ["false"])[0].lower() == "true"
            found = self.hub.tree(folder, recursive=recursive)
            if found or not folder:
                self._answer(found)
            else:
                self._refuse("EntryNotFound")
        elif path.startswith(f"{API}/"):
            self._refuse("RevisionNotFound")
        else:
            self._refuse("RepoNotFound")

    def do_POST(self) -> None:
        path = unquote(urlsplit(self.path).path)
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if not self._is_known():
            self._refuse("RepoNotFound", 401)
        elif path == f"{API}/paths-info/main":
            names = (
                json.loads(body)["paths"]
                if "json" in self.headers["Content-Type"]
                else parse_qs(body.decode())["paths"]
            )
            self._answer([facts for name in names if (facts := self.hub.describe(name))])
        elif path == f"{API}/preupload/main":
            named = [each["path"] for each in json.loads(body)["files"]]
            modes = {"uploadMode": "regular", "shouldIgnore": False, "oid": None}
            self._answer({"files": [{"path": name, **modes} for name in named]})
        elif path == f"{API}/commit/main":
            if not self.hub.commit(body):
                self._refuse("CommitConflict", 412)
                return
            url = f"{self.hub.address}/datasets/{REPOSITORY}/commit/{self.hub.head}"
            self._answer({"success": True, "commitOid": self.hub.head, "commitUrl": url})
        else:
            self._refuse("RepoNotFound")

    def _is_known(self) -> bool:
        return self.headers.get("Authorization") == f"Bearer {TOKEN}"

    def _read(self) -> None:
        """A file, or a range of it."""
        name = unquote(urlsplit(self.path).path).removeprefix(RESOLVE)
        content = self.hub.files.get(name)
        if content is None or not self._is_known():
            self._refuse("EntryNotFound")
            return
        status, more = 200, {"ETag": f'"{hashlib.sha256(content).hexdigest()}"'}
        if asked := self.headers.get("Range"):
            first, _, last = asked.removeprefix("bytes=").partition("-")
            start, stop = int(first), min(int(last or len(content)) + 1, len(content))
            more["Content-Range"] = f"bytes {start}-{stop - 1}/{len(content)}"
            status, content = 206, content[start:stop]
        self._send(status, content, "application/octet-stream", more)

    def _answer(self, payload: Any) -> None:
        if self._is_known():
            self._send(200, json.dumps(payload).encode(), "application/json")
        else:
            self._refuse("RepoNotFound", 401)

    def _refuse(self, code: str, status: int = 404) -> None:
        error = json.dumps({"error": code}).encode()
        self._send(status, error, "application/json", {"X-Error-Code": code})

    def _send(
        self, status: int, content: bytes, kind: str, more: dict[str, str] | None = None
    ) -> None:
        self.send_response(status)
        headers = {"Content-Type": kind, "Content-Length": str(len(content)), **(more or {})}
        for name, value in {**headers, "X-Repo-Commit": self.hub.head}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)


@contextmanager
def serving() -> Iterator[Hub]:
    """A server with one empty repository, in a thread, on a port that is free."""
    hub = Hub()
    handler = type("Handler", (_Handler,), {"hub": hub})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        hub.address = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield hub
        finally:
            server.shutdown()
            thread.join()
