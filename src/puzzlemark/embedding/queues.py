"""Rows in the secret order, taken some at a time; none of the others is sorted, or held.

Which ones come next is found by a threshold: the numbers of the order are read in pieces, from a
column on disk, some times over.
"""

from collections.abc import Callable, Iterator
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from puzzlemark.carriers.ranks import Keys, ranked
from puzzlemark.embedding.columns import Sliceable, pieces

Mask: TypeAlias = NDArray[np.bool_]
Rows: TypeAlias = NDArray[np.int64]
Place: TypeAlias = tuple[int, int]  # in the secret order: by number, then by row
Pieces: TypeAlias = Callable[[], Iterator[tuple[Keys, Rows]]]  # rows ascend

END: Place = (1 << 64, 0)  # after all of them


class Queue:
    """The rows of a mask by their place in the secret order; ties, and dataset order, by row.

    The mask is the queue's own: rows that are taken leave it.
    """

    def __init__(self, mask: Mask, order: Sliceable[np.uint64] | None) -> None:
        self._mask, self._order = mask, order
        self._rest = int(np.count_nonzero(mask))

    def __len__(self) -> int:
        return self._rest

    def take(self, size: int) -> Rows:
        """The next ones, by row; fewer at the end."""
        size = min(size, self._rest)
        found = np.zeros(size, np.int64)
        if not size:
            return found
        last, at = place_of(self.waiting, size), 0
        for keys, rows in self.waiting():
            more = rows[are_met(keys, rows, last)]
            found[at : at + len(more)] = more
            at += len(more)
        self._mask[found] = False
        self._rest -= size
        return found

    def waiting(self) -> Iterator[tuple[Keys, Rows]]:
        """Those that were not taken, with their numbers, some at a time."""
        for some in pieces(len(self._mask)):
            rows = np.flatnonzero(self._mask[some])
            if len(rows):
                yield self._numbers(some, rows), rows + some.start

    def numbered(self, taken: Rows) -> Iterator[tuple[Keys, Rows]]:
        """The same for rows that were taken, and ascend."""
        for some in pieces(len(self._mask)):
            rows = taken[slice(*np.searchsorted(taken, (some.start, some.stop)))]
            if len(rows):
                yield self._numbers(some, rows - some.start), rows

    def _numbers(self, some: slice, rows: Rows) -> Keys:
        """Those of rows of a piece, counted from its first."""
        if self._order is None:
            start: int = some.start
            return (rows + start).astype(np.uint64)
        return np.asarray(self._order[some][rows])


def place_of(numbered: Pieces, nth: int) -> Place:
    """The place of the nth of some rows, counted from 1; there are as many or more."""
    number = ranked(lambda: (keys for keys, _ in numbered()), nth - 1)
    last = np.uint64(number)
    ties = nth - sum(int(np.count_nonzero(keys < last)) for keys, _ in numbered())
    for keys, rows in numbered():
        equal = rows[keys == last]
        if len(equal) >= ties:
            return number, int(equal[ties - 1])
        ties -= len(equal)
    raise AssertionError("fewer rows than were asked for")


def are_met(keys: Keys, rows: Rows, last: Place) -> Mask:
    """Which of some rows are met by a walk up to this place, and with it."""
    if last == END:
        return np.ones(len(rows), np.bool_)
    number, row = np.uint64(last[0]), last[1]
    return np.asarray((keys < number) | ((keys == number) & (rows <= row)))
