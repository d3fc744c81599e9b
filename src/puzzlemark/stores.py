"""Places beside the disk: `s3://bucket/key`, and whatever else fsspec can reach.

A `Url` offers what datasets need of a `Path`, under the same names. `Location` is either of them,
and `locate` tells which one a user meant. What the libraries below raise becomes one sentence, and
nothing that opens a door stands in it: see docs/object-stores.md.
"""

import hashlib
import io
import os
import re
import secrets
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any, TypeAlias, TypeVar
from urllib.parse import unquote

from puzzlemark.errors import CorpusError, UsageError

Done = TypeVar("Done")

# what one store is called, and the extra that reaches it
_FAMILIES = {"s3a": "s3", "s3n": "s3", "gcs": "gs", "az": "abfs", "abfss": "abfs", "https": "http"}
_EXTRAS = {"s3": "s3", "gs": "gcs", "hf": "hub"}
_PACKAGES = {"memory": "fsspec", "http": "aiohttp", "abfs": "adlfs", "sftp": "paramiko"}
# an object appears when all of it has come; other stores show it while it is written
_APPEARS_WHOLE = frozenset({"s3", "gs", "hf", "abfs"})
PART, PARTS, PARTS_AT_ONCE = 16 << 20, 10_000, 4  # of an upload to S3, which takes no more parts
_AT_ONCE = 16  # requests: to move or remove an object takes one of them, and mostly waits
_BLOCK = 8 << 20  # bytes of one request while a file is read from its beginning to its end

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://(.*)", re.DOTALL)
_CHAINED = re.compile(r"[A-Za-z][\w+.-]*(?:::|://.*::\w+://)", re.DOTALL)
_MAGIC = re.compile(r"[*?[]")


