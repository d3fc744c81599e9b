"""Changes in a file, which workers read for themselves: whoever sends a job sends no edits."""

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import orjson

from puzzlemark.snippet import Edit


class Filed(Mapping[int, tuple[Edit, ...]]):
    """Edits by row; sixteen bytes of each row are in memory, and are sent."""

    def __init__(self, path: Path, rows: Sequence[int], starts: Sequence[int]) -> None:
        self._path = path
        self._rows, self._starts = rows, starts  # rows ascend; each begins there in the file

    @classmethod
    def write(
        cls, path: Path, changes: Mapping[int, tuple[Edit, ...]], rows: Iterable[int]
    ) -> "Filed":
        """The changes of some rows, which ascend."""
        kept, starts = array("q"), array("q")
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            for row in rows:
                kept.append(row)
                starts.append(file.tell())
                file.write(_pack(changes[row]))
        return cls(path, kept, starts)

    def part(self, rows: Sequence[int]) -> "Filed":
        """The same for some of its rows, which ascend."""
        starts = array("q", (self._starts[self._at(row)] for row in rows))
        return Filed(self._path, array("q", rows), starts)

    def __getitem__(self, row: int) -> tuple[Edit, ...]:
        start = self._starts[self._at(row)]
        with self._path.open("rb") as file:
            file.seek(start)
            return _unpack(file.readline())

    def __iter__(self) -> Iterator[int]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __reduce__(self) -> tuple[type["Filed"], tuple[Path, Sequence[int], Sequence[int]]]:
        return Filed, (self._path, self._rows, self._starts)

    def _at(self, row: int) -> int:
        at = bisect_left(self._rows, row)
        if at == len(self._rows) or self._rows[at] != row:
            raise KeyError(row)
        return at


def _pack(edits: Iterable[Edit]) -> bytes:
    """A line of JSON; any bytes are spelled as the characters with their numbers."""
    return orjson.dumps(
        [(edit.start, edit.old.decode("latin-1"), edit.new.decode("latin-1")) for edit in edits],
        option=orjson.OPT_APPEND_NEWLINE,
    )


def _unpack(line: bytes) -> tuple[Edit, ...]:
    edits = orjson.loads(line)
    return tuple(Edit(at, old.encode("latin-1"), new.encode("latin-1")) for at, old, new in edits)
