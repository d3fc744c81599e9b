"""A dataset format: CSV as Python's `csv` module writes it, with a line of column names first."""

import csv
import json
from collections.abc import Generator, Iterator
from pathlib import Path

from puzzlemark.corpora.columns import Columns
from puzzlemark.corpora.derived import CellChange, TextEdits
from puzzlemark.corpora.records import BATCH_RECORDS, Batch, Record, Rows, choose_rows
from puzzlemark.corpora.revising import Reviser
from puzzlemark.corpora.shards import Shard
from puzzlemark.errors import CorpusError
from puzzlemark.snippet import apply_edits

EXTENSIONS = (".csv",)


def head(shard: Shard) -> Record | None:
    """The first record, to recognise the columns by."""
    return next(_records(shard), None)


def count(shard: Shard) -> int:
    """How many records the file has."""
    return sum(1 for _ in _records(shard))


def batches(
    shard: Shard,
    columns: Columns,
    language: str | None,
    *,
    start: int,
    rows: Rows | None,
    whole: bool,  # noqa: ARG001 - a line always has every column
) -> Generator[Batch, None, int]:
    """Stream the records as JSON, which another process can read without the file."""
    row = start
    for some in _pieces(shard):
        chosen = choose_rows(rows, row, len(some))
        if len(chosen):
            payload = json.dumps([some[at] for at in chosen.tolist()]).encode()
            yield Batch("csv", shard.name, start, chosen + row, None, payload, columns, language)
        row += len(some)
    return row - start


def decode(batch: Batch) -> list[Record]:
    """The records of a batch."""
    records: list[Record] = json.loads(batch.payload)
    return records


def split(batch: Batch) -> list[bytes]:
    """The payload of each record by itself."""
    return [json.dumps([record]).encode() for record in json.loads(batch.payload)]


def rewrite(shard: Shard, target: Path, reviser: Reviser, *, start: int) -> Iterator[int]:
    """Write the file again with the cells that the reviser changes."""
    row = start
    with target.open("w", encoding="utf-8", newline="") as stream:
        writer = None
        for some in _pieces(shard):
            if writer is None:
                writer = csv.DictWriter(stream, list(some[0]))
                writer.writeheader()
            for changed in reviser.rows_in(row, row + len(some)):
                some[changed - row] = _revise(some[changed - row], changed, reviser, shard)
            writer.writerows(some)
            row += len(some)
            yield len(some)


def _revise(record: dict[str, str], row: int, reviser: Reviser, shard: Shard) -> dict[str, str]:
    revision = reviser.revise(row, record, f"{shard.name}: row {row}")
    reviser.count(revision)
    return record | {
        name: _changed(record[name], change) for name, change in revision.cells.items()
    }


def _changed(cell: str, change: CellChange) -> str:
    if isinstance(change, TextEdits):
        return apply_edits(cell.encode(), change.items[0]).decode()
    return str(change.new)


def _pieces(shard: Shard) -> Iterator[list[dict[str, str]]]:
    """Some records at a time: a dataset is never held whole."""
    some: list[dict[str, str]] = []
    for record in _records(shard):
        some.append(record)
        if len(some) == BATCH_RECORDS:
            yield some
            some = []
    if some:
        yield some


def _records(shard: Shard) -> Iterator[dict[str, str]]:
    try:
        with shard.path.open(encoding="utf-8", newline="") as stream:
            for number, record in enumerate(csv.DictReader(stream), 2):
                if None in record or None in record.values():
                    raise CorpusError(f"{shard.name}: record {number}: not as many cells as names")
                yield record
    except (UnicodeDecodeError, csv.Error) as exc:
        raise CorpusError(f"{shard.name}: not a CSV file in UTF-8 ({exc})") from exc
