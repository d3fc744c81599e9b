"""The setting of a verification: what is fixed before the first query."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from puzzlemark.errors import UsageError
from puzzlemark.verification.evidence import AGAINST, FAIR, Against
from puzzlemark.verification.findings import TestName
from puzzlemark.verification.power import Method
from puzzlemark.watermarks.base import Strategy

Mode = Literal["default", "paper", "sequential"]

DECISIVE: dict[Mode, tuple[TestName, Method]] = {
    "default": ("mcnemar one-sided", "mcnemar"),
    "paper": ("fisher two-sided", "fisher"),
    "sequential": ("e-process", "sequential"),
}
# How often an innocent model may hit in the armed arm alone, for each time that it hits in the
# other alone. Real code may join the first two names of a function more often than the next two;
# the figure is the upper end of what was measured: docs/verification/statistics.md.
RATIO: dict[Strategy, float] = {"fixed": 1.0, "universal": 2.9, "trigger": 1.0}


@dataclass(frozen=True, slots=True)
class Setting:
    """Everything that is fixed before the first query."""

    mode: Mode = "default"
    strategy: Strategy = "fixed"
    alpha: float = 0.05
    min_pairs: int = 20  # fewer usable pairs are inconclusive
    max_failed: float = 0.1  # a larger share of failed pairs is inconclusive
    ratio: float | None = None  # of the null hypothesis; None: the strategy's own

    def __post_init__(self) -> None:
        if not 0.0 < self.alpha < 1.0:
            raise UsageError(f"alpha is {self.alpha:g}; it lies between 0 and 1, such as 0.05")
        if self.min_pairs < 1 or not 0.0 <= self.max_failed <= 1.0:
            raise UsageError("min_pairs is at least 1, and max_failed is a share from 0 to 1")
        if self.ratio is not None:
            exact_ratio(self.ratio)
        if self.ratio not in (None, 1.0) and self.mode == "paper":
            raise UsageError("the paper's test knows no ratio but 1; drop one of the two")

    @property
    def null_ratio(self) -> Fraction:
        """The ratio that is tested; the paper's test knows none but 1."""
        if self.mode == "paper":
            return Fraction(1)
        return exact_ratio(RATIO[self.strategy] if self.ratio is None else self.ratio)

    @property
    def has_own_ratio(self) -> bool:
        """Whether the ratio is the strategy's own, which was measured."""
        return self.null_ratio == exact_ratio(RATIO[self.strategy])

    @property
    def test(self) -> TestName:
        """The decisive test."""
        return DECISIVE[self.mode][0]

    @property
    def method(self) -> Method:
        """The decisive test, as `power` calls it."""
        return DECISIVE[self.mode][1]

    @property
    def against(self) -> tuple[Against, ...]:
        """The arms that the armed one must beat: the paper's control, or every fair one."""
        return ("control",) if self.mode == "paper" else FAIR[self.strategy]

    @property
    def arms(self) -> tuple[Against, ...]:
        """The arms there are to compare with: only a fixed prefix has a placebo."""
        return AGAINST if self.strategy == "fixed" else ("control",)

    @property
    def is_fair(self) -> bool:
        """Whether every fair arm decides, at the measured ratio or a larger one."""
        return self.against == FAIR[self.strategy] and self.null_ratio >= RATIO[self.strategy]


def exact_ratio(ratio: float) -> Fraction:
    """As it is written: `exact_ratio(2.9) -> 29/10`, not the float beside it."""
    if not (math.isfinite(ratio) and ratio >= 1.0):
        raise UsageError(f"the null ratio is {ratio:g}; it is 1 or more, such as 2.9")
    return Fraction(repr(ratio))
