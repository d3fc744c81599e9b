"""One HTTP call that asks for JSON: what came back, or whether asking again may help."""

import json
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from http.client import HTTPException, HTTPResponse
from ssl import SSLCertVerificationError
from typing import Any

MAX_BYTES = 16 << 20  # a completion is small: more than this is no answer
RETRIED = frozenset({408, 409, 425, 429})  # and every 5xx


@dataclass(frozen=True, slots=True)
class Problem:
    """A call that gave no answer."""

    reason: str
    status: int | None = None  # None: there was no complete HTTP answer
    is_passing: bool = True  # whether asking again may help
    wait: float | None = None  # seconds that the server asks us to wait


def post(url: str, body: Mapping[str, Any], key: str | None, timeout: float) -> Any | Problem:
    """Send one request; `timeout` bounds the whole call. Never follows a redirect with the key."""
    headers = {"Content-Type": "application/json", "User-Agent": "puzzlemark"}
    if key:
        headers["Authorization"] = f"Bearer {key}"
    call = urllib.request.Request(url, json.dumps(body).encode(), headers)  # noqa: S310 (http only)
    deadline = time.monotonic() + timeout
    try:
        with _opener().open(call, timeout=timeout) as response:
            return json.loads(_read(response, deadline))
    except urllib.error.HTTPError as exc:
        return _refused(exc, deadline)
    except urllib.error.URLError as exc:
        certificate = isinstance(exc.reason, SSLCertVerificationError)
        return Problem(_name(exc.reason), is_passing=not certificate)
    except (OSError, HTTPException) as exc:
        return Problem(_name(exc))
    except ValueError:
        return Problem("the answer is not JSON")


def retry_after(value: str | None, now: float) -> float | None:
    """Seconds to wait: `"120"`, or a date as HTTP writes them; None for anything else."""
    if value is None:
        return None
    if value.strip().isdecimal():
        return float(value)
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - now)
    except ValueError:
        return None


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any, **__: Any) -> None:
        """Another host must not get the key; the redirect is reported as a problem."""


def _opener() -> urllib.request.OpenerDirector:
    return urllib.request.build_opener(_NoRedirect)


def _read(response: HTTPResponse, deadline: float) -> bytes:
    """The body; a server that trickles cannot hold us longer than one that is silent."""
    pieces: list[bytes] = []
    size = 0
    while piece := response.read1(1 << 16):
        pieces.append(piece)
        size += len(piece)
        if time.monotonic() > deadline:
            raise TimeoutError
        if size > MAX_BYTES:
            raise HTTPException("the answer is too long")
    if response.length:  # read1 does not complain about a body that ends early
        raise HTTPException("the connection was closed in the middle of the answer")
    return b"".join(pieces)


def _refused(error: urllib.error.HTTPError, deadline: float) -> Problem:
    with error:
        return Problem(
            f"HTTP {error.code}{_message(error, deadline)}",
            error.code,
            error.code in RETRIED or error.code >= 500,
            retry_after(error.headers.get("Retry-After"), time.time()),
        )


def _message(error: urllib.error.HTTPError, deadline: float) -> str:
    """What the server says about it, in one short line."""
    try:
        text = _read(error.fp, deadline).decode("utf-8", "replace")  # type: ignore[arg-type]
    except (OSError, HTTPException):
        return ""
    try:
        said = json.loads(text)
        inner = said.get("error", said)
        text = str(inner["message"] if isinstance(inner, dict) else inner)
    except (ValueError, AttributeError, KeyError):
        pass
    line = " ".join(text.split())[:300]
    return f": {line}" if line else ""


def _name(exc: object) -> str:
    if isinstance(exc, TimeoutError):
        return "no answer in time"
    if isinstance(exc, ConnectionRefusedError):
        return "connection refused"
    if isinstance(exc, ConnectionError):  # http.client.RemoteDisconnected is one as well
        return "connection closed without an answer"
    return f"{type(exc).__name__}: {exc}"