@dataclass(frozen=True, slots=True)
class Url:
    """An object, or all objects below a prefix; spelled without what only its owner may know."""

    scheme: str
    rest: str  # bucket and key, without a slash at the end
    query: str = field(default="", repr=False)  # may be a signature: never shown

    def __str__(self) -> str:
        return f"{self.scheme}://{self.rest}{_hidden(self.query)}"

    def __truediv__(self, name: str) -> "Url":
        return replace(self, rest=f"{self.rest}/{name}")

    @property
    def family(self) -> str:
        """What kind of store it is, however it was spelled: `s3a -> s3`."""
        return _FAMILIES.get(self.scheme.lower(), self.scheme.lower())

    @property
    def name(self) -> str:
        """The last part: `s3://b/a/x.jsonl -> x.jsonl`."""
        return self.rest.rpartition("/")[2]

    @property
    def suffix(self) -> str:
        """The ending of its name, as of a `Path`."""
        return PurePosixPath(self.name).suffix

    @property
    def parent(self) -> "Url":
        """What its name stands in: `s3://b/a/x.jsonl -> s3://b/a`; a bucket stands in itself."""
        return replace(self, rest=self.rest.rpartition("/")[0] or self.rest, query="")

    @property
    def parts(self) -> tuple[str, ...]:
        """`s3://b/a/x -> ("b", "a", "x")`."""
        return tuple(self.rest.split("/"))

    def with_name(self, name: str) -> "Url":
        """The same beside it: `s3://b/a/x -> s3://b/a/y`."""
        return self.parent / name

    def with_suffix(self, suffix: str) -> "Url":
        """The same with another ending: `s3://b/x.parquet -> s3://b/x.svg`."""
        return self.with_name(self.name.removesuffix(self.suffix) + suffix)

    @property
    def canonical(self) -> PurePosixPath:
        """One spelling for all of a place, only to be compared: never to be opened.

        `S3A://b/a%20b -> s3:/b/a b`. Too much may look alike here, never too little.
        """
        names = (unquote(part) for part in self.parts)
        if self.family == "hf":  # the branch of a repository may stand in its name
            names = (name.partition("@")[0] for name in names)
        return PurePosixPath(f"{self.family}:", *names)

    @property
    def is_shared(self) -> bool:
        """Whether other processes see the same objects."""
        return self.family != "memory"

    @property
    def takes_several(self) -> bool:
        """Whether it may be changed by several at once; on the hub each change is a commit."""
        return self.family != "hf"

    @property
    def is_writable(self) -> bool:
        """Whether it can be an output at all."""
        return self.family != "http"

    def exists(self) -> bool:
        """Whether there is an object, or any below it."""
        return self._kind() is not None

    def is_file(self) -> bool:
        """Whether it is an object."""
        return self._kind() == "file"

    def is_dir(self) -> bool:
        """Whether there are objects below it."""
        return self._kind() == "directory"

    def _kind(self) -> str | None:
        def look(system: Any, path: str) -> str | None:
            try:
                return str(system.info(path)["type"])
            except FileNotFoundError as exc:
                if _is_about_bucket(exc):
                    raise
                return None

        return self._asked(look)

    def find(self) -> dict[str, "Stamp"]:
        """All objects below it, by their names below it, in order."""
        listed = self._asked(lambda system, path: (system.find(path, detail=True), path))
        return dict(sorted(self._below(*listed)))

    def glob(self) -> list[str]:
        """The names, below the fixed part of a pattern, of all objects that fit to it."""
        root = self.fixed_part()
        _, path = root._system()
        found = self._asked(lambda system, pattern: system.glob(pattern, detail=True))
        return sorted(name for name, _ in root._below(found, path))

    def has_magic(self) -> bool:
        """Whether it is a pattern rather than a name."""
        return _MAGIC.search(self.rest) is not None

    def fixed_part(self) -> "Url":
        """What stands before the first pattern: `s3://b/a/*.jsonl -> s3://b/a`."""
        parts = list(self.parts)
        magic = next(at for at, part in enumerate(parts) if _MAGIC.search(part))
        if magic == 0:
            raise UsageError(f"{self}: a pattern for buckets; name the bucket")
        return replace(self, rest="/".join(parts[:magic]))

    def stamp(self) -> "Stamp":
        """Its size, and what tells it from what it was before."""
        found = self._asked(lambda system, path: system.info(path))
        return Stamp.of(found)

    def open(self) -> io.BufferedReader:
        """Its content, to be read from any place."""
        opened = self._asked(lambda system, path: system.open(path, "rb", block_size=_BLOCK))
        return io.BufferedReader(_Reader(self, opened), 1 << 20)

    def read_bytes(self) -> bytes:
        """Its whole content."""
        found: bytes = self._asked(lambda system, path: system.cat_file(path))
        return found

    def write_bytes(self, content: bytes) -> None:
        """Make it of these bytes."""
        self._changed(lambda system, path: system.pipe_file(path, content))

    def fetch(self, target: Path) -> None:
        """Copy it to a local file, which gets its time, where the store tells one."""

        def get(system: Any, path: str) -> float | None:
            system.get_file(path, str(target))
            try:
                return float(system.modified(path).timestamp())
            except NotImplementedError:
                return None

        time = self._asked(get)
        if time is not None:
            os.utime(target, (time, time))

    def put(self, source: Path) -> None:
        """Make it of a local file: in parts, where it is large and the store takes parts."""
        options: dict[str, int] = {}
        if self.family == "s3":
            size = max(PART, -(-source.stat().st_size // PARTS))
            options = {"chunksize": size, "max_concurrency": PARTS_AT_ONCE}
        self._changed(lambda system, path: system.put_file(str(source), path, **options))

    def put_whole(self, source: Path, attempts: "Url") -> None:
        """The same where others may look: it is not there before all of it is."""
        if self.family in _APPEARS_WHOLE:
            self.put(source)
            return
        place = attempts / secrets.token_hex(8)
        place.put(source)
        place.move(self)

    def move(self, target: "Url") -> None:
        """Give it another name in the same store, which need not be free."""
        _, end = target._system()

        def rename(system: Any, path: str) -> None:
            from fsspec import AbstractFileSystem

            # gcsfs would take the names of both for patterns
            if self.family == "gs" or type(system).mv is AbstractFileSystem.mv:
                system.cp_file(path, end)  # by the store itself
                system.rm_file(path)
            else:
                system.mv(path, end)

        self._changed(rename)

    def unlink(self, *, missing_ok: bool = False) -> None:
        """Remove the object."""

        def remove(system: Any, path: str) -> None:
            try:
                system.rm_file(path)
            except (FileNotFoundError, KeyError):
                if not missing_ok:
                    raise

        self._changed(remove)

    def clear(self) -> None:
        """Remove all objects below it, and uploads to them that were never completed."""
        names = self.find() if self.is_dir() else {}
        at_once([partial((self / name).unlink, missing_ok=True) for name in names], self)
        self.abort_uploads()

    def abort_uploads(self) -> None:
        """Give up what was begun here and below: a store keeps the parts, and charges for them."""
        if self.family != "s3":
            return

        def abort(system: Any, path: str) -> None:
            bucket, key, _ = system.split_path(path)
            listed = system.call_s3("list_multipart_uploads", Bucket=bucket, Prefix=key)
            for each in listed.get("Uploads", ()):
                if each["Key"] == key or each["Key"].startswith(f"{key}/"):
                    named = {"Bucket": bucket, "Key": each["Key"], "UploadId": each["UploadId"]}
                    system.call_s3("abort_multipart_upload", **named)

        try:
            self._changed(abort)
        except Denied:  # to list uploads is a permission of its own, and nothing depends on it
            return

    def _below(self, listed: Mapping[str, Any], path: str) -> Iterator[tuple[str, "Stamp"]]:
        for name, facts in listed.items():
            if facts.get("type") == "file" and not name.endswith("/"):
                inside = name.lstrip("/").removeprefix(path.lstrip("/"))
                if inside.startswith("/"):  # else the object itself, beside those below it
                    yield inside[1:], Stamp.of(facts)

    def _asked(self, ask: Callable[[Any, str], Done]) -> Done:
        """What the store answers, as it is now: it may have been written from elsewhere."""
        system, path = self._system()
        with telling(self):
            system.invalidate_cache()
            return ask(system, path)

    def _changed(self, change: Callable[[Any, str], object]) -> None:
        system, path = self._system()
        with telling(self):
            change(system, path)
            system.invalidate_cache()

    def _system(self) -> tuple[Any, str]:
        """The file system of fsspec, of this process, and the path in it."""
        extra = _EXTRAS.get(self.family)
        package = f"'puzzlemark[{extra}]'" if extra else _PACKAGES.get(self.family, "fsspec")
        try:
            import fsspec
        except ImportError as exc:
            raise UsageError(f"{self}: needs fsspec; install it: pip install {package}") from exc
        query = f"?{self.query}" if self.query else ""
        try:
            with telling(self):
                system, path = fsspec.core.url_to_fs(f"{self.scheme.lower()}://{self.rest}{query}")
        except ImportError as exc:
            raise UsageError(
                f"{self}: a package for {self.scheme}:// is missing; install it: "
                f"pip install {package}"
            ) from exc
        return system, str(path)


Location: TypeAlias = Path | Url


@dataclass(frozen=True, slots=True)
class Stamp:
    """By what a changed object is told without reading it."""

    size: int
    version: str

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> "Stamp":
        """From what fsspec says of an object; each store has names of its own."""
        names = "ETag etag md5Hash blob_id LastModified mtime updated created".split()
        version = next((facts[name] for name in names if facts.get(name) is not None), "")
        return cls(int(facts.get("size") or 0), str(version).strip('"'))


class Denied(CorpusError):
    """A store does not allow it."""


def locate(name: "str | Path | Url") -> Location:
    """Where a user means: `locate("s3://b/x") -> Url("s3", "b/x")`, `locate("x") -> Path("x")`.

    Raises for what is neither, and for a URL that holds what must not be in one.
    """
    if isinstance(name, Url):
        return name
    if isinstance(name, Path):
        if _is_lost(name):
            raise UsageError(
                f"{name}: this is kept on this machine, so name a local path; from Python, pass a "
                "URL as text"
            )
        return name
    if _CHAINED.match(name):
        chained = re.sub(r"//[^/]*@", "//...@", name).partition("?")[0]
        raise UsageError(f"{chained}: one URL inside another is not read; name the inner one")
    found = _SCHEME.fullmatch(name)
    if found is None:
        return Path(name)
    if found[1].lower() in ("file", "local"):
        return _local_path(name, found[2])
    return _url(found[1], found[2])


def locate_output(name: "str | Path | Url") -> Location:
    """The same for a place that is written to."""
    found = locate(name)
    if isinstance(found, Url):
        if not found.is_writable:
            raise UsageError(f"{found}: cannot be written to; choose another --output")
        if found.has_magic():
            raise UsageError(f"{found}: *, ? and [ are for patterns; choose another --output")
        if len(found.parts) < 2:
            raise UsageError(f"{found}: a bucket alone; name something in it")
    elif not found.name:
        raise UsageError(f"{found}: no output can take its place; name a file or folder in it")
    return found


def local_path(name: "str | Path | Url", what: str) -> Path:
    """A path on this machine: `local_path("s3://b/m.gz", "the manifest")` raises."""
    found = Path(name) if isinstance(name, Path) else locate(name)
    if isinstance(found, Url) or _is_lost(found):
        raise UsageError(f"{found}: {what} is kept on this machine; name a local path")
    return found


def local_place(location: Location) -> Path:
    """Where on this machine the things belong that stand beside an output.

    That is its own path; for a URL one in a folder of the user's cache, named after its digest.
    """
    if isinstance(location, Path):
        return location.absolute()
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    digest = hashlib.sha256(str(location.canonical).encode()).hexdigest()[:16]
    return Path(base, "puzzlemark", "outputs", f"{location.name}-{digest}").absolute()


def size_of(location: Location) -> int:
    """How many bytes a file has."""
    return location.stat().st_size if isinstance(location, Path) else location.stamp().size


def stamp_of(location: Location) -> list[int | str]:
    """Size and time of a file, or what a store has in the place of a time."""
    if isinstance(location, Path):
        found = location.stat()
        return [found.st_size, found.st_mtime_ns]
    stamp = location.stamp()
    return [stamp.size, stamp.version]


@contextmanager
def opened(location: Location) -> Iterator[io.BufferedReader]:
    """A file to read, wherever it is."""
    with location.open("rb") if isinstance(location, Path) else location.open() as stream:
        yield stream


@contextmanager
def fetched(location: Location) -> Iterator[Path]:
    """A file on this machine with the same content; one of a store goes in the end."""
    if isinstance(location, Path):
        yield location
        return
    with tempfile.TemporaryDirectory(prefix="puzzlemark-") as folder:
        place = Path(folder, location.name)
        location.fetch(place)
        yield place


def at_once(calls: Sequence[Callable[[], object]], store: Url) -> None:
    """Make all of these calls to a store, several at a time; the first failure is raised."""
    if not (store.is_shared and store.takes_several) or len(calls) < 2:
        for call in calls:
            call()
        return
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        for each in [threads.submit(call) for call in calls]:
            each.result()


def _url(scheme: str, rest: str) -> Url:
    query = ""
    is_web = scheme.lower() in ("http", "https")
    if is_web:
        rest, _, query = rest.partition("#")[0].partition("?")
    authority, _, key = rest.partition("/")
    shown = f"{scheme}://{_without_user(authority)}{f'/{key}' if key else ''}{_hidden(query)}"
    user, at, _ = authority.rpartition("@")
    if at and (":" in user or scheme.lower() in ("s3", "s3a", "s3n", "gs", "gcs", "hf")):
        raise UsageError(
            f"{shown}: keys and passwords do not belong in a URL, where histories and logs keep "
            "them; leave them to the store's own settings, such as AWS_PROFILE"
        )
    rest = rest.rstrip("/")
    if not authority or not rest:
        raise UsageError(f"{shown}: names no bucket; spell it {scheme}://BUCKET/NAME")
    if not is_web and {"", ".", ".."} & set(rest.split("/")):
        raise UsageError(
            f"{shown}: an empty name, . or .. between two slashes is not read; spell it without"
        )
    return Url(scheme, rest, query)


def _local_path(name: str, rest: str) -> Path:
    host, slash, path = rest.partition("/")
    if not slash or host not in ("", "localhost"):
        raise UsageError(f"{name}: spell a file of this machine file:///PATH, or as its path")
    return Path(unquote(f"/{path}"))


def _is_lost(path: Path) -> bool:
    """`Path("s3://b/x")` is `s3:/b/x`: a folder called `s3:`, which nobody means."""
    first = path.parts[0] if path.parts else ""
    is_scheme = re.fullmatch(r"[A-Za-z][A-Za-z0-9+.-]+:", first) is not None
    return is_scheme and len(path.parts) > 1 and not Path(first).exists()


def _without_user(authority: str) -> str:
    _, at, host = authority.rpartition("@")
    return f"...@{host}" if at else authority


def _hidden(query: str) -> str:
    """`X-Amz-Expires=60&X-Amz-Signature=f00 -> ?X-Amz-Expires=...&X-Amz-Signature=...`."""
    if not query:
        return ""
    names = (each.partition("=")[0] for each in query.split("&"))
    return "?" + "&".join(f"{name}=..." for name in names)


class _Reader(io.RawIOBase):
    """A file of fsspec whose failures are told as ours."""

    def __init__(self, url: Url, inner: Any) -> None:
        self._url, self._inner = url, inner

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return bool(self._inner.seekable())

    def readinto(self, buffer: Any, /) -> int:
        with telling(self._url):
            found = self._inner.read(len(buffer))
        buffer[: len(found)] = found
        return len(found)

    def seek(self, offset: int, whence: int = 0, /) -> int:
        with telling(self._url):
            return int(self._inner.seek(offset, whence))

    def tell(self) -> int:
        return int(self._inner.tell())

    def close(self) -> None:
        if not self.closed:
            self._inner.close()
        super().close()


@contextmanager
def telling(url: Url) -> Iterator[None]:
    """Make one sentence of whatever a library raises while it reaches a store."""
    try:
        yield
    except (CorpusError, UsageError, ImportError, MemoryError):
        raise
    except Exception as exc:  # each store has exceptions of its own, with no class in common
        error = Denied if isinstance(exc, PermissionError) else CorpusError
        # a message of a library may spell a signed address: no chain, where there is one
        raise error(f"{url}: {_explain(url, exc)}") from (None if url.query else exc)


_REASONS = (
    ("NoCredential|PartialCredential|DefaultCredentials|LocalTokenNotFound",
     "no credentials were found; give them as the store's own tools want them (AWS_PROFILE, ...)"),
    ("InvalidAccessKeyId|SignatureDoesNotMatch|InvalidToken|ExpiredToken|status 401",
     "the credentials are not accepted; check them"),
    ("PermissionError|AccessDenied|status 403",
     "access denied; check the credentials, and what they allow"),
    ("EndpointConnection|ConnectionRefused|ClientConnector|ConnectError|gaierror",
     "the store cannot be reached; check the address and the network"),
    ("EntryNotFound|status 404", "no such object or folder; check the URL"),
    ("Timeout", "the store did not answer in time; try again"),
    ("FileExpired", "was changed while it was read; begin again"),
)  # fmt: skip


def _is_about_bucket(exc: BaseException) -> bool:
    return "NoSuchBucket" in _words(exc) or "RepositoryNotFound" in _words(exc)


def _explain(url: Url, exc: BaseException) -> str:
    if isinstance(exc, FileNotFoundError):
        what = "bucket" if _is_about_bucket(exc) else "object or folder"
        return f"no such {what}; check the URL"
    if isinstance(exc, ValueError) and "Protocol not known" in str(exc):
        return "no kind of store has this name; check what stands before ://"
    words = _words(exc)
    for pattern, sentence in _REASONS:
        if re.search(pattern, words):
            return sentence
    said = _scrubbed(url, next(iter(str(exc).splitlines()), ""))
    return f"the store failed ({type(exc).__name__}{f': {said}' if said else ''}); try again"


def _words(exc: BaseException | None) -> str:
    """The kinds and codes of an exception and those that led to it; a message may say anything."""
    words: list[str] = []
    while exc is not None and len(words) < 64:
        words += [kind.__name__ for kind in type(exc).__mro__ if kind is not object]
        response = getattr(exc, "response", None)
        if isinstance(response, Mapping):
            words.append(str(response.get("Error", {}).get("Code")))
        status = getattr(exc, "status", None) or getattr(response, "status_code", None)
        words.append(f"status {status}")
        exc = exc.__cause__ or exc.__context__
    return " ".join(words)


def _scrubbed(url: Url, text: str) -> str:
    """Without what could open a door: signatures, users in addresses, values of secrets."""
    if url.query:
        text = text.replace(url.query, "...")
    text = re.sub(r"(\w+://[^\s'\"?]*)\?[^\s'\"]*", r"\1?...", text)
    text = re.sub(r"://[^/\s'\"@]*@", "://...@", text)
    named = r"(?i)([\w-]*(?:secret|token|signature|password|credential|access.?key)[\w-]*)"
    text = re.sub(named + r"(['\"]?\s*[=:]\s*)\S+", r"\1\2...", text)
    for name, value in os.environ.items():
        if len(value) > 7 and re.search("SECRET|TOKEN|PASSWORD|ACCESS_KEY", name):
            text = text.replace(value, "...")
    return text[:200]
