"""The bare model and the marked one on the same held-out functions (paper, Table 2, section 6)."""

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from puzzlemark.quality.activation import Activation
from puzzlemark.quality.differences import (
    Difference,
    SharesCompared,
    compare_means,
    compare_shares,
)
from puzzlemark.quality.result import Measured, Quality, QualityError

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
