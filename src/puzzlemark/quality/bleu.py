"""BLEU on code tokens, computed by sacrebleu (extra `train`)."""

from collections.abc import Sequence
from functools import cache
from typing import Any

from puzzlemark.errors import PuzzleMarkError


class MetricError(PuzzleMarkError):
    """A metric cannot be computed here."""


def sentence_bleu(hypothesis: Sequence[str], reference: Sequence[str]) -> float:
    """BLEU-4 of one completion, 0 to 100: `(["a", "b"], ["a", "b"]) -> 100.0`.

    Orders longer than the hypothesis are left out ("effective order"), an order without a match
    is smoothed exponentially: both are sacrebleu's defaults for single sentences.
    """
    scored = _metric(True).sentence_score(" ".join(hypothesis), [" ".join(reference)])
    return float(scored.score)


def corpus_bleu(hypotheses: Sequence[Sequence[str]], references: Sequence[Sequence[str]]) -> float:
    """BLEU-4 of all completions together, which is not the mean of the sentences' BLEU."""
    ours, theirs = ([" ".join(tokens) for tokens in side] for side in (hypotheses, references))
    return float(_metric(False).corpus_score(ours, [theirs]).score)


def bleu_signature() -> str:
    """Which BLEU this is, in sacrebleu's spelling: name it beside every number."""
    metric = _metric(True)
    metric.sentence_score("a", ["a"])  # the signature counts the references of the last score
    return str(metric.get_signature())


@cache
def _metric(effective_order: bool) -> Any:
    try:
        from sacrebleu.metrics.bleu import BLEU
    except ImportError as exc:
        raise MetricError(
            "sacrebleu is not installed; install the extra: pip install 'puzzlemark[train]'"
        ) from exc
    return BLEU(tokenize="none", effective_order=effective_order, force=True)
