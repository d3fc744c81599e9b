"""Two sides of a snippet, line by line, with the names of a mark at their exact places."""

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Literal, Protocol

Role = Literal["prefix", "suffix", "trigger", "target"]


class Span(Protocol):
    """A name's place in a text, in characters."""

    @property
    def start(self) -> int:
        """The first character."""
        ...

    @property
    def end(self) -> int:
        """Just after the last one."""
        ...

    @property
    def role(self) -> Role:
        """What the name is to the mark."""
        ...


class Side(Protocol):
    """The code before or after, and the names in it."""

    @property
    def code(self) -> str:
        """The whole text."""
        ...

    @property
    def spans(self) -> Sequence[Span]:
        """In ascending order, without overlaps."""
        ...


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a line; with a role it is a name of the mark."""

    text: str
    role: Role | None = None


@dataclass(frozen=True, slots=True)
class Line:
    """One line of one side; numbers count from 1."""

    number: int
    pieces: tuple[Piece, ...]

    @property
    def text(self) -> str:
        """The line without its roles."""
        return "".join(piece.text for piece in self.pieces)

    @property
    def has_names(self) -> bool:
        """Whether a name of the mark stands in it."""
        return any(piece.role for piece in self.pieces)


@dataclass(frozen=True, slots=True)
class Row:
    """A line before beside the line that it became."""

    before: Line | None
    after: Line | None
    is_changed: bool

    @property
    def has_names(self) -> bool:
        """Whether a name of the mark stands on either side."""
        return any(line is not None and line.has_names for line in (self.before, self.after))


@dataclass(frozen=True, slots=True)
class Hunk:
    """Neighbouring rows, after `skipped` rows that are not shown."""

    skipped: int
    rows: tuple[Row, ...]


def diff(before: Side, after: Side) -> list[Row]:
    """All lines of both sides, paired."""
    left, right = list(_lines(before)), list(_lines(after))
    old, new = [line.text for line in left], [line.text for line in right]
    if len(old) == len(new):  # renames leave the lines where they are
        return [Row(a, b, a.text != b.text) for a, b in zip(left, right, strict=True)]
    rows: list[Row] = []
    for kind, a, b, c, d in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        rows += (Row(x, y, kind != "equal") for x, y in zip_longest(left[a:b], right[c:d]))
    return rows


def hunks(rows: Sequence[Row], *, context: int, changed_only: bool = False) -> list[Hunk]:
    """The rows worth looking at with some around them; the first row says which function it is."""
    wanted = {0} if rows else set()
    for place, row in enumerate(rows):
        if row.is_changed or (row.has_names and not changed_only):
            wanted.update(range(max(0, place - context), min(len(rows), place + context + 1)))
    found: list[Hunk] = []
    end = 0
    for place in sorted(wanted):
        if place < end:
            continue
        start = place
        end = place + 1
        while end in wanted:
            end += 1
        skipped = start - (0 if not found else _end_of(found))
        found.append(Hunk(skipped, tuple(rows[start:end])))
    return found


def _end_of(found: Sequence[Hunk]) -> int:
    return sum(hunk.skipped + len(hunk.rows) for hunk in found)


# Code is a stranger's: what would move the cursor of a terminal, turn the direction of the text
# around, or not be seen at all, is shown as a sign of its own. One character for one, so that
# offsets stay.
INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0"
    "\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)


def make_visible(text: str) -> str:
    """`"\\x1b[2J" -> "\\u241b[2J"`; a tab and a line feed stay."""
    return INVISIBLE.sub(_sign, text)


def _sign(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else "\ufffd"


def _lines(side: Side) -> Iterator[Line]:
    code = make_visible(side.code.replace("\r\n", " \n"))
    spans = iter(side.spans)
    span = next(spans, None)
    start = 0
    # not splitlines(): a form feed is no line break to a compiler
    for number, text in enumerate(code.split("\n"), start=1):
        end = start + len(text)
        pieces: list[Piece] = []
        at = start
        while span is not None and span.end <= end:
            pieces += (Piece(code[at : span.start]), Piece(code[span.start : span.end], span.role))
            at = span.end
            span = next(spans, None)
        pieces.append(Piece(code[at:end].rstrip()))
        yield Line(number, tuple(piece for piece in pieces if piece.text))
        start = end + 1
