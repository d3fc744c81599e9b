"""The setting of a verification: what is fixed before the first query."""

from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class Setting:
    """Everything that is fixed before the first query."""

    mode: Mode = "default"
    strategy: Strategy = "fixed"
    alpha: float = 0.05
    min_pairs: int = 20  # fewer usable pairs are inconclusive
    max_failed: float = 0.1  # a larger share of failed pairs is inconclusive

    def __post_init__(self) -> None:
        if not 0.0 < self.alpha < 1.0:
            raise UsageError(f"alpha is {self.alpha:g}; it lies between 0 and 1, such as 0.05")
        if self.min_pairs < 1 or not 0.0 <= self.max_failed <= 1.0:
            raise UsageError("min_pairs is at least 1, and max_failed is a share from 0 to 1")

    @property
    def test(self) -> TestName:
        """The decisive test."""
        return DECISIVE[self.mode][0]

    @property
    def method(self) -> Method:
        """The decisive test, as `power` calls it."""
        return DECISIVE[self.mode][1]

    @property
    def against(self) -> Against:
        """The arm it compares with: the paper's control, or the fair one."""
        return "control" if self.mode == "paper" else FAIR[self.strategy]

    @property
    def arms(self) -> tuple[Against, ...]:
        """The arms there are to compare with: only a fixed prefix has a placebo."""
        return AGAINST if self.strategy == "fixed" else ("control",)

    @property
    def is_fair(self) -> bool:
        """Whether the decisive comparison treats both arms alike."""
        return self.against == FAIR[self.strategy]
