"""The snippets of a corpus as tokens, and these as batches: bucketed by length, or packed.

Tokens are one integer array, with where each document begins. An epoch is known by its number: any
of its batches can be had without those before it, so that a training goes on in the middle.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from puzzlemark.corpora.base import Corpus
from puzzlemark.corpora.records import corpus_digest, record_digest
from puzzlemark.errors import CorpusError
from puzzlemark.progress import Progress
from puzzlemark.training.recipes.base import Recipe

Tokens = NDArray[np.int32]
Encode = Callable[[list[str]], list[list[int]]]  # snippets -> their tokens, end-of-text included

CHUNK = 256  # snippets that are tokenised together


@dataclass(frozen=True, slots=True)
class Documents:
    """What is trained on."""

    tokens: Tokens  # of all documents, one after the other
    starts: NDArray[np.int64]  # of each document, and the end of the last

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def lengths(self) -> NDArray[np.int64]:
        """How many tokens each has."""
        return np.diff(self.starts)

    def __getitem__(self, index: int) -> Tokens:
        return self.tokens[self.starts[index] : self.starts[index + 1]]


@dataclass(frozen=True, slots=True)
class Reading:
    """What became of the records of a corpus."""

    digest: str
    records: int
    documents: int
    tokens: int
    cut: int  # documents that lost their end
    left_out: dict[str, int]  # records by reason


def gather(documents: Sequence[Sequence[int]]) -> Documents:
    """Documents from lists of tokens: `gather([[1, 2], [3]])[1] -> [3]`."""
    lengths = [len(document) for document in documents]
    tokens = np.fromiter((id_ for each in documents for id_ in each), np.int32, sum(lengths))
    return Documents(tokens, np.concatenate(([0], np.cumsum(lengths, dtype=np.int64))))


def read_documents(
    corpus: Corpus, encode: Encode, recipe: Recipe, progress: Progress
) -> tuple[Documents, Reading]:
    """Tokenise every snippet of the corpus, in its order, in one pass."""
    digests: list[bytes] = []
    left_out: Counter[str] = Counter()
    whole: list[Tokens] = []
    cut = 0
    for codes in _chunks(_codes(corpus, digests, left_out)):
        for document in encode(codes):
            reason = _refusal(document, recipe)
            if reason is not None:
                left_out[reason] += 1
                continue
            # packed rows go on with the document in the next row: nothing is cut off
            kept = document if recipe.batching == "packed" else document[: recipe.max_tokens]
            cut += len(kept) < len(document)
            whole.append(np.array(kept, np.int32))
        progress("reading", len(digests), None)
    progress("reading", len(digests), len(digests))
    if not whole:
        reasons = ", ".join(f"{count} {reason}" for reason, count in left_out.most_common())
        raise CorpusError(f"{corpus.path}: nothing to train on: {reasons}")
    documents = Documents(np.concatenate(whole), _starts(whole))
    return documents, Reading(
        digest=corpus_digest(digests),
        records=len(digests),
        documents=len(documents),
        tokens=len(documents.tokens),
        cut=cut,
        left_out=dict(sorted(left_out.items())),
    )


def _codes(corpus: Corpus, digests: list[bytes], left_out: Counter[str]) -> Iterator[str]:
    for entry in corpus.entries():
        digests.append(record_digest(entry.id, entry.code))
        if entry.reason is None and entry.code is not None:
            yield entry.code
        else:
            left_out[entry.reason or "null code"] += 1


def _chunks(codes: Iterator[str]) -> Iterator[list[str]]:
    while chunk := list(islice(codes, CHUNK)):
        yield chunk


def _refusal(document: list[int], recipe: Recipe) -> str | None:
    if len(document) < 2:
        return "a single token, with nothing to predict"
    if recipe.longer == "skip" and len(document) > recipe.max_tokens:
        return f"longer than {recipe.max_tokens} tokens"
    return None


def _starts(whole: Sequence[Tokens]) -> NDArray[np.int64]:
    return np.concatenate(([0], np.cumsum([len(each) for each in whole], dtype=np.int64)))


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
