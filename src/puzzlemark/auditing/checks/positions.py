"""Carriers are spread over the whole dataset."""

from collections.abc import Iterator

import numpy as np

from puzzlemark.auditing.checks.base import Evidence, Observation, View, not_applicable
from puzzlemark.statistics.exact import mcnemar_two_sided

ABOUT = "positions of the carriers"
VIEW: View = "marked"
# Code differs from one part of a dataset to another, and suitable code with it. A half with four
# times as many carriers as the other is more than that.
RATIO = 4


def inspect(evidence: Evidence) -> Iterator[Observation]:
    """Whether one half of the dataset has nearly all carriers."""
    half = len(evidence.carriers) // 2
    first = int(np.count_nonzero(evidence.carriers[:half]))
    second = int(np.count_nonzero(evidence.carriers[-half:])) if half else 0
    if not first + second:
        yield not_applicable("there are no carriers")
        return
    sentence = f"{first:,} carriers stand in the first half, {second:,} in the second"
    is_uneven = max(first, second) >= RATIO * min(first, second)
    found = mcnemar_two_sided(first, second) if is_uneven else None
    yield Observation(
        "ok",
        sentence,
        {"first half": first, "second half": second},
        found.log10_p if found else None,
    )
