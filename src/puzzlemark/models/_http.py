"""Calls that ask a server for JSON: what came back, or whether asking again may help.

The server may be hostile: what it sends is bounded in time and size, is never followed elsewhere,
and is shown only without the key.
"""

import asyncio
import json
import ssl
import time
import zlib
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from http.cookiejar import CookieJar, DefaultCookiePolicy
from socket import gaierror
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from puzzlemark.errors import UsageError
from puzzlemark.models.base import ModelError

if TYPE_CHECKING:
    import httpx2
import base64
import html
import re
from typing import TypeAlias
from urllib.parse import quote, quote_plus

Redact: TypeAlias = Callable[[str], str]

MARK = "<key>"
LEAST_BASE64 = 8  # characters; fewer are found in ordinary words


def redactor(key: str | None) -> Redact:
    """`redactor("sk-1")("wrong key: sk-1") -> "wrong key: <key>"`; upper and lower case alike."""
    if not key:
        return lambda text: text
    longest_first = sorted(set(_spellings(key)), key=len, reverse=True)
    pattern = re.compile("|".join(map(re.escape, longest_first)), re.IGNORECASE)
    return lambda text: pattern.sub(MARK, text)


def _spellings(key: str) -> Iterator[str]:
    yield key
    yield from (quote(key, safe=""), quote(key), quote_plus(key))  # in an address
    in_json = json.dumps(key)[1:-1]
    yield from (in_json, in_json.replace("/", r"\/"), html.escape(key))
    for text in _base64_cores(key.encode()):
        if len(text) >= LEAST_BASE64:
            yield from (text, text.replace("+", "-").replace("/", "_"))


def _base64_cores(key: bytes) -> Iterator[str]:
    """What all Base64 texts have in common that hold the key: `user:KEY` of Basic, for any user.

    Three bytes are four characters. The key may begin at the first, second or third of them; the
    characters that it shares with its neighbours are left out.
    """
    for before in range(3):
        text = base64.b64encode(bytes(before) + key).decode().rstrip("=")
        shared = (before + len(key)) % 3 != 0  # the last character holds bits of what follows
        yield text[(0, 2, 3)[before] : len(text) - shared]


RETRIED = frozenset({408, 409, 425, 429})  # and every 5xx
MAX_COMPLAINT = 1 << 16  # bytes of an answer that is an error
SHOWN = 300  # characters of it
# what httpx2 asks for when it stands alone; further packages would make it ask for more
ENCODINGS = "gzip, deflate"


@dataclass(frozen=True, slots=True)
class Problem:
    """A call that gave no answer."""

    reason: str
    status: int | None = None  # None: there was no complete HTTP answer
    is_passing: bool = True  # whether asking again may help
    wait: float | None = None  # seconds that the server asks us to wait
    is_unreachable: bool = False  # there was no connection: nobody heard us


@dataclass(frozen=True, slots=True)
class Received:
    """An answer: its JSON, and the headers that came with it."""

    value: Any
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Connecting:
    """How to reach a server; nothing of it is told to the server but the headers."""

    base_url: str
    headers: Mapping[str, str]
    timeout: float  # seconds for a whole call
    connect_timeout: float
    connections: int  # at the same time
    ca_bundle: str | None = None


