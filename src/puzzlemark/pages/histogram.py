"""A distribution with a threshold in it, as one SVG picture."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from puzzlemark.pages.template import render

BINS = 50
WIDTH, HEIGHT = 760, 420
LEFT, RIGHT, TOP, BOTTOM = 76, 28, 112, 64  # margins around the plot


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
    """The picture for values between 0 and 1; NaN is left out, a NaN threshold is not drawn."""
    numbers = np.asarray(values, dtype=np.float64)
    numbers = numbers[np.isfinite(numbers)]
    edges = np.linspace(0.0, 1.0, BINS + 1)
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
        bars=_bars(edges, below, above, top),
        across=[_Tick(_x(share / 10), f"{share / 10:.1f}") for share in range(0, 11, 2)],
        up=[_Tick(_y(count, top), f"{count:,}") for count in range(0, top + 1, step)],
        threshold=_Tick(_x(threshold), f"{threshold:.4f}") if math.isfinite(threshold) else None,
        below=int(below.sum()),
        above=int(above.sum()),
    )


def _scale(highest: int) -> tuple[int, int]:
    """Round steps for the axis: `_scale(8312) -> (2000, 10000)`."""
    rough = max(highest, 1) / 4
    power = 10 ** math.floor(math.log10(rough)) if rough >= 1 else 1
    step = next(int(power * each) for each in (1, 2, 5, 10) if power * each >= rough)
    return step, step * math.ceil(max(highest, 1) / step)


def _bars(
    edges: NDArray[np.float64],
    below: NDArray[np.int64],
    above: NDArray[np.int64],
    top: int,
) -> list[_Bar]:
    bars: list[_Bar] = []
    for place, (left, right) in enumerate(zip(below.tolist(), above.tolist(), strict=True)):
        if not left + right:
            continue
        x, end = _x(edges[place]), _x(edges[place + 1])
        middle = _y(left, top)
        bars.append(
            _Bar(
                round(x + 0.5, 2),
                round(end - x - 1, 2),
                middle,
                round(_y(0, top) - middle, 2),
                _y(left + right, top),
                round(middle - _y(left + right, top), 2),
                f"{edges[place]:.2f} to {edges[place + 1]:.2f}: {left + right:,}",
            )
        )
    return bars


def _x(share: float) -> float:
    return round(LEFT + share * (WIDTH - LEFT - RIGHT), 2)


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
