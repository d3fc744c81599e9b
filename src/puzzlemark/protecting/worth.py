"""What so many marks are good for, by what is known: the paper's RQ5, and the test's own power."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from puzzlemark.verification.power import smallest_effect
from puzzlemark.watermarks.base import Design

TRAINING_SET = 400_000  # functions; CodeSearchNet's training set for Python has 412,178
FEWEST_PAIRS = 20  # fewer are inconclusive whatever comes out: docs/verification/statistics.md
MOST_PAIRS = 500  # as many as the paper asks about
# marks of a project among 412,178 functions (paper, table rq5_project_protection)
NOT_FOUND_AT, FOUND_AT = 100, 400


@dataclass(frozen=True, slots=True)
class Worth:
    """What a repository can carry, and what can come of it."""

    functions: int
    files: int
    able: int  # functions that can carry
    marks: int  # that stand after the run
    training_set: int
    smallest_rate: float | None  # the smallest hit rate that a test of these marks would show

    @property
    def share(self) -> float:
        """Of the training set."""
        return self.marks / self.training_set

    @property
    def word(self) -> str:
        """In one word: none, small, doubtful or fair."""
        if self.marks < FEWEST_PAIRS:
            return "none"
        if self.marks < NOT_FOUND_AT:
            return "small"
        return "doubtful" if self.marks < FOUND_AT else "fair"

    def sentences(self) -> Iterator[str]:
        """The same in words."""
        yield (
            f"{self.functions:,} functions in {self.files:,} files can carry {self.able:,} marks; "
            f"after this run there are {self.marks:,}."
        )
        yield (
            f"In a training set of {self.training_set:,} functions that is {self.share:.3%}. The "
            "paper (RQ5) marked single projects in one of 412,178: with about 100 marks two of "
            "three watermarks were not found and the third barely (p = 0.03), with about 400 all "
            "three were."
        )
        if self.smallest_rate is not None:
            yield (
                f"A test of {min(self.marks, MOST_PAIRS):,} marks has a chance of 80 % to show a "
                f"model that writes {self.smallest_rate:.1%} of the targets, if it never does so "
                "without the trigger."
            )
        yield {
            "none": f"Not worth it: fewer than {FEWEST_PAIRS} marks give no verdict at all.",
            "small": "Hardly worth it: fewer marks than where the paper found next to nothing. A "
            "model that is trained on little else may still show them.",
            "doubtful": "Doubtful: between what the paper found and what it did not.",
            "fair": "Worth it, if the suspect trained on no more than that: as many marks as where "
            "the paper succeeded.",
        }[self.word]


def judge_worth(
    design: Design, *, functions: int, files: int, able: int, marks: int, training_set: int
) -> Worth:
    """What so many marks of a watermark are good for."""
    smallest = None
    if marks >= FEWEST_PAIRS and "control" in design.decisions["default"].against:
        smallest = smallest_effect(
            "mcnemar",
            min(marks, MOST_PAIRS),
            ratio=Fraction(design.ratio).limit_denominator(1000),
        )
    return Worth(functions, files, able, marks, training_set, smallest)
