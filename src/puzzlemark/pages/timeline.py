"""What happened when, one event below the other, as the parts of an SVG picture.

From top to bottom, so that it can be read on a phone as well as on paper.
"""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

WIDTH = 380
LEFT, TEXT = 12, 32  # of the line, and of what stands beside it
FIRST, GAP, BELOW = 18, 17, 15  # heights: of the name, of a line of text, after an event
CHARACTERS = 46  # of a line of text, at 12 pixels, in wide letters
MOST_LINES = 4

# known: somebody else vouches for it; stated: the owner's word, or his machine's; missing: nobody
# says it; wrong: it contradicts something
State = Literal["known", "stated", "missing", "wrong"]


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened: `Event("Stamped", "2026-03-01 10:00 UTC", "says TSA", "known")`."""

    name: str
    when: str
    about: str
    state: State


@dataclass(frozen=True, slots=True)
class Text:
    """A line of text at its height."""

    y: int
    text: str


@dataclass(frozen=True, slots=True)
class Station:
    """An event at its place."""

    event: Event
    y: int  # of the dot
    lines: tuple[Text, ...]


@dataclass(frozen=True, slots=True)
class Timeline:
    """Everything at its place."""

    width: int
    height: int
    left: int
    text: int
    stations: tuple[Station, ...]


def timeline(events: Sequence[Event]) -> Timeline:
    """The events from top to bottom."""
    stations, y = [], 0
    for event in events:
        wrapped = textwrap.wrap(event.about, CHARACTERS)
        if len(wrapped) > MOST_LINES:
            wrapped = [*wrapped[: MOST_LINES - 1], f"{wrapped[MOST_LINES - 1][:-4]} ..."]
        lines = tuple(Text(y + FIRST + GAP * n, text) for n, text in enumerate(wrapped, 1))
        stations.append(Station(event, y + FIRST - 5, lines))
        y += FIRST + GAP * len(wrapped) + BELOW
    return Timeline(WIDTH, max(y - BELOW + 8, 1), LEFT, TEXT, tuple(stations))
