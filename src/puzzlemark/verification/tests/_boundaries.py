"""The power of tests on discordant pairs, enumerated from the boundary where each begins to show.

Chances are enumerated, not approximated. The two arms of a pair are taken as independent given
their rates.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from puzzlemark.statistics.rates import binomial

# for 0, 1, ... discordant pairs, the fewest armed-only ones that suffice
Boundary = Callable[[int, float, Fraction], tuple[int, ...]]


def discordant(hit_rate: float, control_rate: float) -> tuple[float, float]:
    """The chances that a pair hits in the armed arm alone, and in the other alone."""
    return hit_rate * (1 - control_rate), control_rate * (1 - hit_rate)


def power_within(
    boundary: Boundary,
    pairs: int,
    *,
    hit_rate: float,
    control_rate: float,
    alpha: float,
    ratio: Fraction,
    stops: bool,
) -> float:
    """The chance that so many pairs get over the boundary: at their end, or (`stops`) ever."""
    armed_only, control_only = discordant(hit_rate, control_rate)
    if armed_only == 0.0:
        return 0.0
    either = armed_only + control_only
    most = likely_most(pairs, either)
    line = _walked(boundary, 1 << most.bit_length(), alpha, ratio)[: most + 1]
    shown = _shown(line, armed_only / either, stops=stops)
    return float(binomial(pairs, either)[: most + 1] @ shown)


def likely_most(trials: int, rate: float) -> int:
    """More hits than this have a chance below 1e-12."""
    mean = trials * rate
    return min(trials, math.ceil(mean + 8 * math.sqrt(mean) + 20))


def _shown(boundary: tuple[int, ...], share: float, *, stops: bool) -> NDArray[np.float64]:
    """The chance that a test has shown something after 0, 1, ... discordant pairs.

    `share` of the discordant pairs are armed only. A test that stops keeps what it has shown; one
    that is read at the end sees the end only.
    """
    chances = np.zeros(len(boundary) + 1)  # of so many armed-only pairs, among runs not stopped
    chances[0] = 1.0
    shown = np.zeros(len(boundary))
    for either in range(1, len(boundary)):
        chances[1:] = chances[1:] * (1 - share) + chances[:-1] * share
        chances[0] *= 1 - share
        fewest = boundary[either]
        shown[either] = chances[fewest:].sum()
        if stops:
            shown[either] += shown[either - 1]
            chances[fewest:] = 0.0
    return shown


@lru_cache(maxsize=32)
def _walked(boundary: Boundary, most: int, alpha: float, ratio: Fraction) -> tuple[int, ...]:
    return boundary(most, alpha, ratio)
