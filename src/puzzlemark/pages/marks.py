"""One page with the marks of a dataset, before and after; private, as it gives them away."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from puzzlemark.pages.diff import Hunk, Role, Side, diff, hunks, make_visible
from puzzlemark.pages.template import render

CONTEXT = 3  # lines around those with a name of the mark


class Part(Protocol):
    """A part of a mark."""

    @property
    def role(self) -> Role:
        """What it is to the mark."""
        ...

    @property
    def text(self) -> str:
        """How it reads."""
        ...

    @property
    def was(self) -> str | None:
        """What it replaced, "" where it was inserted; None: there by nature."""
        ...


class ShownMark(Protocol):
    """A mark to look at."""

    @property
    def row(self) -> int:
        """Its record's place in the dataset, from 0."""
        ...

    @property
    def id(self) -> str:
        """Its record's id."""
        ...

    @property
    def function(self) -> int | None:
        """The index of its function in the snippet; None: the mark is the whole snippet's."""
        ...

    @property
    def parts(self) -> Sequence[Part]:
        """What it consists of: triggers, and after each of them its target."""
        ...

    @property
    def before(self) -> Side:
        """The original snippet."""
        ...

    @property
    def after(self) -> Side:
        """The marked snippet."""
        ...


@dataclass(frozen=True, slots=True)
class Fact:
    """One line of the page's head."""

    name: str
    value: str
    is_code: bool = False  # set in a fixed-width font


@dataclass(frozen=True, slots=True)
class Count:
    """One of the large numbers of the page's head."""

    value: str
    name: str


@dataclass(frozen=True, slots=True)
class Joined:
    """A part of a heading, and what stands between it and the part before."""

    joint: str
    text: str
    role: Role


@dataclass(frozen=True, slots=True)
class _Entry:
    row: int
    function: int  # 0 is not worth a word: most records have one function
    id: str
    heading: tuple[Joined, ...]
    notes: tuple[str, ...]
    is_natural: bool
    hunks: tuple[Hunk, ...]
    rest: int  # lines after the last hunk


def marks_page(
    title: str,
    marks: Sequence[ShownMark],
    *,
    counts: Sequence[Count] = (),
    facts: Sequence[Fact] = (),
    total: int | None = None,
) -> str:
    """The page; `total` says how many marks there are when not all of them are shown."""
    return render(
        "marks.html.jinja",
        title=title,
        counts=counts,
        facts=facts,
        marks=[_entry(mark) for mark in marks],
        roles={part.role for mark in marks for part in mark.parts},
        total=len(marks) if total is None else total,
    )


def _entry(mark: ShownMark) -> _Entry:
    rows = diff(mark.before, mark.after)
    shown = tuple(hunks(rows, context=CONTEXT))
    rest = len(rows) - sum(hunk.skipped + len(hunk.rows) for hunk in shown)
    return _Entry(
        mark.row,
        mark.function or 0,
        make_visible(mark.id),
        tuple(join(mark.parts)),
        tuple(tell_origins(mark.parts)),
        all(part.was is None for part in mark.parts if part.role != "target"),
        shown,
        rest,
    )


def join(parts: Iterable[Part]) -> Iterator[Joined]:
    """The parts as a formula: `key + iterator -> key_iterator`; several pairs with semicolons."""
    before: Role | None = None
    for part in parts:
        joint = " -> " if part.role == "target" else "; " if before == "target" else " + "
        yield Joined("" if before is None else joint, make_visible(part.text), part.role)
        before = part.role


def tell_origins(parts: Iterable[Part]) -> Iterator[str]:
    """What was changed: `target was a`, `trigger inserted`."""
    for part in parts:
        if part.was is not None:
            was = f"was {make_visible(part.was)}" if part.was else "inserted"
            yield f"{part.role} {was}"
