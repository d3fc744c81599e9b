"""Cut code at the end of a line, after so many characters, lines or tokens."""

import re
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from typing import ClassVar

from puzzlemark.attacks._editing import Edited, edit_records, text_of
from puzzlemark.attacks.base import NOTHING, Given, Input, Plan
from puzzlemark.corpora.base import Corpus
from puzzlemark.errors import UsageError
from puzzlemark.snippet import Edit, Snippet

TOKEN = re.compile(r"\w+|[^\w\s]")  # a word, or a sign: of any language
UNITS = ("characters", "lines", "tokens")


@dataclass(frozen=True, slots=True)
class Truncate:
    """`Truncate(lines=20)`: whole lines as long as they fit; the first one always stays."""

    characters: int | None = None
    lines: int | None = None
    tokens: int | None = None
    name: ClassVar[str] = "truncate"
    needs: ClassVar[frozenset[Input]] = NOTHING
    takes: ClassVar[frozenset[Input]] = NOTHING

    def __post_init__(self) -> None:
        limits = [limit for unit in UNITS if (limit := getattr(self, unit)) is not None]
        if len(limits) != 1 or limits[0] < 1:
            raise UsageError(
                "truncate: pass one of characters, lines and tokens, 1 or more: truncate:lines=20"
            )

    def plan(self, corpus: Corpus, given: Given) -> Plan:
        """Cut what is longer."""
        return edit_records(
            partial(_truncate, self), corpus, given, stage="truncating", reader=text_of
        )


def _truncate(limits: Truncate, snippet: Snippet, _notes: tuple[str, ...]) -> Edited:
    lines = snippet.code.splitlines(keepends=True)
    if limits.lines is not None:
        kept = limits.lines
    elif limits.characters is not None:
        kept = _fitting([len(line.rstrip("\r\n")) for line in lines], lines, limits.characters)
    else:
        assert limits.tokens is not None, "one of the three is given"
        sizes = list(accumulate(len(TOKEN.findall(line)) for line in lines))
        kept = sum(size <= limits.tokens for size in sizes)
    cut = "".join(lines[max(1, kept) :])
    if not cut:
        return Edited()
    code, gone = snippet.code.encode(), cut.encode()
    return Edited((Edit(len(code) - len(gone), gone, b""),), {"lines cut": len(cut.splitlines())})


def _fitting(lengths: list[int], lines: list[str], most: int) -> int:
    """How many lines fit; the line feed of the last one does not count."""
    starts = accumulate((len(line) for line in lines), initial=0)
    ends = (start + length for start, length in zip(starts, lengths, strict=False))
    return sum(end <= most for end in ends)


PLUGIN = Truncate
