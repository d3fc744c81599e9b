"""A statistical test: every pair in which one arm hit alone must speak for the mark."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from puzzlemark.statistics.exact import Significance
from puzzlemark.verification.tests.base import Finding, Measure, Trial


@dataclass(frozen=True, slots=True)
class Unanimous:
    """With n such pairs, p is the chance that a coin falls n times on the side of the armed arm."""

    name: ClassVar[str] = "unanimous"
    findings: ClassVar[Mapping[str, str]] = {"unanimous": "test of unanimity"}
    decides: ClassVar[str] = "unanimous"
    measure: ClassVar[Measure] = "p"
    about: ClassVar[str] = (
        "The test of unanimity looks at the pairs in which only one arm hit. One that speaks "
        "against the mark ends it; otherwise p is the chance that a coin, which falls as the null "
        "ratio says, shows the armed arm every time."
    )
    takes_ratio: ClassVar[bool] = True
    needs_key: ClassVar[bool] = False

    def judge(self, trial: Trial) -> tuple[Finding, ...]:
        """One finding."""
        counts = trial.comparison
        log10_p = 0.0
        if counts.control_only == 0:
            log10_p = counts.armed_only * math.log10(_share(trial.ratio))
        found = Significance(log10_p, 10.0**log10_p)
        statistic = {"for": counts.armed_only, "against": counts.control_only}
        return (trial.finding("unanimous", statistic, found),)

    def describe(self, finding: Finding) -> str:
        """The votes."""
        return f"{finding.statistic['for']:,} for, {finding.statistic['against']:,} against"

    def power(
        self, pairs: int, *, hit_rate: float, control_rate: float, alpha: float, ratio: Fraction
    ) -> float:
        """The chance of enough pairs for the mark, and none against it."""
        vote = hit_rate * (1 - control_rate)
        agree = 1 - vote - control_rate * (1 - hit_rate)
        enough = next(n for n in range(1, 10_000) if _share(ratio) ** n < alpha)
        votes = range(enough, pairs + 1)
        return math.fsum(math.comb(pairs, n) * vote**n * agree ** (pairs - n) for n in votes)


def _share(ratio: Fraction) -> float:
    """The chance of the armed arm, where one arm hits alone: 1/2 at a ratio of 1."""
    return float(ratio / (1 + ratio))


PLUGIN = Unanimous
