"""The bare model and the marked one on the same held-out functions (paper, table rq1_harmless).

The paper compares sentence BLEU by a "sample-level t-test" and Cohen's d. Its test takes the
samples of both models as independent; they are the same samples, so the paired test stands beside
it and sees smaller differences.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from puzzlemark.errors import UsageError
from puzzlemark.quality.result import Measured, Quality, QualityError
from puzzlemark.quality.scoring import Activation
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


FORMAT = "puzzlemark quality comparison"
VERSION = 1


@dataclass(frozen=True, slots=True)
class Comparison:
    """Every number for the bare and the marked model; only samples that both answered count."""

    heldout: str
    pairs: int
    left_out: int  # samples that one of them failed to answer
    signature: str
    corpus_bleu: tuple[float | None, float | None]  # bare, marked
    bleu: Difference
    exact: SharesCompared
    loss: Difference | None
    loss_left_out: str | None  # why there is no loss
    activation: Mapping[str, SharesCompared]  # any, unnatural, universal, fixed

    def to_json(self) -> dict[str, Any]:
        """With null for what is no finite number."""
        plain = _finite(asdict(self))
        assert isinstance(plain, dict)
        return {"format": FORMAT, "version": VERSION, **plain}


def compare(bare: Quality, marked: Quality) -> Comparison:
    """Compare sample by sample; refuse two files that do not answer the same questions."""
    _refuse_others(bare, marked)
    pairs = [
        (x, y)
        for x, y in zip(bare.samples, marked.samples, strict=True)
        if x.failure is None and y.failure is None
    ]
    if len(pairs) < 2:
        raise QualityError(
            f"{len(pairs)} samples that both models answered; two or more are needed"
        )
    loss, reason = _compare_losses(bare, marked)
    return Comparison(
        heldout=bare.heldout,
        pairs=len(pairs),
        left_out=len(bare.samples) - len(pairs),
        signature=bare.signature,
        corpus_bleu=(bare.corpus_bleu, marked.corpus_bleu),
        bleu=compare_means(
            [_number(x.bleu) for x, _ in pairs], [_number(y.bleu) for _, y in pairs]
        ),
        exact=compare_shares([bool(x.exact) for x, _ in pairs], [bool(y.exact) for _, y in pairs]),
        loss=loss,
        loss_left_out=reason,
        activation=_compare_activations(pairs, with_prefix=bare.terms.prefix is not None),
    )


def _refuse_others(bare: Quality, marked: Quality) -> None:
    if bare.heldout != marked.heldout:
        raise QualityError("measured on different held-out datasets; measure both on the same")
    if bare.terms != marked.terms:
        ours, theirs = asdict(bare.terms), asdict(marked.terms)
        message = "; ".join(f"{k} {ours[k]} and {theirs[k]}" for k in ours if ours[k] != theirs[k])
        raise QualityError(f"measured under different terms: {message}; measure one of them again")
    if bare.signature != marked.signature:
        raise QualityError(f"different BLEU: {bare.signature} and {marked.signature}")
    if [(s.row, s.id) for s in bare.samples] != [(s.row, s.id) for s in marked.samples]:
        raise QualityError("measured on different samples; one of the files was changed")


def _compare_losses(bare: Quality, marked: Quality) -> tuple[Difference | None, str | None]:
    pairs = [
        (x, y)
        for x, y in zip(bare.samples, marked.samples, strict=True)
        if x.loss is not None and y.loss is not None
    ]
    if len(pairs) < 2:
        return None, "not measured for both models"
    if any(x.loss_tokens != y.loss_tokens for x, y in pairs):
        return None, "the models have different tokenizers"
    ours, theirs = ([_number(x.loss) for x, _ in pairs], [_number(y.loss) for _, y in pairs])
    return compare_means(ours, theirs), None


def _compare_activations(
    pairs: list[tuple[Measured, Measured]], *, with_prefix: bool
) -> dict[str, SharesCompared]:
    kinds: dict[str, Callable[[Activation], bool]] = {
        "any": lambda found: bool(found.names),
        "unnatural": lambda found: bool(found.names) and not found.natural,
        "universal": lambda found: found.universal,
    }
    if with_prefix:
        kinds["fixed"] = lambda found: found.fixed
    return {
        kind: compare_shares(
            [is_so(x.activation or Activation()) for x, _ in pairs],
            [is_so(y.activation or Activation()) for _, y in pairs],
        )
        for kind, is_so in kinds.items()
    }


def _number(value: float | None) -> float:
    assert value is not None, "a sample that was answered has every number"
    return value


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
