"""A prompt and what a model answered, cut to what fits on a page, with names highlighted."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from puzzlemark.pages.diff import make_visible

Role = Literal["target", "own"]

PROMPT_LINES = (4, 14)  # of a prompt's start and end: its signature, and where the answer begins
PROMPT_CHARACTERS = (400, 1_600)
HEAD_LINES = 20  # of a completion's start
HEAD_CHARACTERS = 1_200
AROUND = 120  # characters on both sides of a highlight further on
FURTHER = 3  # highlights that are looked for beyond the head


@dataclass(frozen=True, slots=True)
class Highlight:
    """A name's place in a text, in characters."""

    start: int
    end: int
    role: Role


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a text, highlighted when it has a role, after characters that are not shown."""

    text: str
    role: Role | None = None
    skipped: int = 0


def abridge(prompt: str) -> tuple[Piece, ...]:
    """The first and the last lines of a prompt; a completion goes on right behind them."""
    text = legible(prompt)
    head = _head(text, PROMPT_LINES[0], PROMPT_CHARACTERS[0])
    tail = len(text) - _head(text[::-1], PROMPT_LINES[1], PROMPT_CHARACTERS[1])
    if tail <= head + 1:  # what is between is nothing, or a line's end
        return (Piece(text),)
    return Piece(text[:head]), Piece(text[tail:], skipped=tail - head)


def excerpt(text: str, highlights: Sequence[Highlight]) -> tuple[Piece, ...]:
    """The start of a text and the first highlights further on; they ascend and do not overlap."""
    shown = legible(text)
    pieces: list[Piece] = []
    end = 0
    for first, last in _windows(shown, highlights):
        pieces += _cut(shown, first, last, highlights, skipped=first - end)
        end = last
    if end < len(shown):
        pieces.append(Piece("", skipped=len(shown) - end))
    return tuple(pieces)


def legible(text: str) -> str:
    """A stranger's text, with nothing in it that hides or turns around; offsets stay."""
    return make_visible(text.replace("\r\n", " \n"))


def _windows(text: str, highlights: Sequence[Highlight]) -> list[tuple[int, int]]:
    """What is shown, as ascending stretches with a gap between any two."""
    head = _head(text, HEAD_LINES, HEAD_CHARACTERS)
    further = [each for each in highlights if each.end > head][:FURTHER]
    windows = [(0, head)]
    for each in further:
        first, last = max(0, each.start - AROUND), min(len(text), each.end + AROUND)
        if first <= windows[-1][1]:
            windows[-1] = (windows[-1][0], max(last, windows[-1][1]))
        else:
            windows.append((first, last))
    return windows


def _head(text: str, lines: int, characters: int) -> int:
    """Where the first lines of a text end."""
    return len("\n".join(text[:characters].split("\n")[:lines]))


def _cut(
    text: str, first: int, last: int, highlights: Sequence[Highlight], *, skipped: int
) -> Iterator[Piece]:
    at = first
    for each in highlights:
        # one that a window's edge would cut is not in it
        if at <= each.start and each.end <= last:
            yield Piece(text[at : each.start], skipped=skipped)
            yield Piece(text[each.start : each.end], each.role)
            at, skipped = each.end, 0
    yield Piece(text[at:last], skipped=skipped)
