"""How large a study must be: the chance that the test of `scoring` sees a given difference."""

import math

import numpy as np
from numpy.typing import NDArray

from puzzlemark.errors import UsageError
from puzzlemark.statistics.rates import bisect
from puzzlemark.studying.design import Design

GRID = 401  # places at which a normal distribution is read off
FARTHEST = 6.0  # standard deviations


def study_power(
    suspicious: float,
    false_flags: float,
    *,
    participants: int,
    design: Design | None = None,
    spread: float = 1.0,
    alpha: float = 0.05,
    runs: int = 2_000,
    draws: int = 1_999,
    seed: int = 0,
) -> float:
    """The share of simulated studies in which one watermark is seen, in one round and language.

    `study_power(0.3, 0.1, participants=5)`: people flag 30 % of the marked and 10 % of the bare
    snippets on average. They differ, and so do snippets: each by a normal effect on the log odds
    with standard deviation `spread`. `suspicious` equal to `false_flags` gives the false alarms.
    """
    design = design or Design()
    for name, rate in (("suspicious", suspicious), ("false flags", false_flags)):
        if not 0 < rate < 1:
            raise UsageError(f"{name}: {rate}; pass a rate between 0 and 1, both excluded")
    rng = np.random.default_rng(seed)
    shape = (runs, participants, design.snippets)
    people = rng.normal(0, spread, (runs, participants, 1))
    oddness = rng.normal(0, spread, (runs, 1, design.snippets))
    marked = design.assign(rng, participants, runs)
    total = spread * math.sqrt(2)
    base = np.where(marked, _intercept(suspicious, total), _intercept(false_flags, total))
    flagged = rng.random(shape) < _logistic(base + people + oddness)
    drawn = design.assign(rng, participants, draws)
    return float((redraw_ps(flagged, marked, drawn) <= alpha).mean())


def redraw_ps(
    flagged: NDArray[np.bool_], marked: NDArray[np.bool_], drawn: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """`scoring.redraw_p` of many studies at once, against the same draws."""
    runs, draws = len(flagged), len(drawn)
    answers = flagged.reshape(runs, -1).astype(np.float32)
    found = (flagged & marked).sum(axis=(1, 2))
    chance = drawn.reshape(draws, -1).astype(np.float32) @ answers.T  # counts: exact in a float
    as_many = (chance >= found).sum(axis=0)
    ps: NDArray[np.float64] = (1 + as_many) / (1 + draws)
    return ps


def _intercept(rate: float, spread: float) -> float:
    """The log odds at which the rate is this on average, over a normal effect."""
    places = np.linspace(-FARTHEST, FARTHEST, GRID)
    weights = np.exp(-(places**2) / 2)
    weights /= weights.sum()

    def is_below(at: float) -> bool:
        return float((weights * _logistic(at + spread * places)).sum()) < rate

    return bisect(is_below, -40.0, 40.0)


def _logistic(odds: NDArray[np.float64]) -> NDArray[np.float64]:
    share: NDArray[np.float64] = 1 / (1 + np.exp(-odds))
    return share
