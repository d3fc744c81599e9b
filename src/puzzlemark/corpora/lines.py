"""Files of JSON lines: read and written in blocks, plain or gzip, and edited inside a line.

An edit leaves every other byte of its line as it was spelled.
"""

import bz2
import gzip
import io
import json
import lzma
import re
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import IO, Any, Protocol, TypeAlias

from isal import igzip_threaded, isal_zlib

from puzzlemark.errors import CorpusError, EditMismatch
from puzzlemark.snippet import Edit, in_order
from puzzlemark.stores import Location

BLOCK_BYTES = 1 << 20
LONGEST_LINE = 64 << 20  # a longer line is no record, and would be held in memory several times
# the stubs of isal declare its exception class as an exception
_DAMAGE: tuple[type[Exception], ...] = (EOFError, gzip.BadGzipFile, lzma.LZMAError, isal_zlib.error)  # type: ignore[assignment]
GZIP_LEVEL = 2  # level 3 takes four times as long and saves five percent
XZ_PRESET = 1
PACKINGS = {".gz": "gzip", ".zst": "Zstandard", ".xz": "xz", ".bz2": "bzip2"}

Span: TypeAlias = tuple[int, int]

_SPACE = re.compile(rb"[ \t\r\n]*")
_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_STRING_OR_BRACKET = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{}]', re.DOTALL)
# an array without arrays and objects in it: most lists of tokens, in one step
_FLAT_ARRAY = re.compile(
    rb'\[(?>[^\[\]{}"]*)(?>"[^"\\]*(?:\\.[^"\\]*)*"[^\[\]{}"]*)*+\]', re.DOTALL
)
_SCALAR = re.compile(rb"[^,\]}\s]+")
# a pair of surrogates is one character
_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)"
)
_SHORT = {'"': b'\\"', "\\": b"\\\\", "\n": b"\\n", "\r": b"\\r", "\t": b"\\t"}
_SHORT |= {"\b": b"\\b", "\f": b"\\f"}


class Sink(Protocol):
    """Where bytes go."""

    def write(self, data: bytes, /) -> object:
        """Take these bytes."""
        ...


def read_blocks(path: Location, start: int = 0, line: int = 1) -> Iterator[bytes]:
    """The file in pieces of about a megabyte, each of whole lines.

    From the byte `start` on, where `line` begins.
    """
    with reading(path) as stream:
        if start:
            stream.seek(start)
        yield from _whole_lines(stream, path, line)


def read_pieces(path: Location) -> Iterator[bytes]:
    """The file in pieces of about a megabyte, wherever lines end."""
    with reading(path) as stream:
        while piece := stream.read(BLOCK_BYTES):
            yield piece


@contextmanager
def reading(path: Location) -> Iterator[IO[bytes]]:
    """The content of a file, unpacked where its name says that it is packed."""
    packing = packing_of(path.name)
    try:
        with _open(path, packing) as stream:
            yield stream
    except _DAMAGE as exc:
        raise _damaged(path, packing, exc) from exc
    except OSError as exc:
        if packing is not None and exc.errno is None:  # what bzip2 and zstd raise
            raise _damaged(path, packing, exc) from exc
        raise CorpusError(f"{path}: {exc.strerror or exc}; check the file") from exc


def _damaged(path: Location, packing: str | None, exc: Exception) -> CorpusError:
    name = PACKINGS.get(packing or "", "file")
    return CorpusError(f"{path}: damaged or truncated {name} ({exc}); fetch it again")


@contextmanager
def write_blocks(path: Path, written: int = 0) -> Iterator[Sink]:
    """Write the file; its bytes depend on what is written only, not on the time or its name.

    The first `written` bytes of a plain file stay; only such a one can be gone on with.
    """
    packing = packing_of(path.name)
    assert packing is None or not written, "the state of a compressor is not kept"
    with path.open("r+b" if written else "wb") as stream:
        if packing is None:
            stream.seek(written)
            stream.truncate()
            yield stream
            return
        with ThreadPoolExecutor(1) as thread:
            packer = _Packed(stream, thread, _compressor(packing))
            yield packer
            packer.finish()


