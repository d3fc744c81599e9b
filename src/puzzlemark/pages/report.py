"""The page of a verification: for a reader who must decide, and for one who doubts every line."""

from dataclasses import dataclass

from puzzlemark.pages.excerpts import Piece
from puzzlemark.pages.intervals import Interval, picture
from puzzlemark.pages.marks import Fact
from puzzlemark.pages.template import render


@dataclass(frozen=True, slots=True)
class Table:
    """The armed arm against another one, counted by arm and by pair."""

    against: str
    is_decisive: bool
    armed_hits: int
    control_hits: int
    pairs: int
    both: int
    armed_only: int
    control_only: int
    neither: int
    failed: int


@dataclass(frozen=True, slots=True)
class Test:
    """One test: what it found, and whether it was to decide."""

    name: str
    against: str
    statistic: str
    log10_p: str
    p: str
    result: str
    is_decisive: bool


@dataclass(frozen=True, slots=True)
class Scored:
    """A name that was looked for in a completion."""

    arm: str
    target: str
    role: str
    is_hit: bool | None  # None: nothing was answered


@dataclass(frozen=True, slots=True)
class Panel:
    """One prompt and its completion; control and placebo may share them."""

    title: str
    scored: tuple[Scored, ...]
    prompt: tuple[Piece, ...]
    completion: tuple[Piece, ...]
    is_empty: bool
    failure: str | None


@dataclass(frozen=True, slots=True)
class Example:
    """One probe, with all its arms."""

    number: int
    panels: tuple[Panel, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """Facts under one heading."""

    name: str
    facts: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """All that the page says; nothing in it depends on the clock."""

    word: str
    sentence: str  # what follows the word
    strategy: str
    pairs: int  # that the verdict rests on
    patterns: tuple[str, ...]  # that find the hits; none: whole names do
    has_placebo: bool
    model: str
    kind: str
    is_supplied: bool  # the answers are the owner's own file or function
    alpha: float
    tables: tuple[Table, ...]
    rates: tuple[Interval, ...]
    reach: str | None  # the smallest effect that so many pairs show
    tests: tuple[Test, ...]
    fixed: tuple[Fact, ...]  # before the first query
    caveats: tuple[str, ...]  # of this verdict; the page adds those of every verdict
    examples: tuple[Example, ...]
    integrity: tuple[Group, ...]
    commands: tuple[Fact, ...]


def report_page(report: Report) -> str:
    """The page, as one HTML text."""
    return render(
        "report.html.jinja",
        title=f"Verification report: {report.word}",
        report=report,
        picture=picture(report.rates) if report.rates else None,
    )
