"""Loss: how surprised a model is by code it never saw. White box, so apart from `models`."""

from dataclasses import dataclass
from typing import Any, Protocol

from puzzlemark.models.base import Failure, Model


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
