"""Documents into batches, the same for the same seed: bucketed by length, or packed.

An epoch is known by its number: any of its batches can be had without those before it, so that a
training goes on in the middle.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from puzzlemark.training.documents import Documents, Tokens
from puzzlemark.training.recipes.base import Recipe

WINDOW = 16  # batches that are sorted by length together, so that less padding is computed


class Epoch(Protocol):
    """Every document once, in batches of rows."""

    def __len__(self) -> int:
        """How many batches."""
        ...

    def rows(self, index: int) -> list[Tokens]:
        """The rows of one batch; they may differ in length."""
        ...


@dataclass(frozen=True, slots=True)
class Bucketed:
    """A row is a document; documents of like length share a batch."""

    documents: Documents
    batches: list[NDArray[np.int64]]

    def __len__(self) -> int:
        return len(self.batches)

    def rows(self, index: int) -> list[Tokens]:
        """The documents of one batch."""
        return [self.documents[int(each)] for each in self.batches[index]]


@dataclass(frozen=True, slots=True)
class Packed:
    """Documents one after the other, cut into rows of equal length; the last may be shorter."""

    documents: Documents
    order: NDArray[np.int64]
    ends: NDArray[np.int64]  # of the documents in this order, in the joined text
    width: int
    batch: int

    def __len__(self) -> int:
        return -(-int(self.ends[-1]) // (self.width * self.batch))

    def rows(self, index: int) -> list[Tokens]:
        """So many pieces of the joined text."""
        start = index * self.batch * self.width
        end = min(start + self.batch * self.width, int(self.ends[-1]))
        joined = self._joined(start, end)
        return [joined[at : at + self.width] for at in range(0, len(joined), self.width)]

    def _joined(self, start: int, end: int) -> Tokens:
        first = int(np.searchsorted(self.ends, start, side="right"))
        last = int(np.searchsorted(self.ends, end, side="left"))
        pieces = [self.documents[int(each)] for each in self.order[first : last + 1]]
        before = int(self.ends[first - 1]) if first else 0
        return np.concatenate(pieces)[start - before : end - before]


def epoch(documents: Documents, recipe: Recipe, seed: int, number: int) -> Epoch:
    """One pass over the documents; another number is another order."""
    rng = np.random.default_rng([seed, number])
    order = rng.permutation(len(documents))
    if recipe.batching == "packed":
        ends = np.cumsum(documents.lengths[order])
        return Packed(documents, order, ends, recipe.max_tokens, recipe.batch)
    return Bucketed(documents, _bucket(order, documents.lengths, recipe.batch, rng))


def count_batches(documents: Documents, recipe: Recipe) -> int:
    """How many batches every epoch has."""
    if recipe.batching == "packed":
        return -(-len(documents.tokens) // (recipe.max_tokens * recipe.batch))
    return -(-len(documents) // recipe.batch)


def _bucket(
    order: NDArray[np.int64], lengths: NDArray[np.int64], batch: int, rng: np.random.Generator
) -> list[NDArray[np.int64]]:
    batches: list[NDArray[np.int64]] = []
    for start in range(0, len(order), batch * WINDOW):
        window = order[start : start + batch * WINDOW]
        window = window[np.argsort(lengths[window], kind="stable")]
        batches += (window[at : at + batch] for at in range(0, len(window), batch))
    # otherwise short documents would always come before long ones
    return [batches[index] for index in rng.permutation(len(batches))]
