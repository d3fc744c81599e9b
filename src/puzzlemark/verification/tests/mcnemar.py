"""The exact McNemar test: how many of the pairs in which one arm hit alone the armed one has."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from puzzlemark.statistics.exact import mcnemar, mcnemar_boundary, mcnemar_two_sided
from puzzlemark.verification.tests._boundaries import power_within
from puzzlemark.verification.tests.base import Finding, Measure, Trial, state_ratio


@dataclass(frozen=True, slots=True)
class McNemar:
    """It stays exact when snippets differ in how easily they are hit; the default of `verify`."""

    name: ClassVar[str] = "mcnemar"
    findings: ClassVar[Mapping[str, str]] = {
        "mcnemar one-sided": "exact McNemar test, one-sided",
        "mcnemar two-sided": "exact McNemar test, two-sided",
    }
    decides: ClassVar[str] = "mcnemar one-sided"
    measure: ClassVar[Measure] = "p"
    about: ClassVar[str] = (
        "McNemar's test looks at the pairs in which only one arm hit, and asks how often a coin "
        "would favour the armed arm so much: a fair one, or one that falls as the null ratio says "
        "where one is stated."
    )
    takes_ratio: ClassVar[bool] = True
    needs_key: ClassVar[bool] = False

    def judge(self, trial: Trial) -> tuple[Finding, ...]:
        """In favour of the armed arm at the null ratio, and in either direction at 1."""
        only = (trial.comparison.armed_only, trial.comparison.control_only)
        counts = {"armed_only": only[0], "control_only": only[1]}
        stated = {**counts, "ratio": float(trial.ratio)}
        return (
            trial.finding("mcnemar one-sided", stated, mcnemar(*only, ratio=trial.ratio)),
            trial.finding("mcnemar two-sided", counts, mcnemar_two_sided(*only)),
        )

    def describe(self, finding: Finding) -> str:
        """The discordant pairs."""
        counts = finding.statistic
        only = f"{counts['armed_only']:,} armed only, {counts['control_only']:,}"
        return f"{only} {finding.against} only{state_ratio(finding)}"

    def power(
        self, pairs: int, *, hit_rate: float, control_rate: float, alpha: float, ratio: Fraction
    ) -> float:
        """The chance of a one-sided p below alpha."""
        return power_within(
            mcnemar_boundary,
            pairs,
            hit_rate=hit_rate,
            control_rate=control_rate,
            alpha=alpha,
            ratio=ratio,
            stops=False,
        )


PLUGIN = McNemar
