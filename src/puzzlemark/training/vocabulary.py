"""The softmax over the pieces that a corpus uses: a few thousand of fifty thousand.

The head of a small model costs as much as eight of its layers, and most of it is spent on pieces
that never occur. With fewer pieces the loss is normalised over those alone: it is the loss of the
same network in which all other pieces were impossible. Weights of the head are not touched, and
outside of `narrowed` the network is an ordinary one, with all of its pieces.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from puzzlemark.models.base import ModelError
from puzzlemark.training.documents import Documents


@dataclass(slots=True)
class CorpusVocabulary:
    """The pieces of a corpus, numbered anew: `[7, 7, 2] -> pieces [2, 7], targets [1, 1, 0]`."""

    network: Any
    pieces: NDArray[np.int64]  # in their old order
    _numbers: NDArray[np.int64]  # new number of each piece
    _rows: Callable[[], tuple[Any, Any]]  # weight and bias of the head, for these pieces

    @classmethod
    def of(cls, network: Any, documents: Documents) -> "CorpusVocabulary":
        """What occurs in the documents."""
        import torch

        head = network.get_output_embeddings()
        if not isinstance(head, torch.nn.Linear):
            raise ModelError("the model's head is no linear layer; pass --vocabulary all")
        pieces = np.unique(documents.tokens).astype(np.int64)
        numbers = np.zeros(int(pieces[-1]) + 1, np.int64)
        numbers[pieces] = np.arange(len(pieces))
        return cls(network, pieces, numbers, _rows_of(head, pieces))

    def renumber(self, targets: NDArray[np.int64], ignored: int) -> NDArray[np.int64]:
        """Targets by their new numbers; those that count for nothing stay."""
        return np.where(targets == ignored, ignored, self._numbers[np.maximum(targets, 0)])

    @contextmanager
    def narrowed(self) -> Iterator[None]:
        """Within, the network's logits are those of the corpus's pieces."""
        from torch.nn.functional import linear

        head = self.network.get_output_embeddings()
        weight, bias = self._rows()
        head.forward = lambda states: linear(states, weight, bias)
        try:
            yield
        finally:
            del head.forward


def _rows_of(head: Any, pieces: NDArray[np.int64]) -> Callable[[], tuple[Any, Any]]:
    import torch

    places = torch.from_numpy(pieces).to(head.weight.device)

    def select() -> tuple[Any, Any]:
        return head.weight[places], None if head.bias is None else head.bias[places]

    if head.weight.requires_grad:
        return select  # it changes with every step
    kept = select()
    return lambda: kept
