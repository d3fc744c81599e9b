"""What is known of every record, or of every carrier, on disk: a dataset may have billions.

The files have no names. They wait in memory while they are small, and go with whoever uses them.
"""

import sys
import tempfile
import weakref
from array import array
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from threading import Lock
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

Kind = TypeVar("Kind", bound=np.generic)
Item = TypeVar("Item", bound=np.generic, covariant=True)

PIECE = 1 << 13  # records that are looked at together
_IN_MEMORY = 1 << 20  # bytes


class Sliceable(Protocol[Item]):
    """An array, or a column on disk: both give a part of themselves."""

    def __len__(self) -> int: ...

    def __getitem__(self, rows: slice, /) -> NDArray[Item]: ...


class _File:
    """A file without a name, which others on this machine cannot read."""

    def __init__(self, folder: Path | None) -> None:
        if sys.platform == "win32":
            folder = None  # there an open file has a name, and keeps its folder
        while folder is not None and not folder.is_dir():
            folder = folder.parent
        place = None if folder is None else str(folder)
        self._file = tempfile.SpooledTemporaryFile(_IN_MEMORY, dir=place)  # noqa: SIM115
        self._lock = Lock()
        weakref.finalize(self, self._file.close)
        self.size = 0

    def append(self, content: bytes) -> None:
        with self._lock:
            self._file.seek(self.size)
            self.size += self._file.write(content)

    def read(self, start: int, size: int) -> bytes:
        with self._lock:
            self._file.seek(start)
            return self._file.read(size)


class Column(Generic[Kind]):
    """Numbers of every record: written from the first to the last, read in pieces.

    `column[10:20]` is an array. A row has one number, or `width` of them.
    """

    def __init__(self, kind: DTypeLike, width: int = 0, *, folder: Path | None = None) -> None:
        self._kind, self._width = np.dtype(kind), width
        self._row = self._kind.itemsize * max(width, 1)
        self._file = _File(folder)

    def __len__(self) -> int:
        return self._file.size // self._row

    def append(self, more: NDArray[Any] | bytes) -> None:
        """Add the numbers of the next records."""
        content = more if isinstance(more, bytes) else more.astype(self._kind).tobytes()
        self._file.append(content)

    def __getitem__(self, rows: slice, /) -> NDArray[Kind]:
        start, stop, step = rows.indices(len(self))
        assert step == 1, "read in order"
        content = self._file.read(start * self._row, max(stop - start, 0) * self._row)
        numbers: NDArray[Kind] = np.frombuffer(content, self._kind)
        return numbers.reshape(-1, self._width) if self._width else numbers


def pieces(records: int) -> Iterator[slice]:
    """All rows, some at a time: the same cuts for any engine and any shards."""
    return (slice(at, min(at + PIECE, records)) for at in range(0, records, PIECE))


class Lines(Mapping[int, bytes]):
    """A line for each of some rows, by row; twenty bytes of each stay in memory.

    Lines are written as they come, and are there once they are `accept`ed.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._file = _File(folder)
        self.rows: NDArray[np.int64] = np.zeros(0, np.int64)  # ascending
        self._starts = np.zeros(0, np.int64)
        self._sizes = np.zeros(0, np.int32)
        self._begun = 0  # where the lines begin that wait
        self._waiting = (array("q"), array("i"))  # their rows and sizes

    @classmethod
    def of(cls, lines: Iterable[tuple[int, bytes]]) -> "Lines":
        """These lines; rows ascend."""
        made = cls()
        for row, line in lines:
            made.write(row, line)
        made.accept()
        return made

    def write(self, row: int, line: bytes) -> None:
        """Keep a line that may be accepted."""
        rows, sizes = self._waiting
        rows.append(row)
        sizes.append(len(line))
        self._file.append(line)

    def accept(self, rows: NDArray[np.int64] | None = None) -> None:
        """Take the lines that wait: all, or those of some rows, which ascend; forget the others."""
        waiting, sizes = (np.frombuffer(each, each.typecode) for each in self._waiting)
        starts = self._begun + np.cumsum(sizes, dtype=np.int64) - sizes
        self._begun, self._waiting = self._file.size, (array("q"), array("i"))
        taken = np.ones(len(waiting), np.bool_) if rows is None else _are_in(waiting, rows)
        every = np.concatenate((self.rows, waiting[taken]))
        order = np.argsort(every, kind="stable")
        self.rows = every[order]
        self._starts = np.concatenate((self._starts, starts[taken]))[order]
        self._sizes = np.concatenate((self._sizes, sizes[taken]))[order]

    def leave_out(self, rows: Iterable[int]) -> None:
        """Forget the lines of some rows."""
        kept = ~np.isin(self.rows, np.fromiter(rows, np.int64))
        self.rows, self._starts = self.rows[kept], self._starts[kept]
        self._sizes = self._sizes[kept]

    def __getitem__(self, row: int) -> bytes:
        at = int(np.searchsorted(self.rows, row))
        if at == len(self.rows) or self.rows[at] != row:
            raise KeyError(row)
        return self._file.read(int(self._starts[at]), int(self._sizes[at]))

    def __contains__(self, row: object) -> bool:
        if not isinstance(row, int | np.integer):
            return False
        at = int(np.searchsorted(self.rows, row))
        return at < len(self.rows) and bool(self.rows[at] == row)

    def __iter__(self) -> Iterator[int]:
        # not all at once: as Python's numbers they would be four times as large
        for at in range(0, len(self.rows), PIECE):
            yield from self.rows[at : at + PIECE].tolist()

    def __len__(self) -> int:
        return len(self.rows)

    def __reduce__(self) -> tuple[Any, ...]:
        return Lines.of, (list(self.items()),)


def _are_in(rows: NDArray[np.int64], some: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which rows are among some that ascend; `np.isin` would sort both, in ten times the room."""
    if not len(some):
        return np.zeros(len(rows), np.bool_)
    places = np.minimum(np.searchsorted(some, rows), len(some) - 1)
    return np.asarray(some[places] == rows)
