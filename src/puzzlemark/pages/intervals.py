"""Rates with their intervals, a dot and whiskers for each, as the parts of an SVG picture."""

from collections.abc import Sequence
from dataclasses import dataclass

WIDTH = 620
LEFT, RIGHT = 14, 22  # margins around the plot
ROW = 52
TOP, BOTTOM = 6, 46
TOPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)  # where the axis may end
TICKS = 5


@dataclass(frozen=True, slots=True)
class Interval:
    """A rate between its bounds; all are shares from 0 to 1."""

    name: str
    about: str  # the numbers, in words
    rate: float
    low: float
    high: float
    is_armed: bool = False


@dataclass(frozen=True, slots=True)
class Whisker:
    """One row of the picture."""

    interval: Interval
    text_y: float
    y: float
    low: float
    rate: float
    high: float


@dataclass(frozen=True, slots=True)
class Tick:
    """One place on the axis."""

    x: float
    text: str


@dataclass(frozen=True, slots=True)
class Picture:
    """Everything at its place."""

    width: int
    height: int
    left: int
    right: int
    bottom: int
    rows: tuple[Whisker, ...]
    ticks: tuple[Tick, ...]


def picture(intervals: Sequence[Interval]) -> Picture:
    """The rows from top to bottom, over an axis that begins at 0."""
    top = next(share for share in TOPS if share >= max((i.high for i in intervals), default=1.0))
    bottom = TOP + ROW * len(intervals) + 8
    shares = [top * step / TICKS for step in range(TICKS + 1)]
    return Picture(
        width=WIDTH,
        height=bottom + BOTTOM,
        left=LEFT,
        right=WIDTH - RIGHT,
        bottom=bottom,
        rows=tuple(_whisker(each, TOP + ROW * place, top) for place, each in enumerate(intervals)),
        ticks=tuple(Tick(_x(share, top), f"{share * 100:g} %") for share in shares),
    )


def _whisker(interval: Interval, y: float, top: float) -> Whisker:
    places = (_x(share, top) for share in (interval.low, interval.rate, interval.high))
    return Whisker(interval, y + 18, y + 36, *places)


def _x(share: float, top: float) -> float:
    return round(LEFT + share / top * (WIDTH - LEFT - RIGHT), 2)
