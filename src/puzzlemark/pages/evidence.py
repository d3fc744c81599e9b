"""The page of a checked bundle: what holds, what does not, and what cannot be said."""

from collections.abc import Sequence
from dataclasses import dataclass

from puzzlemark.pages.template import render
from puzzlemark.pages.timeline import Event, Timeline, timeline


@dataclass(frozen=True, slots=True)
class Item:
    """One claim."""

    claim: str
    status: str  # ok, failed, unknown
    why: str


@dataclass(frozen=True, slots=True)
class Part:
    """The claims about one part of a bundle."""

    name: str
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Judged:
    """One run: its verdict, and what happened when."""

    number: int
    word: str
    standing: str
    lead: str
    model: str
    events: tuple[Event, ...]
    deviations: tuple[str, ...]

    @property
    def timeline(self) -> Timeline:
        """The picture."""
        return timeline(self.events)


@dataclass(frozen=True, slots=True)
class Findings:
    """All that the page says; nothing in it depends on the clock."""

    title: str
    name: str  # of the bundle's file
    sha256: str
    commitment: str
    result: str  # ok, failed, incomplete
    sentence: str
    runs: tuple[Judged, ...]
    parts: tuple[Part, ...]
    limits: Sequence[str]


def evidence_page(findings: Findings) -> str:
    """The page, as one HTML text."""
    return render("evidence.html.jinja", title=f"Bundle: {findings.result}", found=findings)
