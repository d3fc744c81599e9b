"""Files of JSON lines: read and written in blocks, plain or gzip, and edited inside a line.

An edit leaves every other byte of its line as it was spelled.
"""

import gzip
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import IO, Protocol, TypeAlias

from isal import igzip_threaded, isal_zlib

from puzzlemark.errors import CorpusError, EditMismatch
from puzzlemark.snippet import Edit, in_order

BLOCK_BYTES = 1 << 20
LONGEST_LINE = 64 << 20  # a longer line is no record, and would be held in memory several times
# the stubs of isal declare its exception class as an exception
_DAMAGE: tuple[type[Exception], ...] = (EOFError, gzip.BadGzipFile, isal_zlib.error)  # type: ignore[assignment]
GZIP_LEVEL = 2  # level 3 takes four times as long and saves five percent

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


def read_blocks(path: Path) -> Iterator[bytes]:
    """The file in pieces of about a megabyte, each of whole lines."""
    try:
        with _open(path) as stream:
            yield from _whole_lines(stream, path)
    except _DAMAGE as exc:
        raise CorpusError(f"{path}: damaged or truncated gzip ({exc}); fetch it again") from exc
    except OSError as exc:
        raise CorpusError(f"{path}: {exc.strerror or exc}; check the file") from exc


@contextmanager
def write_blocks(path: Path) -> Iterator[Sink]:
    """Write the file; its bytes depend on what is written only, not on the time or its name."""
    with path.open("wb") as stream:
        if not _is_gzip(path):
            yield stream
            return
        with ThreadPoolExecutor(1) as thread:
            packer = _Gzip(stream, thread)
            yield packer
            packer.finish()


def _whole_lines(stream: IO[bytes], path: Path) -> Iterator[bytes]:
    pending: list[bytes] = []
    line, length = 1, 0  # of the line that is pending
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


def _open(path: Path) -> IO[bytes]:
    if _is_gzip(path):
        # unpacked in a thread of its own, a few blocks ahead
        opened: IO[bytes] = igzip_threaded.open(path, "rb", threads=1)  # type: ignore[no-untyped-call]
        return opened
    return path.open("rb")


def _is_gzip(path: Path) -> bool:
    return path.suffix.lower() == ".gz"


class _Gzip:
    """A gzip member without a time and a file name in its header, packed beside the caller."""

    def __init__(self, stream: IO[bytes], thread: ThreadPoolExecutor) -> None:
        self._stream, self._thread = stream, thread
        self._packer = isal_zlib.compressobj(GZIP_LEVEL, isal_zlib.DEFLATED, 31)
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
