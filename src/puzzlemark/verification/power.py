"""How many probe pairs a test needs, and the smallest effect that so many pairs would show.

For names that a key drew: how many carriers, by what was measured of models that saw them.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist
from typing import Literal

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
    prompts = pairs if loaded.needs_key else 2 * pairs  # where a key decides there is one arm
    return Plan(
        test, hit_rate, control_rate, alpha, power, float(ratio), pairs, prompts, reached, median
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


# Names that a key drew

Answers = Literal["labels", "logprobs"]
RECORDS = (
    "docs/results/rq6.md: SmolLM2-135M, 2,000 short Python functions, 200 carriers of them; one "
    "model, one learning rate"
)
PILOTS = (
    "pilots before RQ6 with SmolLM2-135M, 2,000 short Python functions, 200 carriers of them: two "
    "models, one learning rate, carriers not chosen by their entropy"
)
USUAL_SAMPLES = 5
HIDDEN = 5  # eligible records for each that carries
ELIGIBLE = 0.04  # of all records, in CodeSearchNet (docs/results/rq6.md)


@dataclass(frozen=True, slots=True)
class Pilot:
    """What one carrier added to log E on average, and how much that varied."""

    nats: float
    spread: float  # the standard deviation of one carrier
    source: str

    @classmethod
    def of_carriers(cls, nats: float, carriers: int) -> "Pilot":
        """Of which so many showed E >= 1e6 with a chance of 90 %: n nats - z spread sqrt(n)."""
        short = carriers * nats - 6 * math.log(10)
        return cls(nats, short / (NormalDist().inv_cdf(0.9) * math.sqrt(carriers)), PILOTS)

    def as_measured(self, log10_e: float, carriers: int) -> "Pilot":
        """The same spread, with the mean of one model of RQ6."""
        return Pilot(log10_e * math.log(10) / carriers, self.spread, RECORDS)


# By what is read of the answers, and how often the model saw each carrier in training. Labels: five
# samples a prompt. docs/watermarks/synonyms.md has the table with its sources.
MEASURED: Mapping[tuple[Answers, int], Pilot | None] = {
    ("labels", 1): None,  # the evidence did not grow at all
    ("labels", 2): Pilot.of_carriers(0.0104, 1_870).as_measured(4.21, 178),
    ("labels", 3): Pilot.of_carriers(0.1255, 167).as_measured(9.29, 80),
    ("labels", 4): Pilot.of_carriers(0.345, 61).as_measured(35.18, 178),
    ("logprobs", 1): Pilot.of_carriers(0.0276, 620).as_measured(1.32, 178),
    ("logprobs", 2): Pilot.of_carriers(0.123, 160).as_measured(10.69, 178),
    ("logprobs", 3): Pilot.of_carriers(0.322, 60).as_measured(13.50, 80),
    ("logprobs", 4): Pilot.of_carriers(0.449, 46).as_measured(45.57, 178),
}


@dataclass(frozen=True, slots=True)
class DrawnPlan:
    """So many carriers show that a model saw them so often, by what was measured of others."""

    answers: Answers
    exposures: int
    log10_e: float
    power: float
    nats_per_carrier: float
    carriers: int
    prompts: int
    requests: int  # with several samples a prompt
    eligible: int  # records that could carry, so that a fifth of them is enough
    records: int  # so that as many are eligible
    source: str


def plan_drawn(
    exposures: int,
    *,
    answers: Answers = "labels",
    log10_e: float = 6.0,
    power: float = 0.9,
) -> DrawnPlan:
    """The carriers of `synonyms` that a proof needs: `plan_drawn(3).carriers -> 69`.

    By what one carrier added to log E in trained models, as if the carriers were independent and
    their sum were normal: a plan, not a promise.
    """
    _require(power=power)
    if log10_e <= 0 or not math.isfinite(log10_e):
        raise UsageError(f"log10 e is {log10_e:g}; it is above 0, such as 6")
    known = sorted(seen for kind, seen in MEASURED if kind == answers)
    if exposures < known[0]:
        raise UsageError(f"exposures are {known[0]} or more, not {exposures}")
    # nobody measured more: they do not need more carriers
    pilot = MEASURED[answers, min(exposures, known[-1])]
    if pilot is None:
        raise UsageError(
            f"with {exposures} exposure the answers alone showed nothing in the pilots, however "
            "many carriers there are: read log-probabilities (--answers logprobs), or rely on the "
            "loud channel"
        )
    carriers = _carriers(pilot, log10_e * math.log(10), power)
    samples = USUAL_SAMPLES if answers == "labels" else 1
    return DrawnPlan(
        answers,
        exposures,
        log10_e,
        power,
        pilot.nats,
        carriers,
        carriers,
        carriers * samples,
        carriers * HIDDEN,
        math.ceil(carriers * HIDDEN / ELIGIBLE),
        pilot.source,
    )


def _carriers(pilot: Pilot, wanted: float, power: float) -> int:
    """The least n with n nats - z spread sqrt(n) >= wanted: a quadratic in sqrt(n)."""
    z = NormalDist().inv_cdf(power) * pilot.spread
    root = (z + math.sqrt(max(0.0, z * z + 4 * pilot.nats * wanted))) / (2 * pilot.nats)
    return math.ceil(root * root - 1e-6)
