"""How many probe pairs a test needs, and the smallest effect that so many pairs would show."""

from dataclasses import dataclass
from fractions import Fraction

from puzzlemark.errors import UsageError
from puzzlemark.statistics.exact import EVEN
from puzzlemark.statistics.rates import bisect
from puzzlemark.verification.tests._boundaries import discordant
from puzzlemark.verification.tests.base import Stopping, load_test

ALPHA = 0.05
POWER = 0.8
MOST_PAIRS = 2**14  # reached by doubling


@dataclass(frozen=True, slots=True)
class Plan:
    """So many pairs show the hit rate with at least the power asked for."""

    test: str
    hit_rate: float
    control_rate: float
    alpha: float
    power: float
    ratio: float  # of the null hypothesis
    pairs: int
    prompts: int
    reached: float  # the power of just these pairs
    median_pairs: int | None  # of a test that stops: half of the runs have stopped by then


def plan(
    test: str,
    *,
    hit_rate: float,
    control_rate: float = 0.0,
    alpha: float = ALPHA,
    power: float = POWER,
    ratio: Fraction = EVEN,
) -> Plan:
    """The pairs needed to show a hit rate: `plan("fisher", hit_rate=0.1).pairs -> 78`."""
    _require(hit_rate=hit_rate, control_rate=control_rate, alpha=alpha, power=power)
    loaded = load_test(test)
    if ratio != EVEN and not loaded.takes_ratio:
        raise UsageError(f"the test {test} knows no ratio but 1; choose another one: mcnemar")
    armed_only, control_only = discordant(hit_rate, control_rate)
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
    median = needed(0.5) if isinstance(loaded, Stopping) else None
    return Plan(
        test, hit_rate, control_rate, alpha, power, float(ratio), pairs, 2 * pairs, reached, median
    )


def power_of(
    test: str,
    pairs: int,
    *,
    hit_rate: float,
    control_rate: float = 0.0,
    alpha: float = ALPHA,
    ratio: Fraction = EVEN,
) -> float:
    """The chance that a test on so many pairs shows that the armed arm hits more often."""
    return load_test(test).power(
        pairs, hit_rate=hit_rate, control_rate=control_rate, alpha=alpha, ratio=ratio
    )


def smallest_effect(
    test: str,
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


def _fewest_pairs(
    test: str,
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


def _require(**chances: float) -> None:
    for name, chance in chances.items():
        if not 0.0 <= chance <= 1.0 or (name in ("alpha", "power") and chance in (0.0, 1.0)):
            raise UsageError(f"{name.replace('_', ' ')} is {chance:g}; it is a share, such as 0.05")
