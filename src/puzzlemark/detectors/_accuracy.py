"""A suspicion held against the truth: recall, false positives, precision, with exact intervals."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np

from puzzlemark.detectors.base import Suspicion
from puzzlemark.statistics.rates import estimate


@dataclass(frozen=True, slots=True)
class Truth:
    """Which rows of a dataset are marked; the digest says which dataset that is."""

    rows: Collection[int]
    digest: str


@dataclass(frozen=True, slots=True)
class Share:
    """`hits` of `total`, with the exact interval (Clopper and Pearson) at 95 %."""

    hits: int
    total: int

    @property
    def value(self) -> float | None:
        """The share; None of nothing."""
        return self.hits / self.total if self.total else None

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        payload = {"hits": self.hits, "total": self.total, "value": self.value}
        if not self.total:
            return {**payload, "low": 0.0, "high": 1.0}
        rate = estimate(self.hits, self.total)
        return {**payload, "low": rate.low, "high": rate.high}


@dataclass(frozen=True, slots=True)
class Accuracy:
    """What a detector got right. A marked record that could not be judged counts as missed."""

    recall: Share  # flagged among the marked
    fpr: Share  # flagged among the others
    precision: Share  # marked among the flagged

    @property
    def f1(self) -> float | None:
        """The harmonic mean of precision and recall; None when neither has anything to say."""
        both = self.recall.total + self.precision.total
        return 2 * self.recall.hits / both if both else None

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        shares = {name: getattr(self, name).to_json() for name in ("recall", "fpr", "precision")}
        return {**shares, "f1": self.f1}


def judge(suspicion: Suspicion, truth: Truth) -> Accuracy:
    """Compare with the truth: `judge(suspicion, truth).recall.value -> 0.98`."""
    marked = np.zeros(len(suspicion), np.bool_)
    marked[np.fromiter(truth.rows, np.int64, len(truth.rows))] = True
    flagged = suspicion.flagged
    hits = int(np.count_nonzero(marked & flagged))
    alarms = int(np.count_nonzero(flagged))
    total = int(np.count_nonzero(marked))
    return Accuracy(
        Share(hits, total), Share(alarms - hits, len(suspicion) - total), Share(hits, alarms)
    )
