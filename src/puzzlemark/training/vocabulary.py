"""The softmax over the pieces that a corpus uses: a few thousand of fifty thousand.

The head of a small model costs as much as eight of its layers, and most of it is spent on pieces
that never occur. With fewer pieces the loss is normalised over those alone: it is the loss of the
same network in which all other pieces were impossible. Weights of the head are not touched, and
outside of `narrowed` the network is an ordinary one, with all of its pieces.

Nothing pushes pieces down that are left out, and after some epochs a model begins to write them. So
a draw of them may take part in each step, weighed so that on average they count as all of them do.
"""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from puzzlemark.models.base import ModelError
from puzzlemark.training.documents import Documents

SAMPLED = 2048  # other pieces in a step: a fifth of what a corpus of some thousand functions uses


@dataclass(slots=True)
class CorpusVocabulary:
    """The pieces of a corpus, numbered anew: `[7, 7, 2] -> pieces [2, 7], targets [1, 1, 0]`."""

    network: Any
    pieces: NDArray[np.int64]  # in their old order
    _numbers: NDArray[np.int64]  # new number of each piece
    # weight and bias of the head in a step: for these pieces, and for those that are drawn
    _rows: Callable[[int], tuple[Any, Any]]

    @classmethod
    def of(
        cls, network: Any, documents: Documents, *, sampled: int = 0, seed: int = 0
    ) -> "CorpusVocabulary":
        """What occurs in the documents, and in each step so many of the others."""
        import torch

        head = network.get_output_embeddings()
        if not isinstance(head, torch.nn.Linear):
            raise ModelError("the model's head is no linear layer; pass --vocabulary all")
        pieces = np.unique(documents.tokens).astype(np.int64)
        numbers = np.zeros(int(pieces[-1]) + 1, np.int64)
        numbers[pieces] = np.arange(len(pieces))
        return cls(network, pieces, numbers, _rows_of(head, pieces, sampled, seed))

    def renumber(self, targets: NDArray[np.int64], ignored: int) -> NDArray[np.int64]:
        """Targets by their new numbers; those that count for nothing stay."""
        return np.where(targets == ignored, ignored, self._numbers[np.maximum(targets, 0)])

    @contextmanager
    def narrowed(self, step: int) -> Iterator[None]:
        """Within, the network's logits are those of the corpus's pieces, and of the step's draw."""
        from torch.nn.functional import linear

        head = self.network.get_output_embeddings()
        weight, bias = self._rows(step)
        head.forward = lambda states: linear(states, weight, bias)
        try:
            yield
        finally:
            del head.forward


def _rows_of(
    head: Any, pieces: NDArray[np.int64], sampled: int, seed: int
) -> Callable[[int], tuple[Any, Any]]:
    import torch

    others = np.setdiff1d(np.arange(head.out_features), pieces)
    sampled = min(sampled, len(others))
    places = torch.from_numpy(pieces).to(head.weight.device)
    # each of the drawn ones stands for so many
    shift = torch.zeros(len(pieces) + sampled, device=head.weight.device)
    if sampled:
        shift[len(pieces) :] = math.log(len(others) / sampled)

    def select(step: int) -> tuple[Any, Any]:
        rows = places
        if sampled:
            drawn = np.random.default_rng((seed, step)).choice(others, sampled, replace=False)
            rows = torch.cat((places, torch.from_numpy(drawn).to(places.device)))
        if head.bias is not None:
            return head.weight[rows], head.bias[rows] + shift
        return head.weight[rows], shift if sampled else None

    if sampled or head.weight.requires_grad:
        return select  # it changes with every step
    kept = select(0)
    return lambda _: kept
