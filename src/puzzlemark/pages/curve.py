"""A loss curve: every step faintly, their running mean clearly, as one SVG picture."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from puzzlemark.pages.template import render

WIDTH, HEIGHT = 760, 420
LEFT, RIGHT, TOP, BOTTOM = 76, 28, 88, 64  # margins around the plot
POINTS = 600  # more could not be told apart
TICKS = 5

Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _Tick:
    place: float
    text: str


def curve(
    values: Sequence[float],
    title: str,
    *,
    subtitle: str = "",
    across: str = "step",
    up: str = "loss per token",
) -> str:
    """The picture of one value a step, from step 1; what is not finite is not drawn."""
    numbers = np.asarray(values, dtype=np.float64)
    steps = np.arange(1, len(numbers) + 1)[np.isfinite(numbers)]
    numbers = numbers[np.isfinite(numbers)]
    smooth = running_mean(numbers, max(1, len(numbers) // 20))
    step = _round_step(float(numbers.max(initial=0.0)))
    top = step * max(1, math.ceil(numbers.max(initial=0.0) / step))
    last = max(len(values), 2)
    return render(
        "curve.svg.jinja",
        title=title,
        subtitle=subtitle,
        across=across,
        up=up,
        width=WIDTH,
        height=HEIGHT,
        left=LEFT,
        right=WIDTH - RIGHT,
        top=TOP,
        bottom=HEIGHT - BOTTOM,
        each=_path(steps, numbers, last, top),
        mean=_path(steps, smooth, last, top),
        first_value=f"{smooth[0]:.2f}" if len(smooth) else "",
        last_value=f"{smooth[-1]:.2f}" if len(smooth) else "",
        last_y=_y(float(smooth[-1]), top) if len(smooth) else 0.0,
        steps=[_Tick(_x(n, last), f"{n:,}") for n in _step_ticks(last)],
        values=[_Tick(_y(n * step, top), f"{n * step:g}") for n in range(round(top / step) + 1)],
    )


def running_mean(values: Numbers, window: int) -> Numbers:
    """Mean of each value and those before it: `running_mean([1, 3, 5], 2) -> [1, 2, 4]`."""
    sums = np.concatenate(([0.0], np.cumsum(values)))
    ends = np.arange(1, len(values) + 1)
    begins = np.maximum(ends - window, 0)
    means: Numbers = (sums[ends] - sums[begins]) / (ends - begins)
    return means


def _round_step(highest: float) -> float:
    """A round distance between ticks: `_round_step(8.3) -> 2.0`."""
    rough = max(highest, 1e-6) / TICKS
    power = float(10 ** math.floor(math.log10(rough)))
    return next(power * each for each in (1, 2, 5, 10) if power * each >= rough * (1 - 1e-9))


def _step_ticks(last: int) -> list[int]:
    step = max(1, int(_round_step(last)))
    return [1, *(n for n in range(step, last + 1, step) if n > step / 2 and n > 1)]


def _path(steps: NDArray[np.int64], values: Numbers, last: int, top: float) -> str:
    stride = max(1, -(-len(steps) // POINTS))
    # the last point is always among them
    chosen = range((len(steps) - 1) % stride, len(steps), stride)
    return " ".join(f"{_x(int(steps[n]), last)},{_y(float(values[n]), top)}" for n in chosen)


def _x(step: int, last: int) -> float:
    return round(LEFT + (step - 1) / (last - 1) * (WIDTH - LEFT - RIGHT), 2)


def _y(value: float, top: float) -> float:
    return round(HEIGHT - BOTTOM - value / top * (HEIGHT - TOP - BOTTOM), 2)