@dataclass(frozen=True, slots=True)
class Session:
    """An open pool of connections; a broken one is replaced at the next call."""

    client: "httpx2.AsyncClient"
    timeout: float
    redact: Redact

    async def post(self, url: str, body: Mapping[str, Any], max_bytes: int) -> Received | Problem:
        """Send one request and read its JSON. Never follows a redirect with the key."""
        content = json.dumps(body, separators=(",", ":")).encode()
        return await self._call("POST", url, content, max_bytes)

    async def get(self, url: str, max_bytes: int) -> Received | Problem:
        """Read the JSON at an address, in the same way."""
        return await self._call("GET", url, None, max_bytes)

    async def _call(
        self, method: str, url: str, content: bytes | None, max_bytes: int
    ) -> Received | Problem:
        import httpx2

        begun: list[httpx2.Response] = []
        try:
            # httpx2 bounds each single read: a server that trickles would hold us for ever
            async with (
                asyncio.timeout(self.timeout),
                self.client.stream(method, url, content=content) as response,
            ):
                begun.append(response)
                if not response.is_success:
                    return await self._refused(response)
                return Received(_parse(await _read(response, max_bytes)), response.headers)
        except httpx2.ConnectTimeout:
            return Problem("no connection in time", is_unreachable=True)
        except (TimeoutError, httpx2.TimeoutException):
            return Problem("no answer in time")
        except _TooLong:
            return Problem(f"the answer is longer than {max_bytes:,} bytes", is_passing=False)
        except _Unreadable as exc:
            return Problem(str(exc))
        except (httpx2.HTTPError, OSError) as exc:
            return _broken(exc, has_begun=bool(begun))

    async def _refused(self, response: "httpx2.Response") -> Problem:
        code = response.status_code
        return Problem(
            f"HTTP {code}{await self._complaint(response)}",
            code,
            code in RETRIED or code >= 500,
            retry_after(response.headers.get("Retry-After"), time.time()),
        )

    async def _complaint(self, response: "httpx2.Response") -> str:
        """What the server says about it, in one short line."""
        import httpx2

        try:
            text = _message(await _read(response, MAX_COMPLAINT))
        except _TooLong:  # its end is missing, and there half a key may stand
            return ": (a message too long to show)"
        except (httpx2.HTTPError, OSError, _Unreadable):
            return ""
        # first without the key, then short: a cut must not leave half of it
        line = " ".join(self.redact(text).split())[:SHOWN]
        return f": {line}" if line else ""


@asynccontextmanager
async def open_session(connecting: Connecting, redact: Redact) -> AsyncIterator[Session]:
    """A pool of connections, as many as are used at once; proxies come from the environment."""
    import httpx2

    host = urlsplit(connecting.base_url).hostname or ""
    spelled = f"[{host}]" if ":" in host else host
    try:
        client = httpx2.AsyncClient(
            headers={"Accept-Encoding": ENCODINGS, **connecting.headers},
            # a cookie would let the server tell which requests belong together
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
            verify=make_context(connecting.ca_bundle) if connecting.ca_bundle else True,
            timeout=httpx2.Timeout(connecting.timeout, connect=connecting.connect_timeout),
            limits=httpx2.Limits(
                max_connections=connecting.connections,
                max_keepalive_connections=connecting.connections,
            ),
            follow_redirects=False,
            # what is for this machine goes to no proxy, as in Go: it would get the key
            mounts={f"all://{spelled}": None} if is_this_machine(host) else None,
        )
    except ImportError as exc:
        raise ModelError(
            "a SOCKS proxy is set in the environment; it needs: pip install 'httpx2[socks]'"
        ) from exc
    except (ValueError, httpx2.InvalidURL):  # from None: a proxy's address may hold a password
        raise ModelError(
            "the proxy in HTTP_PROXY, HTTPS_PROXY or ALL_PROXY is not understood; "
            "expected http://HOST:PORT"
        ) from None
    except OSError as exc:
        raise ModelError(
            "the certificates that SSL_CERT_FILE or SSL_CERT_DIR names cannot be read"
        ) from exc
    async with client:
        yield Session(client, connecting.timeout, redact)


def make_context(ca_bundle: str) -> ssl.SSLContext:
    """TLS that trusts the authorities in this file, and no other."""
    try:
        return ssl.create_default_context(cafile=ca_bundle)
    except OSError as exc:  # ssl.SSLError is one
        reason = "holds no certificates" if isinstance(exc, ssl.SSLError) else exc.strerror
        raise UsageError(f"ca_bundle: {ca_bundle}: {reason}; name a file in PEM format") from exc


def is_this_machine(host: str) -> bool:
    """`127.0.0.1`, `::1`, `localhost`: what is sent there does not leave the machine."""
    from ipaddress import ip_address

    try:
        return ip_address(host).is_loopback
    except ValueError:
        name = host.lower().rstrip(".")
        return name == "localhost" or name.endswith(".localhost")


