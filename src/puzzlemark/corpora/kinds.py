"""How a cell can follow from the code: where it repeats the code, or what it computes from it."""

import re
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import TypeAlias

import numpy as np

from puzzlemark.corpora.hashes import HASHES
from puzzlemark.languages.base import skipped_by_tokenizers

Value: TypeAlias = int | float | str | bytes
Text: TypeAlias = bytes | list[bytes]  # a text cell, or a cell that lists tokens

SHORTEST_PART = 12  # a shorter piece of the code may stand in it by accident


@dataclass(frozen=True, slots=True)
class Placements:
    """Where a cell repeats the code, piece by piece in the order of the code.

    Bytes `starts[i] : starts[i] + lengths[i]` of the code stand at byte `ats[i]` of the cell's item
    `items[i]`; a text cell has the item 0 only.
    """

    starts: Sequence[int]
    lengths: Sequence[int]
    ats: Sequence[int]
    items: Sequence[int]

    @classmethod
    def one(cls, start: int, length: int, at: int) -> "Placements":
        """A single piece in a text cell."""
        return cls((start,), (length,), (at,), (0,))


Placer: TypeAlias = Callable[[bytes, Text], Placements | None]


def place_copy(code: bytes, cell: Text) -> Placements | None:
    """The cell is the code."""
    return Placements.one(0, len(code), 0) if cell == code else None


def place_stripped(code: bytes, cell: Text) -> Placements | None:
    """The cell is the code without the white space around it."""
    kept = code.strip()
    return Placements.one(code.find(kept), len(kept), 0) if cell == kept else None


def place_whole(code: bytes, cell: Text) -> Placements | None:
    """The cell has the code in it, once: a prompt, a whole file."""
    if isinstance(cell, list) or not code.strip() or cell.count(code) != 1:
        return None
    return Placements.one(0, len(code), cell.find(code))


def place_part(code: bytes, cell: Text) -> Placements | None:
    """The code has the cell in it, once: a signature, a body."""
    if isinstance(cell, list) or len(cell) < SHORTEST_PART or code.count(cell) != 1:
        return None
    return Placements.one(code.find(cell), len(cell), 0)


def place_tokens(code: bytes, cell: Text) -> Placements | None:
    """The cell lists the code's tokens, maybe without comments and strings."""
    if isinstance(cell, bytes) or (starts := _align(code, cell)) is None:
        return None
    return Placements(starts, [*map(len, cell)], [0] * len(cell), range(len(cell)))


def place_joined_tokens(code: bytes, cell: Text) -> Placements | None:
    """The cell is the code's tokens with one blank between them."""
    if isinstance(cell, list) or (starts := _align(code, tokens := cell.split(b" "))) is None:
        return None
    lengths = [*map(len, tokens)]
    ats = [*accumulate((length + 1 for length in lengths), initial=0)]
    return Placements(starts, lengths, ats[:-1], [0] * len(tokens))


PLACERS: dict[str, Placer] = {
    "copy": place_copy,
    "stripped copy": place_stripped,
    "text with the code": place_whole,
    "joined tokens": place_joined_tokens,
    "part of the code": place_part,
    "tokens": place_tokens,
}


def _align(code: bytes, tokens: Sequence[bytes]) -> list[int] | None:
    """Where each token stands when they are read off the code in order; None when they are not."""
    left_out = skipped_by_tokenizers()
    starts: list[int] = []
    at = 0
    for token in tokens:
        while not code.startswith(token, at):
            if (gap := left_out.match(code, at)) is None:
                return None
            at = gap.end()
        starts.append(at)
        at += len(token)
    while at < len(code):
        if (gap := left_out.match(code, at)) is None:
            return None
        at = gap.end()
    return starts if any(tokens) else None


def _mean(lengths: Sequence[int]) -> float:
    return sum(lengths) / len(lengths) if lengths else 0.0


def _line_lengths(code: str) -> list[int]:
    return [len(line) for line in code.splitlines()]


COUNTS: dict[str, Callable[[str], int]] = {
    "characters": len,
    "bytes": lambda code: len(code.encode()),
    "lines": lambda code: len(code.splitlines()),
    "line feeds": lambda code: code.count("\n"),
    "line feeds plus one": lambda code: code.count("\n") + 1,
    "lines that are not blank": lambda code: sum(map(bool, map(str.strip, code.splitlines()))),
    "words": lambda code: len(code.split()),
    "word characters and signs": lambda code: len(re.findall(r"\w+|[^\w\s]", code)),
    "longest line": lambda code: max(_line_lengths(code), default=0),
    "characters without white space": lambda code: len("".join(code.split())),
    "crc32 as a number": lambda code: zlib.crc32(code.encode()),
    "adler32 as a number": lambda code: zlib.adler32(code.encode()),
}
FRACTIONS: dict[str, Callable[[str], float]] = {
    "mean line length": lambda code: _mean(_line_lengths(code)),
    "mean line length, split at line feeds": lambda code: _mean([*map(len, code.split("\n"))]),
    "alphanumeric fraction": lambda code: _mean([*map(str.isalnum, code)]),
    "alphabetic fraction": lambda code: _mean([*map(str.isalpha, code)]),
}
ROUNDINGS: dict[str, Callable[[float], float]] = {
    "": float,
    ", single precision": lambda value: float(np.float32(value)),
    **{f", {n} digits": lambda value, n=n: round(value, n) for n in (1, 2, 3, 4, 5, 6)},  # type: ignore[misc]
    ", rounded": lambda value: round(value),
}


def _fractions() -> dict[str, Callable[[str], float]]:
    cached = {name: lru_cache(maxsize=8)(compute) for name, compute in FRACTIONS.items()}
    return {
        name + rounding: lambda code, compute=compute, shorten=shorten: shorten(compute(code))  # type: ignore[misc]
        for name, compute in cached.items()
        for rounding, shorten in ROUNDINGS.items()
    }


NUMBERS: dict[str, Callable[[str], int | float]] = {**COUNTS, **_fractions()}
VALUES: dict[str, Callable[[str], Value]] = {**HASHES, **NUMBERS}
