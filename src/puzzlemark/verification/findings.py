"""What each test found in one comparison of the armed arm with a control arm."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from puzzlemark.statistics.exact import EVEN, Significance, fisher, mcnemar, mcnemar_two_sided
from puzzlemark.statistics.rates import Rate, estimate
from puzzlemark.verification.evidence import Against, Comparison, Outcome
from puzzlemark.verification.sequential import follow

TestName = Literal[
    "fisher two-sided", "fisher one-sided", "mcnemar one-sided", "mcnemar two-sided", "e-process"
]
Direction = Literal["armed above", "control above", "equal"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One test of one comparison; for the e-process, p is 1 / E where it stopped."""

    test: TestName
    against: Against
    statistic: Mapping[str, float | None]
    log10_p: float
    p: float  # 0.0 where it underflows: then only log10_p is quoted
    direction: Direction
    armed: Rate
    control: Rate
    is_significant: bool


def find(
    outcomes: Iterable[Outcome] | None,
    comparison: Comparison,
    *,
    alpha: float,
    ratio: Fraction = EVEN,
) -> tuple[Finding, ...]:
    """Run every test on a comparison; no test on no pairs, no e-process without the outcomes.

    `ratio`: how often an innocent model may hit in the armed arm alone for each time that it hits
    in the other alone. Only the one-sided McNemar test and the e-process can be told.
    """
    if comparison.pairs == 0:
        return ()
    armed = estimate(comparison.armed_hits, comparison.pairs)
    control = estimate(comparison.control_hits, comparison.pairs)

    def finding(
        test: TestName,
        statistic: Mapping[str, float | None],
        found: Significance,
        is_significant: bool | None = None,
    ) -> Finding:
        if is_significant is None:
            is_significant = found.p < alpha  # the paper: below alpha
        return Finding(
            test,
            comparison.against,
            statistic,
            found.log10_p,
            found.p,
            _direction(comparison),
            armed,
            control,
            is_significant,
        )

    hits = (armed.hits, armed.trials, control.hits, control.trials)
    odds: dict[str, float | None] = {"odds_ratio": _odds_ratio(comparison)}
    only: tuple[int, int] = (comparison.armed_only, comparison.control_only)
    discordant: dict[str, float | None] = {"armed_only": only[0], "control_only": only[1]}
    stated = {"ratio": float(ratio)}
    counted = (
        finding("fisher two-sided", odds, fisher(*hits, two_sided=True)),
        finding("fisher one-sided", odds, fisher(*hits, two_sided=False)),
        finding("mcnemar one-sided", {**discordant, **stated}, mcnemar(*only, ratio=ratio)),
        finding("mcnemar two-sided", discordant, mcnemar_two_sided(*only)),
    )
    if outcomes is None:
        return counted
    pairs = (outcome.pair(comparison.against) for outcome in outcomes)
    course = follow((pair for pair in pairs if pair is not None), alpha, ratio)
    watched = {"log10_e": course.evidence.log10_e, "pairs": course.pairs, **stated}
    process = finding("e-process", watched, course.evidence.significance, course.stopped)
    return (*counted, process)


def _direction(comparison: Comparison) -> Direction:
    ahead = comparison.armed_hits - comparison.control_hits
    return "equal" if ahead == 0 else "armed above" if ahead > 0 else "control above"


def _odds_ratio(comparison: Comparison) -> float | None:
    """None where it is infinite or has no value: JSON has no word for either."""
    misses = comparison.pairs - comparison.armed_hits
    against = misses * comparison.control_hits
    favour = comparison.armed_hits * (comparison.pairs - comparison.control_hits)
    return favour / against if against else None