def packing_of(name: str) -> str | None:
    """How a file is packed, by how its name ends: `"a.jsonl.zst" -> ".zst"`."""
    ending = "." + name.lower().rpartition(".")[2]
    return ending if ending in PACKINGS else None


def _whole_lines(stream: IO[bytes], path: Location, line: int) -> Iterator[bytes]:
    pending: list[bytes] = []
    length = 0  # of the line that is pending
    while chunk := stream.read(BLOCK_BYTES):
        end = chunk.find(b"\n")
        if length + (len(chunk) if end < 0 else end) > LONGEST_LINE:
            raise CorpusError(
                f"{path}:{line}: a line of more than {LONGEST_LINE >> 20} MiB; "
                "split the record, or leave it out"
            )
        if end < 0:  # a line longer than a block
            pending.append(chunk)
            length += len(chunk)
            continue
        cut = chunk.rfind(b"\n") + 1
        block = b"".join((*pending, chunk[:cut]))
        line += block.count(b"\n")
        pending, length = [chunk[cut:]], len(chunk) - cut
        yield block
    if rest := b"".join(pending):
        yield rest


def _open(path: Location, packing: str | None) -> IO[bytes]:
    opened: IO[bytes]
    source = path if isinstance(path, Path) else path.open()
    if packing == ".gz":
        # unpacked in a thread of its own, a few blocks ahead
        opened = igzip_threaded.open(source, "rb", threads=1)  # type: ignore[no-untyped-call]
    elif packing == ".xz":
        opened = lzma.LZMAFile(source)  # noqa: SIM115 - whoever calls closes it
    elif packing == ".bz2":
        opened = bz2.BZ2File(source)
    elif packing == ".zst":
        import pyarrow as pa

        packed = pa.OSFile(str(path)) if isinstance(source, Path) else pa.PythonFile(source, "r")
        opened = pa.CompressedInputStream(packed, "zstd")
    else:
        opened = source.open("rb") if isinstance(source, Path) else source
    return opened


class _Compressor(Protocol):
    def compress(self, data: bytes, /) -> bytes: ...

    def flush(self) -> bytes: ...


def _compressor(packing: str) -> _Compressor:
    """Fast settings: the level of a file is not told by its bytes, and cannot be kept."""
    made: _Compressor
    if packing == ".gz":
        made = isal_zlib.compressobj(GZIP_LEVEL, isal_zlib.DEFLATED, 31)
    elif packing == ".xz":
        made = lzma.LZMACompressor(preset=XZ_PRESET)
    elif packing == ".bz2":
        made = bz2.BZ2Compressor()
    else:
        made = _Zstd()
    return made


class _Zstd(io.RawIOBase):
    """Zstandard by Arrow, which writes to a file: this is the file, and empties it each time."""

    def __init__(self) -> None:
        import pyarrow as pa

        self._packed = bytearray()
        self._packer = pa.CompressedOutputStream(pa.PythonFile(self, "w"), "zstd")

    def writable(self) -> bool:
        return True

    def write(self, data: Any, /) -> int:
        self._packed += data
        return len(data)

    def close(self) -> None:
        """Nothing: what was packed is still to be fetched."""

    def compress(self, data: bytes, /) -> bytes:
        """What is packed so far, and was not returned yet."""
        self._packer.write(data)
        return self._fetch()

    def flush(self) -> bytes:  # type: ignore[override]
        """The end."""
        if not self._packer.closed:
            self._packer.close()
        return self._fetch()

    def _fetch(self) -> bytes:
        packed = bytes(self._packed)
        self._packed.clear()
        return packed


