"""Pieces of a dataset, which workers read for themselves: whoever sends them sends no code.

A piece is a shard, or a run of row groups of one that can be entered in the middle. Where there are
too few of them for all workers, such as one compressed file, batches are read here and sent.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar, cast

import numpy as np

from puzzlemark.corpora.formats.base import Enterable, load_format
from puzzlemark.corpora.records import Batch, Columns, Rows
from puzzlemark.corpora.shards import Shard

Result = TypeVar("Result")

PIECE = 8192  # records: row groups smaller than this are read together


@dataclass(frozen=True, slots=True)
class Piece:
    """Some records of a shard that one worker reads."""

    shard: Shard
    columns: Columns
    language: str | None
    start: int  # the dataset's row number of the shard's first record
    rows: Rows | range | None  # sorted; None: all of the shard
    whole: bool = False  # whether records have all of their columns

    def batches(self) -> Iterator[Batch]:
        """What is read of them at a time."""
        rows = self.rows
        if isinstance(rows, range):  # not before: whoever sends many pieces holds no row of them
            rows = np.arange(rows.start, rows.stop, dtype=np.int64)
        return load_format(self.shard.format).batches(
            self.shard,
            self.columns,
            self.language,
            start=self.start,
            rows=rows,
            whole=self.whole,
        )

    def split(self) -> list[Batch]:
        """One batch for each record, to find one that ends a worker."""
        return [one for batch in self.batches() for one in batch.split()]

    def describe(self) -> str:
        """The name of the shard, for an error."""
        return self.shard.name

    @property
    def name(self) -> str:
        """By its rows, to keep its results under."""
        if self.rows is not None:
            return f"{self.rows[0]}-{self.rows[-1]}"
        assert self.shard.ends is not None, "counted"
        return f"{self.start}-{self.start + self.shard.ends[-1] - 1}"


def work_through(piece: "Piece | Batch", function: Callable[[Batch], Result]) -> list[Result]:
    """What a worker does with a piece: the results of its batches, in their order.

    A single record, which a piece was split into, is a batch already.
    """
    if isinstance(piece, Batch):
        return [function(piece)]
    return [function(batch) for batch in piece.batches()]


def find_ends(shard: Shard) -> tuple[int, ...]:
    """Where the parts of a shard end that can be read one by one; a whole shard is one."""
    variant = load_format(shard.format)
    if is_enterable(shard):
        return cast("Enterable", variant).ends(shard)
    return (variant.count(shard),)


def is_enterable(shard: Shard) -> bool:
    """Whether the file can be read from places in its middle."""
    return hasattr(load_format(shard.format), "ends")


def cut(
    shards: tuple[Shard, ...],
    columns: Columns,
    language: str | None,
    rows: Rows | None,
    *,
    whole: bool = False,
) -> Iterator[Piece]:
    """The pieces of a dataset that was counted, or those with some of the sorted rows."""
    start = 0
    for shard in shards:
        assert shard.ends is not None, "counted"
        for first, last in _runs(shard.ends):
            wanted: Rows | range | None = None
            if rows is not None:
                wanted = rows[slice(*np.searchsorted(rows, (start + first, start + last)))]
            elif (first, last) != (0, shard.ends[-1]):
                wanted = range(start + first, start + last)
            if wanted is None or len(wanted):
                yield Piece(shard, columns, language, start, wanted, whole)
        start += shard.ends[-1]


def _runs(ends: tuple[int, ...]) -> Iterator[tuple[int, int]]:
    """`(1000, 9000, 9500) -> (0, 9000), (9000, 9500)`: parts together until they are a piece."""
    first = 0
    for end in ends:
        if end - first >= PIECE or end == ends[-1]:
            if end > first:
                yield first, end
            first = end
