"""What a completion is worth: BLEU on code tokens, loss, unintended activation (paper, section 6).

BLEU is computed by sacrebleu (extra `train`) on tokens of a lexer that takes any text, however
broken. Loss is how surprised a model is by code it never saw: white box, so apart from `models`.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import Any, Protocol

from puzzlemark.errors import PuzzleMarkError
from puzzlemark.models.base import Failure, Model
from puzzlemark.quality.samples import Sample
from puzzlemark.syntax.naming import concatenate, is_plain_identifier


@dataclass(frozen=True, slots=True)
class Loss:
    """Of one text: the sum over its tokens, but for the first, of -ln P[token | tokens before]."""

    nats: float
    tokens: int  # predicted ones

    @property
    def mean(self) -> float:
        """The mean token loss, as in training."""
        return self.nats / self.tokens


class Scorer(Protocol):
    """What can tell a model's loss: not every model can be asked for it."""

    def describe(self) -> dict[str, Any]:
        """For the record: what decides the numbers."""
        ...

    def score(self, text: str) -> Loss | Failure:
        """The loss on one text; a text that does not fit is a failure, and is never cut."""
        ...


@dataclass(frozen=True, slots=True)
class TransformersScorer:
    """Teacher forcing with a transformers network: one text at a time, so without padding."""

    network: Any
    tokenizer: Any
    end_ids: frozenset[int] = frozenset()

    def describe(self) -> dict[str, Any]:
        """The weights are named by the model's own description."""
        return {"kind": "transformers"}

    def score(self, text: str) -> Loss | Failure:
        """One pass over the text."""
        import torch

        ids = list(self.tokenizer(text)["input_ids"])
        while len(ids) > 1 and ids[-1] in self.end_ids:  # that a function ends is not asked
            ids.pop()
        longest = getattr(self.network.config, "max_position_embeddings", None)
        if len(ids) < 2:
            return Failure("fewer than two tokens")
        if longest and len(ids) > longest:
            return Failure(f"{len(ids)} tokens; the model takes {longest}")
        row = torch.tensor([ids], device=self.network.device)
        with torch.inference_mode():
            logits = self.network(input_ids=row).logits[0, :-1]
            loss = torch.nn.functional.cross_entropy(logits.float(), row[0, 1:], reduction="sum")
        return Loss(float(loss), len(ids) - 1)


def scorer_of(model: Model) -> TransformersScorer | None:
    """A scorer on the weights of a model that is open in this process; None for any other."""
    network, tokenizer = (getattr(model, name, None) for name in ("network", "tokenizer"))
    if network is None or tokenizer is None:
        return None
    return TransformersScorer(network, tokenizer, getattr(model, "end_ids", frozenset()))


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


# Longest first. Strings and comments are split like code: a completion that was cut inside a
# string has then the tokens that the whole one begins with, and no quote can swallow the rest.
_OPERATORS = (
    ">>>= <<= >>= >>> **= //= ... == != <= >= && || ++ -- += -= *= /= %= &= |= ^= := -> => :: "
    "<< >> ** //"
).split()
_TOKEN = re.compile(
    r"[^\W\d]\w*"  # a name, a keyword, a word of prose
    r"|\d\w*(?:\.\d\w*)?"  # 10, 0xFF, 1.5e9, 10L
    rf"|{'|'.join(map(re.escape, _OPERATORS))}"
    r"|\S"
)
_NAME = re.compile(r"[^\W\d]\w*")


def tokenize(text: str) -> list[str]:
    """`"x_1 += f('a b')" -> ["x_1", "+=", "f", "(", "'", "a", "b", "'", ")"]`.

    No character but white space is lost. Line ends and indentation are not tokens.
    """
    return _TOKEN.findall(text)


def names_in(text: str) -> set[str]:
    """Every word of a text that could be a name, also in strings and comments."""
    return set(_NAME.findall(text))


@dataclass(frozen=True, slots=True)
class Activation:
    """The new names of one completion that join two variables of the function."""

    names: tuple[str, ...] = ()  # of any two, in the order in which they first occur
    universal: bool = False  # one of them joins the first two variables
    fixed: bool = False  # one of them begins with the given prefix, which is a variable
    natural: bool = False  # all of them are in the function's own continuation, too


def find_activation(sample: Sample, completion: str, prefix: str | None = None) -> Activation:
    """`f(name, path)`, completed by `name_path = 1`: joined, and by the first two variables.

    A name that stands in the prompt already is not new. Only variables of the prompt count: the
    model has not seen the others.
    """
    new = names_in(completion) - names_in(sample.prompt)
    joined = [(target, pair) for target, pair in _targets(sample) if target in new]
    names = dict.fromkeys(target for target, _ in joined)
    return Activation(
        names=tuple(names),
        universal=any(pair == sample.names[:2] for _, pair in joined),
        fixed=any(head == prefix for _, (head, _) in joined),
        natural=bool(joined) and names.keys() <= names_in(sample.continuation),
    )


def _targets(sample: Sample) -> Iterator[tuple[str, tuple[str, str]]]:
    """Every concatenation of two variables, with the two; some can be made in more than one way."""
    for head, tail in combinations(filter(is_plain_identifier, sample.names), 2):
        yield concatenate(head, tail, sample.language.convention), (head, tail)
