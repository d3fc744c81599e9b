"""Mix with other datasets, until a given share of all records is the dataset's own, or marked."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from puzzlemark.attacks.base import Given, Input, Plan
from puzzlemark.corpora.base import Batch, Corpus
from puzzlemark.corpora.records import Rows
from puzzlemark.errors import UsageError

OTHERS: frozenset[Input] = frozenset({"others"})


@dataclass(frozen=True, slots=True)
class Dilution:
    """`Dilution(rate=0.1)`: nine other records for each of the dataset's own.

    The records of the other datasets are drawn by `seed`. A lower rate with the same seed draws the
    same ones and more. They come after the dataset's own, in the order of their datasets.
    """

    rate: float  # the share of own records among all; with `marked`, that of the marked ones
    marked: int | None = None  # how many own records are marked, for one who knows it
    size: int | None = None  # records of the output: then own records are drawn, too
    seed: int = 0
    name: ClassVar[str] = "dilution"
    needs: ClassVar[frozenset[Input]] = OTHERS
    takes: ClassVar[frozenset[Input]] = OTHERS

    def __post_init__(self) -> None:
        if not 0 < self.rate <= 1:
            raise UsageError(f"dilution: rate={self.rate}: a share above 0, and 1 at most")
        if self.marked is not None and self.marked < 1:
            raise UsageError(f"dilution: marked={self.marked}: a number of records, 1 or more")
        if self.marked is not None and self.size is not None:
            raise UsageError(
                "dilution: size draws among own records, so that nobody knows how many of them are "
                "marked; leave out marked or size"
            )
        if self.seed < 0:
            raise UsageError(f"dilution: seed={self.seed}: 0 or more")

    def plan(self, corpus: Corpus, given: Given) -> Plan:
        """Draw as many other records as the rate asks for."""
        own = corpus.count()
        kept, extra = self._sizes(own)
        counts = [other.count() for other in given.others]
        if extra > sum(counts):
            raise UsageError(
                f"dilution: a rate of {self.rate} asks for {extra:,} other records, but --other "
                f"has {sum(counts):,}; pass more of them, or a higher rate"
            )
        rng = np.random.default_rng(self.seed)
        drawn = _drawn(rng, sum(counts), extra)
        rows = None if kept == own else _drawn(rng, own, kept)
        return Plan(
            rows=rows,
            added=_batches(given.others, counts, drawn) if extra else None,
            counts={"own records": kept, "other records": extra},
        )

    def _sizes(self, own: int) -> tuple[int, int]:
        """How many own records stay, and how many others are added.

        The rate is a decimal, and counts are exact: `0.1` of 3 own records are 27 others.
        """
        rate = Fraction(str(self.rate))
        if self.size is not None:
            kept = math.floor(rate * self.size)
            if not 0 < kept <= own:
                raise UsageError(
                    f"dilution: a rate of {self.rate} in {self.size:,} records asks for {kept:,} "
                    f"own ones, and there are {own:,}; choose another size"
                )
            return kept, self.size - kept
        counted = own if self.marked is None else self.marked
        extra = math.ceil(counted / rate) - own
        if counted > own:
            raise UsageError(f"dilution: marked={counted:,}, but there are {own:,} records")
        if extra < 0:
            raise UsageError(
                f"dilution: {counted:,} marked of {own:,} are a rate below {self.rate} already; "
                "choose a lower one"
            )
        return own, extra


def _drawn(rng: np.random.Generator, among: int, count: int) -> Rows:
    """So many of the rows, ascending; the first ones of one order for all counts."""
    return np.sort(rng.permutation(among)[:count]).astype(np.int64)


def _batches(others: Sequence[Corpus], counts: Sequence[int], drawn: Rows) -> Iterator[Batch]:
    """The drawn records of the datasets, which are counted through."""
    start = 0
    for other, count in zip(others, counts, strict=True):
        first, last = np.searchsorted(drawn, (start, start + count))
        if last > first:
            yield from other.batches(drawn[first:last] - start, whole=True)
        start += count


PLUGIN = Dilution
