"""How many probe pairs a test needs, and the smallest effect that so many pairs would show.

For names that a key drew: how many carriers, by what was measured of models that saw them.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist, fmean, stdev
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
    "docs/results/rq6.md: SmolLM2-135M, 2,000 short functions of Python or Java, 200 carriers of "
    "them, one learning rate"
)
USUAL_SAMPLES = 5
HIDDEN = 5  # eligible records for each that carries
ELIGIBLE = 0.04  # of all records, in CodeSearchNet (docs/results/rq6.md)


@dataclass(frozen=True, slots=True)
class Measured:
    """What one carrier added to log E, in nats, and how much that varies."""

    nats: float  # on average
    spread: float  # the standard deviation of one carrier within a model
    between: float  # that of the average, between models: more carriers do not help against it
    models: int

    @classmethod
    def of(
        cls, *models: tuple[float, int], pilot: tuple[float, int], between: float | None = None
    ) -> "Measured":
        """Of log10 E and its carriers in models of RQ6; their spread is that of a pilot.

        A pilot: the nats of a carrier, and how many carriers showed E >= 1e6 with a chance of 90 %.
        """
        nats = [log10_e * math.log(10) / carriers for log10_e, carriers in models]
        mean, needed = pilot
        short = needed * mean - 6 * math.log(10)  # n nats - z spread sqrt(n) = log(1e6)
        spread = short / (NormalDist().inv_cdf(0.9) * math.sqrt(needed))
        return cls(fmean(nats), spread, stdev(nats) if between is None else between, len(models))

    @property
    def source(self) -> str:
        """For those who read a plan."""
        return f"{RECORDS}; {'one model' if self.models == 1 else f'{self.models} models'}"


_TWICE_LABELS = Measured.of(
    *((4.21, 178), (0.37, 179), (5.76, 180), (6.11, 178), (3.71, 178), (5.53, 178)),
    pilot=(0.0104, 1_870),
)
_TWICE_LOGPROBS = Measured.of(
    *((10.69, 178), (6.82, 179), (14.49, 180), (9.79, 178), (10.39, 178), (10.39, 178)),
    pilot=(0.123, 160),
)
# By what is read of the answers, and how often the model saw each carrier in training. Labels: five
# samples a prompt. docs/watermarks/synonyms.md has the table with its sources. Where one model was
# trained, models are taken to differ as after two exposures.
MEASURED: Mapping[tuple[Answers, int], Measured | None] = {
    ("labels", 1): None,  # the evidence did not grow at all
    ("labels", 2): _TWICE_LABELS,
    ("labels", 3): Measured.of((9.29, 80), pilot=(0.1255, 167), between=_TWICE_LABELS.between),
    ("labels", 4): Measured.of((35.18, 178), (39.58, 178), pilot=(0.345, 61)),
    ("logprobs", 1): Measured.of(
        *((1.32, 178), (1.01, 179), (2.31, 180), (1.90, 178), (0.55, 178), (1.83, 178)),
        pilot=(0.0276, 620),
    ),
    ("logprobs", 2): _TWICE_LOGPROBS,
    ("logprobs", 3): Measured.of((13.50, 80), pilot=(0.322, 60), between=_TWICE_LOGPROBS.between),
    ("logprobs", 4): Measured.of((45.57, 178), (45.01, 178), pilot=(0.449, 46)),
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
    """The carriers of `synonyms` that a proof needs: `plan_drawn(3).carriers -> 72`.

    By what one carrier added to log E in trained models, as if the carriers were independent, and
    their sum and what models make of them were normal: a plan, not a promise.
    """
    _require(power=power)
    if not 1e-6 <= log10_e <= 1e6:
        raise UsageError(f"log10 e is {log10_e:g}; it is above 0 and at most a million, such as 6")
    known = sorted(seen for kind, seen in MEASURED if kind == answers)
    if exposures < known[0]:
        raise UsageError(f"exposures are {known[0]} or more, not {exposures}")
    # nobody measured more: they do not need more carriers
    measured = MEASURED[answers, min(exposures, known[-1])]
    if measured is None:
        raise UsageError(
            f"with {exposures} exposure the answers alone showed nothing in the pilots, however "
            "many carriers there are: read log-probabilities (--answers logprobs), or rely on the "
            "loud channel"
        )
    carriers = _carriers(measured, log10_e * math.log(10), power)
    samples = USUAL_SAMPLES if answers == "labels" else 1
    return DrawnPlan(
        answers,
        exposures,
        log10_e,
        power,
        measured.nats,
        carriers,
        carriers,
        carriers * samples,
        carriers * HIDDEN,
        math.ceil(carriers * HIDDEN / ELIGIBLE),
        measured.source,
    )


def _carriers(measured: Measured, wanted: float, power: float) -> int:
    """The least n with n nats - z sqrt(n spread^2 + n^2 between^2) >= wanted."""
    z = NormalDist().inv_cdf(power)
    nats, within, between = measured.nats, (z * measured.spread) ** 2, (z * measured.between) ** 2
    if z > 0 and between >= nats**2:
        most = NormalDist().cdf(nats / measured.between)
        raise UsageError(
            f"models differ so much in what a carrier adds that {most:.0%} of them show the mark, "
            f"however many carriers there are: lower the power of {power:g}, or plan more exposures"
        )
    # (n nats - wanted)^2 = n within + n^2 between, of whose roots the larger has power above 1/2
    square, middle = nats**2 - between, 2 * nats * wanted + within
    root = math.sqrt(max(0.0, middle**2 - 4 * square * wanted**2))
    return math.ceil((middle + math.copysign(root, z)) / (2 * square) - 1e-6)
