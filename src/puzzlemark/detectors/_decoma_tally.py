"""Counts of more keys than fit into memory: sorted runs on disk, merged a piece at a time.

Whoever counts a part of a dataset hands in a run. Whole numbers add up alike in any order and
however the parts are cut, so what is merged is what one pass over everything would have counted.
"""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from puzzlemark.errors import CorpusError

Codes = NDArray[np.uint64]
Numbers = NDArray[np.int64]

PIECE = 1 << 19  # entries that are merged at once
_STEP = 1 << 10  # of so many keys one stays in memory, to find the others by


@dataclass(frozen=True, slots=True)
class Run:
    """Distinct keys, ascending, and how often each was met."""

    keys: Codes
    counts: NDArray[np.uint32]

    def __len__(self) -> int:
        return len(self.keys)

    def keep(self, wanted: NDArray[np.bool_]) -> "Run":
        """Only those keys."""
        return Run(self.keys[wanted], self.counts[wanted])

    @staticmethod
    def of(keys: Codes) -> "Run":
        """Count keys that come in any order."""
        distinct, counts = np.unique(keys, return_counts=True)
        return Run(distinct, counts.astype(np.uint32))


EMPTY = Run(np.zeros(0, np.uint64), np.zeros(0, np.uint32))


def merge(runs: Sequence[Run]) -> Run:
    """`merge([Run([3], [1]), Run([2, 3], [1, 4])]) -> Run([2, 3], [1, 5])`."""
    runs = [run for run in runs if len(run)]
    if len(runs) < 2:
        return runs[0] if runs else EMPTY
    keys = np.concatenate([run.keys for run in runs])
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    counts = np.concatenate([run.counts for run in runs])[order]
    starts = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1])))
    sums = np.add.reduceat(counts, starts, dtype=np.int64)
    assert sums.max() < 1 << 32, "a count is one of functions, of which there are fewer"
    return Run(keys[starts], sums.astype(np.uint32))


@contextmanager
def spilling(folder: Path) -> Iterator[None]:
    """What is written may not fit on the disk."""
    try:
        yield
    except OSError as exc:
        message = f"{folder}: cannot be written: {exc.strerror or exc}; choose another --cache"
        raise CorpusError(message) from exc


class Tally:
    """Runs in a file without a name, which goes with the tally: `with Tally(folder, ...) as t:`.

    The row of a key is `key // width`, below `rows`. What comes out are pieces of whole rows.
    """

    def __init__(self, folder: Path, rows: int, width: int) -> None:
        self._file: Any = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - see __exit__
        self._folder, self._width = folder, width
        self._places: list[int] = []  # of each run in the file
        self._sizes: list[int] = []
        self._marks: list[Codes] = []  # of each run every so many keys
        self._entries = np.zeros(rows, np.int64)  # of each row, over all runs

    def __enter__(self) -> "Tally":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()

    def add(self, run: Run) -> None:
        """Take in what was counted in some part of the dataset."""
        if not len(run):
            return
        with spilling(self._folder):
            self._places.append(self._file.seek(0, 2))
            self._file.write(run.keys.data)
            self._file.write(run.counts.data)
        self._sizes.append(len(run))
        self._marks.append(run.keys[::_STEP].copy())
        rows, entries = np.unique(run.keys // np.uint64(self._width), return_counts=True)
        self._entries[rows.astype(np.int64)] += entries

    def runs(self) -> Iterator[Run]:
        """What was added, as it came."""
        return (self._read(at, 0, size) for at, size in enumerate(self._sizes))

    def pieces(self, entries: int = PIECE) -> Iterator[list[Run]]:
        """All runs, cut between rows, with about so many entries together; lowest keys first.

        A row is never cut. One that has more entries is a piece of its own.
        """
        first = 0
        ends = np.cumsum(self._entries)
        while first < len(ends) and ends[-1] > (done := int(ends[first - 1]) if first else 0):
            last = max(first + 1, int(np.searchsorted(ends, done + entries, side="right")))
            lowest, highest = first * self._width, last * self._width - 1
            piece = [self._between(at, lowest, highest) for at in range(len(self._sizes))]
            yield [run for run in piece if len(run)]
            first = last

    def _between(self, at: int, lowest: int, highest: int) -> Run:
        """The keys of a run from the lowest to the highest."""
        bounds = np.array([lowest, highest], np.uint64)
        before = int(np.searchsorted(self._marks[at], bounds[0], side="left"))
        after = int(np.searchsorted(self._marks[at], bounds[1], side="right"))
        start, stop = max(before - 1, 0) * _STEP, min(after * _STEP, self._sizes[at])
        if start >= stop:
            return EMPTY
        run = self._read(at, start, stop)
        a = int(np.searchsorted(run.keys, bounds[0], side="left"))
        b = int(np.searchsorted(run.keys, bounds[1], side="right"))
        return Run(run.keys[a:b], run.counts[a:b])

    def _read(self, at: int, start: int, stop: int) -> Run:
        place, size = self._places[at], self._sizes[at]
        self._file.seek(place + 8 * start)
        keys = np.frombuffer(self._file.read(8 * (stop - start)), np.uint64)
        self._file.seek(place + 8 * size + 4 * start)
        return Run(keys, np.frombuffer(self._file.read(4 * (stop - start)), np.uint32))
