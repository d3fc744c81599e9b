"""A distribution with a threshold in it, as one SVG picture."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from puzzlemark.pages.template import render

BINS = 50
TICKS = 6  # across, about
WIDTH, HEIGHT = 760, 440
LEFT, RIGHT, TOP, BOTTOM = 76, 28, 138, 64  # margins around the plot


@dataclass(frozen=True, slots=True)
class Labels:
    """The words of the picture."""

    across: str  # what is measured
    up: str  # what is counted
    below: str  # those on the left of the threshold
    above: str  # the threshold itself and what is on its right
    threshold: str = "threshold"


@dataclass(frozen=True, slots=True)
class _Bar:
    x: float
    width: float
    below_y: float
    below_height: float
    above_y: float
    above_height: float
    about: str


@dataclass(frozen=True, slots=True)
class _Tick:
    place: float
    text: str


def histogram(
    values: Sequence[float] | NDArray[np.float64],
    threshold: float,
    title: str,
    labels: Labels,
    *,
    subtitle: str = "",
) -> str:
    """The picture of values in their own units, from the smallest to the largest.

    NaN is left out, a NaN threshold is not drawn.
    """
    numbers = np.asarray(values, dtype=np.float64)
    numbers = numbers[np.isfinite(numbers)]
    axis = _axis(numbers, threshold)
    edges = np.linspace(axis.low, axis.high, BINS + 1)
    # a bin that the threshold cuts has a share of both
    below = np.histogram(numbers[numbers < threshold], edges)[0]
    above = np.histogram(numbers[~(numbers < threshold)], edges)[0]
    step, top = _scale(int((below + above).max()))
    return render(
        "histogram.svg.jinja",
        title=title,
        subtitle=subtitle,
        labels=labels,
        width=WIDTH,
        height=HEIGHT,
        left=LEFT,
        right=WIDTH - RIGHT,
        top=TOP,
        bottom=HEIGHT - BOTTOM,
        bars=_bars(axis, edges, below, above, top),
        across=axis.ticks(),
        up=[_Tick(_y(count, top), f"{count:,}") for count in range(0, top + 1, step)],
        threshold=_Tick(axis.x(threshold), axis.text(threshold, 2))
        if math.isfinite(threshold)
        else None,
        anchor=axis.anchor(threshold),
        below=int(below.sum()),
        above=int(above.sum()),
    )


@dataclass(frozen=True, slots=True)
class _Axis:
    """From the smallest to the largest value, with ticks at round numbers between them."""

    low: float
    high: float

    @property
    def step(self) -> float:
        """Between two ticks: `_Axis(0.45, 0.55).step -> 0.02`."""
        rough = (self.high - self.low) / TICKS
        power = 10.0 ** math.floor(math.log10(rough))
        return next(power * each for each in (1, 2, 5, 10) if power * each >= rough * (1 - 1e-9))

    def x(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return round(LEFT + share * (WIDTH - LEFT - RIGHT), 2)

    def text(self, value: float, more: int = 0) -> str:
        """With as many digits as the ticks need, or some more."""
        if not 1e-4 <= self.step < 1e6:
            return f"{value:.{3 + more}g}"
        return f"{value:,.{max(0, -math.floor(math.log10(self.step))) + more}f}"

    def anchor(self, value: float) -> str:
        """On which side of a place its words stand, so that they stay inside the picture."""
        share = (value - self.low) / (self.high - self.low)
        return "start" if share < 0.2 else "end" if share > 0.8 else "middle"

    def ticks(self) -> list[_Tick]:
        step = self.step
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        # `+ 0.0` makes of -0.0 what it is
        places = [round(nth * step, 12) + 0.0 for nth in range(first, last + 1)]
        return [_Tick(self.x(place), self.text(place)) for place in places]


def _axis(numbers: NDArray[np.float64], threshold: float) -> _Axis:
    """What is drawn reaches from one end of the picture to the other."""
    ends = [*numbers.tolist(), *([threshold] if math.isfinite(threshold) else [])]
    low, high = (min(ends), max(ends)) if ends else (0.0, 1.0)
    # values that are all alike, or nearly, need some room to stand in
    least = max(abs(low), abs(high)) * 1e-3 or 1.0
    if high - low < least:
        low, high = low - least / 2, high + least / 2
    return _Axis(low, high)


def _scale(highest: int) -> tuple[int, int]:
    """Round steps for the axis: `_scale(8312) -> (2000, 10000)`."""
    rough = max(highest, 1) / 4
    power = 10 ** math.floor(math.log10(rough)) if rough >= 1 else 1
    step = next(int(power * each) for each in (1, 2, 5, 10) if power * each >= rough)
    return step, step * math.ceil(max(highest, 1) / step)


def _bars(
    axis: _Axis,
    edges: NDArray[np.float64],
    below: NDArray[np.int64],
    above: NDArray[np.int64],
    top: int,
) -> list[_Bar]:
    bars: list[_Bar] = []
    for place, (left, right) in enumerate(zip(below.tolist(), above.tolist(), strict=True)):
        if not left + right:
            continue
        x, end = axis.x(edges[place]), axis.x(edges[place + 1])
        middle = _y(left, top)
        bars.append(
            _Bar(
                round(x + 0.5, 2),
                round(end - x - 1, 2),
                middle,
                round(_y(0, top) - middle, 2),
                _y(left + right, top),
                round(middle - _y(left + right, top), 2),
                f"{edges[place]:.4g} to {edges[place + 1]:.4g}: {left + right:,}",
            )
        )
    return bars


def _y(count: int, top: int) -> float:
    return round(HEIGHT - BOTTOM - count / top * (HEIGHT - TOP - BOTTOM), 2)


LABELS = Labels(
    across="suitability (left: complex code, right: simple code)",
    up="records",
    below="too complex",
    above="may carry a mark",
)


def suitability_picture(scores: NDArray[np.float64], threshold: float | None, tau: float) -> str:
    """The distribution of suitability; NaN: not measured, None: no threshold."""
    measured = int(np.count_nonzero(np.isfinite(scores)))
    return histogram(
        scores,
        float("nan") if threshold is None else threshold,
        "Suitability to carry a mark",
        LABELS,
        subtitle=f"{measured:,} records measured, quantile tau {tau:g}",
    )