def retry_after(value: str | None, now: float) -> float | None:
    """Seconds to wait: `"120"`, or a date as HTTP writes them; None for anything else."""
    if value is None:
        return None
    if value.strip().isdecimal():
        return float(value)
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - now)
    except (ValueError, OverflowError):
        return None


class _TooLong(Exception):
    """More was sent than any answer to this request can hold."""


class _Unreadable(Exception):
    """The bytes came, but they are not what was asked for; the message says what they are."""


async def _read(response: "httpx2.Response", max_bytes: int) -> bytes:
    """The body, unpacked; neither what is sent nor what comes out of it may be longer."""
    # not aiter_bytes: it hands over nothing while a server sends bytes that unpack to nothing
    unpack = _unpacker(response.headers.get("Content-Encoding", "identity"))
    body, sent = bytearray(), 0
    async for piece in response.aiter_raw():
        sent += len(piece)
        try:
            body += unpack(piece, max_bytes + 1 - len(body))
        except zlib.error as exc:
            raise _Unreadable("the answer cannot be decompressed") from exc
        if max(sent, len(body)) > max_bytes:
            raise _TooLong
    return bytes(body)


def _unpacker(encoding: str) -> Callable[[bytes, int], bytes]:
    """A function of packed bytes and how many may come out; one packing, not one in another."""
    name = encoding.strip().lower()
    if name in ("", "identity"):
        return lambda piece, _limit: piece
    if name in ("gzip", "x-gzip", "deflate"):
        return zlib.decompressobj(zlib.MAX_WBITS | 32).decompress  # either header is recognised
    raise _Unreadable("the answer is packed in a way that was not asked for")


def _parse(body: bytes) -> Any:
    try:
        return json.loads(body)
    except ValueError as exc:
        raise _Unreadable("the answer is not JSON") from exc
    except RecursionError as exc:
        raise _Unreadable("the answer is JSON that is nested too deeply") from exc


def _message(body: bytes) -> str:
    """`{"error": {"message": "wrong key"}} -> "wrong key"`; else the body as it is."""
    try:
        said = _parse(body)
    except _Unreadable:
        said = None
    for name in ("error", "message"):
        said = said.get(name, said) if isinstance(said, dict) else said
    return said if isinstance(said, str) else body.decode("utf-8", "replace")


def _broken(exc: Exception, *, has_begun: bool) -> Problem:
    """A call that ended without an answer, in a sentence that holds nothing of a stranger's."""
    causes = list(_causes(exc))
    if any(isinstance(each, ssl.SSLCertVerificationError) for each in causes):
        return Problem(
            "the server's certificate is not trusted; see ca_bundle",
            is_passing=False,
            is_unreachable=True,
        )
    if any(isinstance(each, ssl.SSLError) for each in causes):
        return Problem("no secure connection (TLS) could be made", is_unreachable=True)
    if any(isinstance(each, gaierror) for each in causes):
        return Problem("the host's name is not known", is_unreachable=True)
    if any(isinstance(each, ConnectionRefusedError) for each in causes):
        return Problem("connection refused", is_unreachable=True)
    import httpx2

    if isinstance(exc, httpx2.ProxyError):
        return Problem("the proxy refuses to connect", is_unreachable=True)
    if isinstance(exc, httpx2.ConnectError):
        return Problem("no connection could be made", is_unreachable=True)
    if isinstance(exc, httpx2.ProtocolError) and not _is_closed_early(exc):
        return Problem("the answer is not HTTP")
    if has_begun:
        return Problem("the connection was closed in the middle of the answer")
    return Problem("connection closed without an answer")


def _is_closed_early(exc: Exception) -> bool:
    # the same class for what is no HTTP at all: only the words tell
    return any(word in str(exc) for word in ("disconnected", "closed connection"))


def _causes(exc: BaseException | None) -> Iterator[BaseException]:
    """The exception, what it came from, and the members of groups on the way."""
    while exc is not None:
        yield exc
        if isinstance(exc, BaseExceptionGroup):
            for member in exc.exceptions:
                yield from _causes(member)
        exc = exc.__cause__ or exc.__context__