class _Packed:
    """A file that is packed beside the caller; gzip without a time and a name in its header."""

    def __init__(self, stream: IO[bytes], thread: ThreadPoolExecutor, packer: _Compressor) -> None:
        self._stream, self._thread, self._packer = stream, thread, packer
        self._packing: Future[bytes] | None = None  # one block at a time, in order
        self._pending = bytearray()

    def write(self, data: bytes, /) -> None:
        # The packed bytes depend on the pieces that the packer is given. Pieces of one size are
        # the same whoever writes; the blocks of a dataset would show how much its marks added.
        self._pending += data
        at = 0
        while len(self._pending) - at >= BLOCK_BYTES:
            self._pack(bytes(self._pending[at : at + BLOCK_BYTES]))
            at += BLOCK_BYTES
        del self._pending[:at]

    def finish(self) -> None:
        self._pack(bytes(self._pending))
        self._wait()
        self._stream.write(self._packer.flush())

    def _pack(self, piece: bytes) -> None:
        self._wait()
        self._packing = self._thread.submit(self._packer.compress, piece)

    def _wait(self) -> None:
        if self._packing is not None:
            self._stream.write(self._packing.result())


def find_members(line: bytes, at: int = 0) -> dict[str, Span]:
    """Where the values of a valid JSON object stand; of a repeated key the last, as in parsers."""
    spans: dict[str, Span] = {}
    at = _skip_space(line, _skip_space(line, at) + 1)
    while line[at] != ord("}"):
        key = _STRING.match(line, at)
        assert key is not None
        start = _skip_space(line, _skip_space(line, key.end()) + 1)  # past the colon
        end = _value_end(line, start)
        name = key.group()
        spans[json.loads(name) if b"\\" in name else name[1:-1].decode()] = (start, end)
        at = _skip_space(line, end)
        if line[at] == ord(","):
            at = _skip_space(line, at + 1)
    return spans


def find_inside(line: bytes, at: int, path: Sequence[str | int]) -> Span:
    """Where the value at a path stands: `find_inside(b'{"a": [7]}', 0, ("a", 0)) -> (7, 8)`."""
    span = (at, at)
    for key in path:
        start = span[0]
        if isinstance(key, str):
            span = find_members(line, start)[key]
        else:
            span = _find_item(line, start, key)
    return span


def _find_item(line: bytes, at: int, nth: int) -> Span:
    """Where an item of the array that begins at `at` stands."""
    start = _skip_space(line, at + 1)
    for _ in range(nth):
        start = _skip_space(line, _skip_space(line, _value_end(line, start)) + 1)  # past the comma
    return start, _value_end(line, start)


def find_strings(line: bytes, array: Span) -> list[Span]:
    """Where the items of a JSON array of strings stand."""
    return [match.span() for match in _STRING.finditer(line, *array)]


def edit_literal(literal: bytes, edits: Iterable[Edit], spelling: "Spelling") -> bytes:
    """A JSON string literal after edits of the UTF-8 text that it spells."""
    ordered = in_order(edits)
    places = _locate(literal, [place for edit in ordered for place in (edit.start, edit.end)])
    pieces: list[bytes] = []
    at = 0
    for edit, start, end in zip(ordered, places[::2], places[1::2], strict=True):
        pieces += (literal[at:start], spelling.spell(edit.new.decode()))
        at = end
    return b"".join((*pieces, literal[at:]))


