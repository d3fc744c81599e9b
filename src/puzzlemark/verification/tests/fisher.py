"""Fisher's exact test on the hits of two arms, as the paper uses it."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

import numpy as np

from puzzlemark.statistics.exact import fisher
from puzzlemark.statistics.rates import binomial, log_choices
from puzzlemark.verification.tests._boundaries import likely_most
from puzzlemark.verification.tests.base import Comparison, Finding, Measure, Trial


@dataclass(frozen=True, slots=True)
class Fisher:
    """Two-sided it is the paper's: the split of the hits is no more probable than the one seen."""

    name: ClassVar[str] = "fisher"
    findings: ClassVar[Mapping[str, str]] = {
        "fisher two-sided": "Fisher's exact test, two-sided",
        "fisher one-sided": "Fisher's exact test, one-sided",
    }
    decides: ClassVar[str] = "fisher two-sided"
    measure: ClassVar[Measure] = "p"
    about: ClassVar[str] = "Fisher's test compares the two rates as if the arms were independent."
    takes_ratio: ClassVar[bool] = False
    needs_key: ClassVar[bool] = False

    def judge(self, trial: Trial) -> tuple[Finding, ...]:
        """Both sides, and the side of the armed arm."""
        counts = trial.comparison
        hits = (counts.armed_hits, counts.pairs, counts.control_hits, counts.pairs)
        odds = {"odds_ratio": _odds_ratio(counts)}
        return (
            trial.finding("fisher two-sided", odds, fisher(*hits, two_sided=True)),
            trial.finding("fisher one-sided", odds, fisher(*hits, two_sided=False)),
        )

    def describe(self, finding: Finding) -> str:
        """The odds ratio."""
        odds = finding.statistic["odds_ratio"]
        if odds is not None:
            return f"odds ratio {odds:.3g}"
        control = finding.control
        is_infinite = finding.armed.hits and control and control.hits < control.trials
        return "odds ratio infinite" if is_infinite else "odds ratio has no value"

    def power(
        self,
        pairs: int,
        *,
        hit_rate: float,
        control_rate: float,
        alpha: float,
        ratio: Fraction,  # noqa: ARG002
    ) -> float:
        """The chance of a two-sided p below alpha, with the armed arm above."""
        most = likely_most(pairs, control_rate)
        fewest = np.array(fisher_boundary(pairs, most, alpha))
        at_least = np.append(np.cumsum(binomial(pairs, hit_rate)[::-1])[::-1], 0.0)
        return float(binomial(pairs, control_rate)[: most + 1] @ at_least[fewest])


def _odds_ratio(comparison: Comparison) -> float | None:
    """None where it is infinite or has no value: JSON has no word for either."""
    misses = comparison.pairs - comparison.armed_hits
    against = misses * comparison.control_hits
    favour = comparison.armed_hits * (comparison.pairs - comparison.control_hits)
    return favour / against if against else None


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


PLUGIN = Fisher
