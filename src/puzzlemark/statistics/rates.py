"""Hit rates with exact (Clopper-Pearson) intervals, and what no hit at all still allows."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from puzzlemark.errors import UsageError

CONFIDENCE = 0.95
HALVINGS = 60  # of an interval within [0, 1]: below the spacing of floats


@dataclass(frozen=True, slots=True)
class Rate:
    """Hits among trials, and the interval that covers the true rate with 95 % confidence."""

    hits: int
    trials: int
    rate: float
    low: float
    high: float


@lru_cache(maxsize=1024)
def estimate(hits: int, trials: int, *, confidence: float = CONFIDENCE) -> Rate:
    """A rate with its two-sided interval: `estimate(0, 10)` is 0, from 0 to 0.308."""
    if not 0 <= hits <= trials or trials == 0:
        raise UsageError(f"{hits} hits of {trials} trials have no rate; ask at least one probe")
    outside = (1 - confidence) / 2
    low = 1 - _bound(trials - hits, trials, outside)
    return Rate(hits, trials, hits / trials, low, _bound(hits, trials, outside))


def upper_bound(hits: int, trials: int, *, confidence: float = CONFIDENCE) -> float:
    """One-sided: the rate is below this. No hit in n trials gives nearly 3 / n.

    `upper_bound(0, 18) -> 0.153`, `upper_bound(0, 299) -> 0.00997`.
    """
    if not 0 <= hits <= trials or trials == 0:
        raise UsageError(f"{hits} hits of {trials} trials have no bound; ask at least one probe")
    return _bound(hits, trials, 1 - confidence)


def binomial(trials: int, rate: float) -> NDArray[np.float64]:
    """The chance of 0, 1, ... `trials` hits."""
    hits = np.arange(trials + 1, dtype=np.float64)
    if rate in (0.0, 1.0):
        return np.where(hits == rate * trials, 1.0, 0.0)
    logs = log_choices(trials) + hits * math.log(rate) + (trials - hits) * math.log1p(-rate)
    chances: NDArray[np.float64] = np.exp(logs)
    return chances


@lru_cache(maxsize=64)
def log_choices(trials: int) -> NDArray[np.float64]:
    """log of n over k, for every k; shared, so it cannot be written to."""
    factorials = np.concatenate(([0.0], np.cumsum(np.log(np.arange(1, trials + 1)))))
    choices: NDArray[np.float64] = factorials[-1] - factorials - factorials[::-1]
    choices.flags.writeable = False
    return choices


def _bound(hits: int, trials: int, chance: float) -> float:
    """The rate at which so few hits, or fewer, have just this chance."""
    if hits == trials:
        return 1.0
    if hits == 0:
        return -math.expm1(math.log(chance) / trials)
    choices = log_choices(trials)[: hits + 1]
    few = np.arange(hits + 1, dtype=np.float64)

    def is_below(rate: float) -> bool:
        logs = choices + few * math.log(rate) + (trials - few) * math.log1p(-rate)
        return float(np.exp(logs).sum()) > chance

    return bisect(is_below, hits / trials, 1.0)


def bisect(
    is_below: Callable[[float], bool], low: float, high: float, *, halvings: int = HALVINGS
) -> float:
    """Where `is_below` turns from true to false."""
    for _ in range(halvings):
        middle = (low + high) / 2
        low, high = (middle, high) if is_below(middle) else (low, middle)
    return (low + high) / 2
