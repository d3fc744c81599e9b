"""Two models on the same samples: t-tests, Cohen's d, McNemar's test, exact intervals.

The paper compares sentence BLEU by a "sample-level t-test" and Cohen's d (Table 2). Its test takes
the samples of both models as independent; they are the same samples, so the paired test stands
beside it and sees smaller differences.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from puzzlemark.errors import UsageError
from puzzlemark.statistics.beta import log_t_tail, t_quantile
from puzzlemark.statistics.exact import mcnemar_two_sided
from puzzlemark.statistics.rates import estimate

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class TTest:
    """A two-sided t-test of `marked - bare`, and the interval that goes with it."""

    t: float
    df: float
    p: float
    log10_p: float  # right also where p has underflowed to 0.0
    low: float  # of the difference, at 95 %
    high: float


@dataclass(frozen=True, slots=True)
class Difference:
    """One number of each sample, bare and marked."""

    bare: float  # mean
    marked: float
    difference: float  # marked - bare
    cohens_d: float  # over the pooled standard deviation, as in the paper
    welch: TTest  # the paper's: as if the samples were independent
    paired: TTest

    @property
    def is_negligible(self) -> bool:
        """The paper's words for |d| < 0.2."""
        return abs(self.cohens_d) < 0.2


@dataclass(frozen=True, slots=True)
class Share:
    """So many of so many, with the exact (Clopper-Pearson) 95 % interval."""

    count: int
    of: int
    low: float
    high: float

    @property
    def rate(self) -> float:
        """The share itself."""
        return self.count / self.of if self.of else math.nan


@dataclass(frozen=True, slots=True)
class SharesCompared:
    """A yes or no of each sample, bare and marked, with the exact two-sided McNemar test."""

    bare: Share
    marked: Share
    bare_only: int
    marked_only: int
    p: float


def compare_means(bare: Sequence[float], marked: Sequence[float]) -> Difference:
    """Both t-tests and Cohen's d; the n-th numbers belong to the same sample."""
    if len(bare) != len(marked) or len(bare) < 2:
        raise UsageError(
            f"{len(bare)} and {len(marked)} samples; a t-test takes two or more, the same for both"
        )
    x, y = np.asarray(bare, dtype=float), np.asarray(marked, dtype=float)
    n = len(x)
    variance_x, variance_y = float(x.var(ddof=1)), float(y.var(ddof=1))
    gap = float(y.mean() - x.mean())
    square = variance_x / n + variance_y / n
    freedom = _freedom(variance_x, variance_y, n)
    inner = y - x
    return Difference(
        bare=float(x.mean()),
        marked=float(y.mean()),
        difference=gap,
        cohens_d=_ratio(gap, math.sqrt((variance_x + variance_y) / 2)),
        welch=_t_test(gap, math.sqrt(square), freedom),
        paired=_t_test(float(inner.mean()), float(inner.std(ddof=1)) / math.sqrt(n), n - 1),
    )


def compare_shares(bare: Sequence[bool], marked: Sequence[bool]) -> SharesCompared:
    """Both shares, and whether they differ."""
    pairs = list(zip(bare, marked, strict=True))
    bare_only = sum(x and not y for x, y in pairs)
    marked_only = sum(y and not x for x, y in pairs)
    return SharesCompared(
        bare=share(sum(bare), len(pairs)),
        marked=share(sum(marked), len(pairs)),
        bare_only=bare_only,
        marked_only=marked_only,
        p=mcnemar_two_sided(marked_only, bare_only).p,
    )


def share(count: int, of: int) -> Share:
    """A share with its exact interval: `share(0, 10).high -> 0.3085`."""
    if not 0 <= count <= of:
        raise UsageError(f"{count} of {of}; what is counted must be among the samples")
    if of == 0:
        return Share(0, 0, 0.0, 1.0)
    rate = estimate(count, of, confidence=CONFIDENCE)
    return Share(count, of, rate.low, rate.high)


def _freedom(variance_x: float, variance_y: float, n: int) -> float:
    """Welch and Satterthwaite, for two samples of the same size."""
    total = variance_x + variance_y
    if total == 0:
        return 2.0 * (n - 1)
    # as shares of the sum, which cannot underflow
    return (n - 1) / ((variance_x / total) ** 2 + (variance_y / total) ** 2)


def _t_test(gap: float, error: float, df: float) -> TTest:
    t = _ratio(gap, error)
    log_p = log_t_tail(t, df)
    reach = t_quantile(CONFIDENCE, df) * error
    return TTest(t, df, math.exp(log_p), log_p / math.log(10), gap - reach, gap + reach)


def _ratio(gap: float, spread: float) -> float:
    """Nothing differs: 0. Everything differs by the same: infinitely much."""
    if spread == 0:
        return math.copysign(math.inf, gap) if gap else 0.0
    return gap / spread
