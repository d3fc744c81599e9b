"""How many probe pairs a test needs, and the smallest effect that so many pairs could have shown.

Chances are enumerated, not approximated. The two arms of a pair are taken as independent given
their rates.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from puzzlemark.errors import UsageError
from puzzlemark.statistics.exact import EVEN, mcnemar_boundary
from puzzlemark.statistics.rates import binomial, bisect, log_choices
from puzzlemark.verification import sequential

Method = Literal["mcnemar", "fisher", "sequential"]

ALPHA = 0.05
POWER = 0.8
MOST_PAIRS = 2**14  # reached by doubling


@dataclass(frozen=True, slots=True)
class Plan:
    """So many pairs show the hit rate with at least the power asked for."""

    test: Method
    hit_rate: float
    control_rate: float
    alpha: float
    power: float
    ratio: float  # of the null hypothesis
    pairs: int
    prompts: int
    reached: float  # the power of just these pairs
    median_pairs: int | None  # sequential: half of the runs have stopped by then


def plan(
    test: Method,
    *,
    hit_rate: float,
    control_rate: float = 0.0,
    alpha: float = ALPHA,
    power: float = POWER,
    ratio: Fraction = EVEN,
) -> Plan:
    """The pairs needed to show a hit rate: `plan("fisher", hit_rate=0.1).pairs -> 78`."""
    _require(hit_rate=hit_rate, control_rate=control_rate, alpha=alpha, power=power)
    if test == "fisher" and ratio != EVEN:
        raise UsageError("Fisher's test knows no ratio but 1; choose mcnemar or sequential")
    armed_only, control_only = _discordant(hit_rate, control_rate)
    if armed_only <= float(ratio) * control_only:
        stated = "" if ratio == EVEN else f" by more than the null ratio of {float(ratio):g}"
        raise UsageError(
            f"a hit rate of {hit_rate:g} is not above the control rate of {control_rate:g}"
            f"{stated}; there is nothing to show"
        )

    def needed(chance: float) -> int:
        return _fewest_pairs(test, hit_rate, control_rate, alpha, chance, ratio)

    pairs = needed(power)
    reached = power_of(
        test, pairs, hit_rate=hit_rate, control_rate=control_rate, alpha=alpha, ratio=ratio
    )
    median = needed(0.5) if test == "sequential" else None
    return Plan(
        test, hit_rate, control_rate, alpha, power, float(ratio), pairs, 2 * pairs, reached, median
    )


def power_of(
    test: Method,
    pairs: int,
    *,
    hit_rate: float,
    control_rate: float = 0.0,
    alpha: float = ALPHA,
    ratio: Fraction = EVEN,
) -> float:
    """The chance that a test on so many pairs shows that the armed arm hits more often."""
    if test == "fisher":
        return _fisher_power(pairs, hit_rate, control_rate, alpha)
    armed_only, control_only = _discordant(hit_rate, control_rate)
    discordant = armed_only + control_only
    if armed_only == 0.0:
        return 0.0
    most = _likely_most(pairs, discordant)
    boundary = _boundary(test, 1 << most.bit_length(), alpha, ratio)[: most + 1]
    shown = _shown(boundary, armed_only / discordant, stops=test == "sequential")
    return float(binomial(pairs, discordant)[: most + 1] @ shown)


def smallest_effect(
    test: Method,
    pairs: int,
    *,
    control_rate: float = 0.0,
    alpha: float = ALPHA,
    power: float = POWER,
    ratio: Fraction = EVEN,
) -> float | None:
    """The smallest armed hit rate that would have been shown; None if not even a rate of 1.

    `smallest_effect("fisher", 500) -> 0.0158`: 6 hits against none are needed.
    """

    def falls_short(hit_rate: float) -> bool:
        reached = power_of(
            test, pairs, hit_rate=hit_rate, control_rate=control_rate, alpha=alpha, ratio=ratio
        )
        return reached < power

    return None if falls_short(1.0) else bisect(falls_short, control_rate, 1.0, halvings=20)


def _discordant(hit_rate: float, control_rate: float) -> tuple[float, float]:
    """The chances that a pair hits in the armed arm alone, and in the other alone."""
    return hit_rate * (1 - control_rate), control_rate * (1 - hit_rate)


def _fewest_pairs(
    test: Method,
    hit_rate: float,
    control_rate: float,
    alpha: float,
    power: float,
    ratio: Fraction,
) -> int:
    """Doubling, then halving: one pair less falls short, though power may rise in small teeth."""

    def falls_short(pairs: int) -> bool:
        reached = power_of(
            test, pairs, hit_rate=hit_rate, control_rate=control_rate, alpha=alpha, ratio=ratio
        )
        return reached < power

    high = 1
    while falls_short(high):
        high *= 2
        if high > MOST_PAIRS:
            raise UsageError(
                f"a hit rate of {hit_rate:g} against {control_rate:g} needs more than "
                f"{MOST_PAIRS:,} pairs; ask for a larger effect"
            )
    low = high // 2  # falls short
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if falls_short(middle) else (low, middle)
    return high


def _fisher_power(pairs: int, hit_rate: float, control_rate: float, alpha: float) -> float:
    most = _likely_most(pairs, control_rate)
    fewest = np.array(fisher_boundary(pairs, most, alpha))
    at_least = np.append(np.cumsum(binomial(pairs, hit_rate)[::-1])[::-1], 0.0)
    return float(binomial(pairs, control_rate)[: most + 1] @ at_least[fewest])


def _shown(boundary: tuple[int, ...], share: float, *, stops: bool) -> NDArray[np.float64]:
    """The chance that a test has shown something after 0, 1, ... discordant pairs.

    `share` of the discordant pairs are armed only. A test that stops keeps what it has shown; one
    that is read at the end sees the end only.
    """
    chances = np.zeros(len(boundary) + 1)  # of so many armed-only pairs, among runs not stopped
    chances[0] = 1.0
    shown = np.zeros(len(boundary))
    for discordant in range(1, len(boundary)):
        chances[1:] = chances[1:] * (1 - share) + chances[:-1] * share
        chances[0] *= 1 - share
        fewest = boundary[discordant]
        shown[discordant] = chances[fewest:].sum()
        if stops:
            shown[discordant] += shown[discordant - 1]
            chances[fewest:] = 0.0
    return shown


def _likely_most(trials: int, rate: float) -> int:
    """More hits than this have a chance below 1e-12."""
    mean = trials * rate
    return min(trials, math.ceil(mean + 8 * math.sqrt(mean) + 20))


@lru_cache(maxsize=32)
def _boundary(test: Method, most: int, alpha: float, ratio: Fraction) -> tuple[int, ...]:
    walk = sequential.boundary if test == "sequential" else mcnemar_boundary
    return walk(most, alpha, ratio)


@lru_cache(maxsize=64)
def fisher_boundary(pairs: int, most: int, alpha: float) -> tuple[int, ...]:
    """For 0 to `most` control hits, the fewest armed hits with a two-sided p below alpha.

    `pairs + 1` means that none suffice: `fisher_boundary(500, 0, 0.05) -> (6,)`.
    """
    each, together = log_choices(pairs), log_choices(2 * pairs)

    def p(armed_hits: int, control_hits: int) -> float:
        hits = armed_hits + control_hits
        last = min(hits, pairs)
        ways = each[armed_hits : last + 1] + each[hits - last : control_hits + 1][::-1]
        # two arms of the same size: both tails are alike
        return 2 * float(np.exp(ways - together[hits]).sum())

    boundary: list[int] = []
    fewest = 1
    for control_hits in range(most + 1):
        # p rises with the control hits and falls with the armed ones: the boundary never goes back
        fewest = max(fewest, control_hits + 1)
        while fewest <= pairs and p(fewest, control_hits) >= alpha:
            fewest += 1
        boundary.append(fewest)
    return tuple(boundary)


def _require(**chances: float) -> None:
    for name, chance in chances.items():
        if not 0.0 <= chance <= 1.0 or (name in ("alpha", "power") and chance in (0.0, 1.0)):
            raise UsageError(f"{name.replace('_', ' ')} is {chance:g}; it is a share, such as 0.05")
