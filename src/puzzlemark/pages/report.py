"""The page of a verification: for a reader who must decide, and for one who doubts every line."""

from dataclasses import dataclass

from puzzlemark.pages.excerpts import Piece
from puzzlemark.pages.intervals import Interval, picture
from puzzlemark.pages.marks import Fact
from puzzlemark.pages.template import render
from puzzlemark.pages.timeline import Event, timeline


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a grid."""

    name: str
    counts: tuple[int | str, ...]


@dataclass(frozen=True, slots=True)
class Grid:
    """Counts by line and column."""

    caption: str
    corner: str
    columns: tuple[str, ...]
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """The armed arm against another one, or by itself, counted by arm and by pair."""

    against: str | None
    about: str
    is_decisive: bool
    by_arm: Grid
    by_pair: Grid | None  # None: there is no other arm
    failed: int
    by_test: tuple[Grid, ...] = ()  # what the decisive test counted, in place of the others


@dataclass(frozen=True, slots=True)
class Test:
    """One test: what it found, and whether it was to decide."""

    name: str
    against: str | None
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
    symbol: str = "hit"  # what it scored


@dataclass(frozen=True, slots=True)
class Panel:
    """One prompt and its completion; several arms may share them."""

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
class Legend:
    """What a highlighted text is."""

    role: str
    words: str


@dataclass(frozen=True, slots=True)
class Front:
    """The first page: for a reader who has to decide."""

    lead: str  # the one sentence
    more: tuple[str, ...]  # what was counted, and what it means
    standing: str  # confirmatory, or exploratory
    about_standing: tuple[str, ...]  # why
    title: str  # of the case; empty where there is none
    case: tuple[Fact, ...]  # in the owner's words
    events: tuple[Event, ...]
    limits: tuple[str, ...]  # what it does not show


@dataclass(frozen=True, slots=True)
class Report:
    """All that the page says; nothing in it depends on the clock."""

    word: str
    sentence: str  # what follows the word
    front: Front
    glossary: tuple[Fact, ...]
    introduction: str  # what a mark is, and which habit a model learns from it
    prompts: str  # what else is to be known of the prompts
    others: tuple[str, ...]  # the arms without the trigger
    legends: tuple[Legend, ...]
    about_tests: tuple[str, ...]
    pairs: int  # that the verdict rests on
    patterns: tuple[str, ...]  # that find the hits; none: whole names do
    is_first_name: bool  # only the first name of a completion counts
    rate: str  # of what the rates are: `completions that held the target`
    samples: int  # completions of each prompt
    is_keyed: bool  # judged by what a key drew
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
        timeline=timeline(report.front.events),
    )
