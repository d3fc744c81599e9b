"""Two datasets side by side, a record at a time; neither is held in memory."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import orjson
import pyarrow as pa

from puzzlemark.auditing.checks.base import Pair
from puzzlemark.corpora.base import Batch, Corpus
from puzzlemark.corpora.formats.base import load_format
from puzzlemark.corpora.records import BATCH_RECORDS
from puzzlemark.errors import CorpusError

BOM = b"\xef\xbb\xbf"
Batches: TypeAlias = Iterator[Batch]


@dataclass(frozen=True, slots=True)
class Compared:
    """Some records that were compared: how many, and those of them that differ."""

    records: int
    moved_lines: int
    pairs: tuple[Pair, ...]


def compare_shards(original: Corpus, marked: Corpus, at: int, start: int) -> Iterator[Compared]:
    """The records of the shards number `at`, the first of which is row `start`."""
    old, new = (_batches(corpus, at, start) for corpus in (original, marked))
    compare = COMPARISONS.get(marked.shards[at].format, _compare_records)
    try:
        yield from compare(old, new)
    except ValueError as exc:
        names = f"{original.shards[at].path} and {marked.shards[at].path}"
        raise CorpusError(
            f"{names}: not the same number of records; pass a dataset and its marked version"
        ) from exc


def _batches(corpus: Corpus, at: int, start: int) -> Batches:
    shard = corpus.shards[at]
    return load_format(shard.format).batches(
        shard, corpus.columns, corpus.language, start=start, rows=None, whole=True
    )


def _compare_lines(old: Batches, new: Batches) -> Iterator[Compared]:
    pairs: list[Pair] = []
    count = moved = 0
    for (row, name, number, before), (_, _, other, after) in zip(
        _lines(old), _lines(new), strict=True
    ):
        count += 1
        moved += number != other
        if before != after:
            where = f"{name}:{number}"
            records = _decode(before, where), _decode(after, where)
            pairs.append(Pair(row, where, *records, before, after))
        if count == BATCH_RECORDS:
            yield Compared(count, moved, tuple(pairs))
            pairs, count, moved = [], 0, 0
    yield Compared(count, moved, tuple(pairs))


def _lines(batches: Batches) -> Iterator[tuple[int, str, int, bytes]]:
    for batch in batches:
        assert batch.lines is not None
        lines = load_format(batch.format).split(batch)
        for row, number, line in zip(batch.rows.tolist(), batch.lines.tolist(), lines, strict=True):
            yield row, batch.shard, number, line


def _decode(line: bytes, where: str) -> dict[str, Any]:
    text = line.removeprefix(BOM)
    try:
        return dict(orjson.loads(text))
    except (orjson.JSONDecodeError, TypeError, ValueError):
        pass
    try:
        return dict(json.loads(text.decode()))
    except (ValueError, TypeError, RecursionError) as exc:
        raise CorpusError(f"{where}: not a JSON object; repair the line") from exc


def _compare_records(old: Batches, new: Batches) -> Iterator[Compared]:
    """Records of any format, by their values."""
    pairs: list[Pair] = []
    count = 0
    for (row, name, before), (_, _, after) in zip(_values(old), _values(new), strict=True):
        count += 1
        if before != after and repr(before) != repr(after):
            pairs.append(Pair(row, f"{name}: row {row}", before, after))
        if count == BATCH_RECORDS:
            yield Compared(count, 0, tuple(pairs))
            pairs, count = [], 0
    yield Compared(count, 0, tuple(pairs))


def _values(batches: Batches) -> Iterator[tuple[int, str, Any]]:
    for batch in batches:
        for row, record in zip(batch.rows.tolist(), batch.records(), strict=True):
            yield row, batch.shard, dict(record)


def _compare_tables(old: Batches, new: Batches) -> Iterator[Compared]:
    left, right = _Tables(old), _Tables(new)
    row = None
    while True:
        size = min(left.fill(), right.fill())
        if not size:
            if left.fill() or right.fill():
                raise ValueError("one ends before the other")
            return
        row = left.row if row is None else row
        before, after = left.take(size), right.take(size)
        places = _differing(before, after)
        records = zip(places, _records(before, places), _records(after, places), strict=True)
        pairs = [Pair(row + at, f"{right.shard}: row {row + at}", a, b) for at, a, b in records]
        row += size
        yield Compared(size, 0, tuple(pairs))


class _Tables:
    """Batches of a Parquet file as one table that is taken from the front."""

    def __init__(self, batches: Batches) -> None:
        self._batches = batches
        self._table: Any = None
        self.row, self.shard = 0, ""

    def fill(self) -> int:
        """How many rows are at hand, after reading on when there were none."""
        while self._table is None or not self._table.num_rows:
            batch = next(self._batches, None)
            if batch is None:
                return 0
            self.row, self.shard = int(batch.rows[0]), batch.shard
            with pa.ipc.open_stream(batch.payload) as reader:
                self._table = reader.read_all()
        return int(self._table.num_rows)

    def take(self, size: int) -> Any:
        taken, self._table = self._table.slice(0, size), self._table.slice(size)
        return taken


def _differing(before: Any, after: Any) -> list[int]:
    """The rows with a cell that differs, in the columns that both have."""
    places: set[int] = set()
    for name in before.schema.names:
        if name not in after.schema.names or before[name].equals(after[name]):
            continue
        cells = zip(before[name].to_pylist(), after[name].to_pylist(), strict=True)
        # a NaN is not equal to itself
        places |= {at for at, (a, b) in enumerate(cells) if a != b and repr(a) != repr(b)}
    return sorted(places)


def _records(table: Any, places: list[int]) -> Iterator[dict[str, Any]]:
    for at in places:
        (record,) = table.slice(at, 1).to_pylist()
        yield record


COMPARISONS: dict[str, Callable[[Batches, Batches], Iterator[Compared]]] = {
    "jsonl": _compare_lines,
    "json": _compare_lines,
    "parquet": _compare_tables,
    "arrow": _compare_tables,
}
