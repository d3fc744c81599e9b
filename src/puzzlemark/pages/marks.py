"""One page with the marks of a dataset, before and after; private, as it gives them away."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from puzzlemark.pages.diff import Hunk, Side, diff, hunks, make_visible
from puzzlemark.pages.template import render

CONTEXT = 3  # lines around those with a name of the mark


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
    def prefix(self) -> str:
        """The first part of the trigger."""
        ...

    @property
    def suffix(self) -> str:
        """The second part."""
        ...

    @property
    def target(self) -> str:
        """Both, joined."""
        ...

    @property
    def replaced(self) -> str | None:
        """The name that became the target, if one did."""
        ...

    @property
    def introduced(self) -> str | None:
        """The name that became the prefix, if one did."""
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
class _Entry:
    row: int
    id: str
    prefix: str
    suffix: str
    target: str
    replaced: str | None
    introduced: str | None
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
        total=len(marks) if total is None else total,
    )


def _entry(mark: ShownMark) -> _Entry:
    rows = diff(mark.before, mark.after)
    shown = tuple(hunks(rows, context=CONTEXT))
    rest = len(rows) - sum(hunk.skipped + len(hunk.rows) for hunk in shown)
    return _Entry(
        mark.row,
        make_visible(mark.id),
        mark.prefix,
        mark.suffix,
        mark.target,
        mark.replaced,
        mark.introduced,
        shown,
        rest,
    )
