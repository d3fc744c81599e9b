"""Edits inside a line of JSON that leave every other byte of it as it was spelled."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TypeAlias

from puzzlemark.errors import EditMismatch
from puzzlemark.snippet import Edit, in_order

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
