"""The terms of a verification: what is fixed before the first question."""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from fractions import Fraction
from typing import Any

from pydantic import TypeAdapter, ValidationError

from puzzlemark.errors import UsageError
from puzzlemark.verification.tests.base import StatisticalTest, Stopping, load_test
from puzzlemark.watermarks._design import Decision, Design, Mode, Sampling

USUAL = Sampling()
COLD = USUAL.temperature
PAPER_TEMPERATURE = 1.0
MOST_SAMPLES = 1000  # of one prompt


@dataclass(frozen=True, slots=True)
class Terms:
    """What is fixed before the first question, beside the probes, their design and the model."""

    mode: Mode = "default"
    alpha: float = 0.05
    temperature: float = COLD
    max_tokens: int = USUAL.max_tokens
    seed: int = 0
    ratio: float | None = None  # of the null hypothesis; None: the design's own
    min_pairs: int = 20  # fewer usable pairs are inconclusive
    max_failed: float = 0.1  # a larger share of failed pairs is inconclusive
    samples: int = 1  # of each prompt
    reference: str | None = None  # digest of the innocent model that is asked beside, if one is

    def __post_init__(self) -> None:
        if not 0.0 < self.alpha < 1.0:
            raise UsageError(f"alpha is {self.alpha:g}; it lies between 0 and 1, such as 0.05")
        if self.min_pairs < 1 or not 0.0 <= self.max_failed <= 1.0:
            raise UsageError("min_pairs is at least 1, and max_failed is a share from 0 to 1")
        if self.ratio is not None:
            exact_ratio(self.ratio)
        if not 1 <= self.samples <= MOST_SAMPLES:
            raise UsageError(f"samples of a prompt are 1 to {MOST_SAMPLES:,}, not {self.samples}")
        if self.samples > 1 and self.temperature == 0:
            raise UsageError(
                f"at temperature 0 all {self.samples} samples of a prompt are the same: ask for "
                "one (--samples 1), or for a higher temperature"
            )
        if self.reference is not None and self.mode != "logprobs":
            raise UsageError("a reference model is asked for log-probabilities only: --logprobs")

    def decision(self, design: Design) -> Decision:
        """Which test decides, and against which arms."""
        return design.decision(self.mode)

    def test(self, design: Design) -> StatisticalTest:
        """The test that decides; in sequential mode one that may stop."""
        test = load_test(self.decision(design).test)
        if self.mode == "sequential" and not isinstance(test, Stopping):
            raise UsageError(f"the test {test.name} of the design {design.name} cannot be stopped")
        return test

    def null_ratio(self, design: Design) -> Fraction:
        """The ratio that is tested: the stated one, else the design's; 1 for a test without one."""
        if not self.test(design).takes_ratio:
            if self.ratio not in (None, 1.0):
                raise UsageError(
                    f"the test of mode {self.mode} knows no ratio but 1; drop one of the two"
                )
            return Fraction(1)
        return exact_ratio(design.ratio if self.ratio is None else self.ratio)

    def has_own_ratio(self, design: Design) -> bool:
        """Whether the ratio is the design's own, which was measured."""
        return self.null_ratio(design) == exact_ratio(design.ratio)

    def is_fair(self, design: Design) -> bool:
        """Whether every fair arm decides, at the design's ratio or a larger one."""
        is_same = self.decision(design).against == design.fair.against
        return is_same and self.null_ratio(design) >= exact_ratio(design.ratio)

    def fixed(self, design: Design) -> "Terms":
        """With the ratio that will be tested, for the record."""
        return replace(self, ratio=float(self.null_ratio(design)))

    def to_json(self) -> dict[str, Any]:
        """Plain values, for the transcript; what came later is said only where it is not usual."""
        usual = asdict(Terms())
        return {k: v for k, v in asdict(self).items() if k not in LATER or v != usual[k]}


# fields that the first transcripts did not have
LATER = ("min_pairs", "max_failed", "samples", "reference")

# a transcript may come from anybody: a text where a number belongs is refused, not converted
_TERMS = TypeAdapter(Terms)


def read_terms(settings: Mapping[str, Any]) -> Terms:
    """The reverse of `Terms.to_json`; a ValueError for anything else."""
    if unknown := set(settings) - {field.name for field in fields(Terms)}:
        raise ValueError(f"unknown: {', '.join(sorted(unknown))}")
    try:
        return _TERMS.validate_json(json.dumps(settings), strict=True)
    except ValidationError as exc:
        raise ValueError("a value of another kind") from exc


def terms_for(
    *,
    paper: bool = False,
    sequential: bool = False,
    logprobs: bool = False,
    temperature: float | None = None,
    max_tokens: int | None = None,
    samples: int | None = None,
    alpha: float | None = None,
    seed: int = 0,
    ratio: float | None = None,
    sampling: Sampling = USUAL,
    usual_alpha: float = 0.05,
) -> Terms:
    """The terms that the options of the command line spell.

    What is not said about the sampling is as `sampling` has it, which is the design's, and so is
    alpha.
    """
    if paper and sequential:
        raise UsageError("the paper's setting is not sequential; pass one of the two")
    if logprobs and (paper or sequential):
        raise UsageError(
            "log-probabilities are judged at the end, by a test of their own; pass "
            "--logprobs without --paper and --sequential"
        )
    if paper and temperature not in (None, PAPER_TEMPERATURE):
        raise UsageError(f"the paper's temperature is {PAPER_TEMPERATURE}, not {temperature}")
    if temperature is None:
        temperature = PAPER_TEMPERATURE if paper else sampling.temperature
    mode: Mode = "logprobs" if logprobs else "default"
    mode = "paper" if paper else "sequential" if sequential else mode
    return Terms(
        mode,
        usual_alpha if alpha is None else alpha,
        temperature,
        sampling.max_tokens if max_tokens is None else max_tokens,
        seed,
        ratio,
        samples=sampling.samples if samples is None else samples,
    )


def usual_terms(design: Design) -> Terms:
    """What holds for a design where nothing else is asked for."""
    return terms_for(sampling=design.sampling, usual_alpha=design.alpha)


def exact_ratio(ratio: float) -> Fraction:
    """As it is written: `exact_ratio(2.9) -> 29/10`, not the float beside it."""
    if not (math.isfinite(ratio) and ratio >= 1.0):
        raise UsageError(f"the null ratio is {ratio:g}; it is 1 or more, such as 2.9")
    return Fraction(repr(ratio))