@dataclass(frozen=True, slots=True)
class Spelling:
    """How a writer of JSON spells characters inside strings, learnt from what it wrote."""

    seen: dict[str, bytes] = field(default_factory=dict)  # escapes met so far
    raw: bool | None = None  # whether non-ASCII stands as it is; None: none met yet
    upper: bool = False  # hexadecimal digits in upper case

    def learn(self, text: bytes) -> "Spelling":
        """The same, with the habits of this text over the older ones."""
        escapes = dict.fromkeys(_ESCAPE.findall(text))
        met = {json.loads(b'"%b"' % escape): escape for escape in escapes}
        plain = set(text.decode("utf-8", "replace"))
        seen = {
            char: escape
            for char, escape in (self.seen | met).items()
            if not (char in plain and not char.isascii()) and not char.isalnum() | (char == "_")
        }
        raw = not text.isascii() or (None if all(map(str.isascii, met)) else False)
        upper = self.upper or any(escape != escape.lower() for escape in escapes)
        return Spelling(seen, self.raw if raw is None else raw, upper)

    def spell(self, text: str) -> bytes:
        """The inside of a string literal: `"a\\n" -> b"a\\\\n"`."""
        if is_plain(text.encode("utf-8", "surrogatepass")):
            return text.encode()
        return b"".join(map(self._spell_character, text))

    def _spell_character(self, char: str) -> bytes:
        if char in self.seen:
            return self.seen[char]
        if char in _SHORT:
            return _SHORT[char]
        if char >= " " and (char.isascii() or self.raw):
            return char.encode()
        units = char.encode("utf-16-be", "surrogatepass").hex()
        digits = units.upper() if self.upper else units
        return b"".join(b"\\u" + digits[at : at + 4].encode() for at in range(0, len(digits), 4))


class Habits:
    """The spelling of a file, learnt from its beginning when it is first asked for."""

    def __init__(self, beginning: bytes) -> None:
        self._beginning = beginning
        self._spelling: Spelling | None = None

    @property
    def spelling(self) -> Spelling:
        """How the writer of the file spells characters."""
        if self._spelling is None:
            self._spelling, self._beginning = Spelling().learn(self._beginning), b""
        return self._spelling


def is_plain(text: bytes) -> bool:
    """Whether every writer spells a text alike: ASCII letters, digits and underscores."""
    return text.isascii() and text.replace(b"_", b"0").isalnum()


def _value_end(line: bytes, at: int) -> int:
    if line[at] not in b"[{":
        match = (_STRING if line[at] == ord('"') else _SCALAR).match(line, at)
        assert match is not None
        return match.end()
    if line[at] == ord("[") and (flat := _FLAT_ARRAY.match(line, at)) is not None:
        return flat.end()
    depth = 0
    for match in _STRING_OR_BRACKET.finditer(line, at):
        depth += {b"[": 1, b"{": 1, b"]": -1, b"}": -1}.get(match.group(), 0)
        if depth == 0:
            return match.end()
    raise AssertionError("the line was decoded before, so its brackets are balanced")


def _skip_space(line: bytes, at: int) -> int:
    match = _SPACE.match(line, at)
    assert match is not None
    return match.end()


def _locate(literal: bytes, offsets: Sequence[int]) -> list[int]:
    """Ascending byte offsets in the text, as offsets in its literal."""
    places: list[int] = []
    closing = [(len(literal) - 1, len(literal), 1)]
    text_at, literal_at = 0, 1  # after the opening quote
    for start, end, width in chain(_escapes(literal), closing):
        plain_end = text_at + start - literal_at
        while len(places) < len(offsets) and offsets[len(places)] <= plain_end:
            places.append(literal_at + offsets[len(places)] - text_at)
        if len(places) == len(offsets):
            return places
        if offsets[len(places)] < plain_end + width:
            break
        text_at, literal_at = plain_end + width, end
    raise EditMismatch(f"byte {offsets[len(places)]}: not the start of a character of this text")


def _escapes(literal: bytes) -> Iterator[tuple[int, int, int]]:
    """Each escape's start and end, and how many bytes of UTF-8 it stands for."""
    for match in _ESCAPE.finditer(literal):
        length = match.end() - match.start()
        if length == 2:
            width = 1
        elif length == 12:
            width = 4
        else:
            code = int(match.group()[-4:], 16)
            width = 1 if code < 0x80 else 2 if code < 0x800 else 3
        yield match.start(), match.end(), width
