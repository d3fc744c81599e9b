"""A dataset format: cells with bars between them, as Python's `csv` module writes them."""

import csv
import io
import json
from collections.abc import Generator, Iterator
from pathlib import Path

from puzzlemark.corpora.derived import CellChange, NewValue, TextEdits
from puzzlemark.corpora.formats.base import Additions, Fields, Job, require_code
from puzzlemark.corpora.records import BATCH_RECORDS, Batch, Columns, Record, Rows, choose_rows
from puzzlemark.corpora.revising import Revision, Tally
from puzzlemark.corpora.shards import Shard
from puzzlemark.errors import CorpusError
from puzzlemark.snippet import apply_edits
from puzzlemark.stores import opened

EXTENSIONS = (".psv",)


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
            yield Batch("bars", shard.name, start, chosen + row, None, payload, columns, language)
        row += len(some)
    return row - start


def decode(batch: Batch) -> list[Record]:
    """The records of a batch."""
    records: list[Record] = json.loads(batch.payload)
    return records


def split(batch: Batch) -> list[bytes]:
    """The payload of each record by itself."""
    return [json.dumps([record]).encode() for record in json.loads(batch.payload)]


def write(job: Job, additions: Additions = ()) -> Iterator[Tally]:
    """Write the chosen records with the cells that change; then add others."""
    row, names = job.start, list(head(job.shard) or {})
    with job.place.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, names, delimiter="|")
        writer.writeheader()
        for some in _pieces(job.shard):
            revisions = []
            if job.reviser is not None:
                for changed in job.reviser.rows_in(row, row + len(some)):
                    revision = job.reviser.revise(changed, some[changed - row], job.shard.name)
                    some[changed - row] = _revised(some[changed - row], revision)
                    revisions.append(revision)
            kept = choose_rows(job.rows, row, len(some)).tolist()
            writer.writerows(some[at] for at in kept)
            row += len(some)
            yield Tally.of(len(kept), revisions, job.columns.field)
        yield from _add(writer, additions, job.columns.field)


def create(target: Path, additions: Additions, fields: Fields | None) -> Iterator[Tally]:
    """Write a new file; its columns are those of the fields."""
    if fields is None:
        raise CorpusError(f"{target}: such a file needs to be told its columns")
    with target.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(fields), delimiter="|")
        writer.writeheader()
        yield from _add(writer, additions, None)


def _add(writer: "csv.DictWriter[str]", additions: Additions, code: str | None) -> Iterator[Tally]:
    number = 0
    for each in additions:
        records = each.records() if isinstance(each, Batch) else [each]
        require_code(records, code, number)
        for at, record in enumerate(records, number):
            if unknown := sorted(set(record) - set(writer.fieldnames)):
                raise CorpusError(f"added record {at}: no column {unknown[0]!r} in this file")
        writer.writerows(records)
        number += len(records)
        yield Tally(added=len(records))


def _revised(record: dict[str, str], revision: Revision) -> dict[str, str]:
    changed = {name: _changed(record[name], change) for name, change in revision.cells.items()}
    return record | changed


def _changed(cell: str, change: CellChange) -> str:
    if isinstance(change, TextEdits):
        return apply_edits(cell.encode(), change.items[0]).decode()
    if isinstance(change, NewValue):
        return str(change.new)
    raise CorpusError("a cell of text has no cells inside")


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
        with opened(shard.path) as stream:  # of a disk or of a store
            text = io.TextIOWrapper(stream, encoding="utf-8", newline="")
            for number, record in enumerate(csv.DictReader(text, delimiter="|"), 2):
                if None in record or None in record.values():
                    raise CorpusError(f"{shard.name}: record {number}: not as many cells as names")
                yield record
    except (UnicodeDecodeError, csv.Error) as exc:
        raise CorpusError(f"{shard.name}: not a file of bars in UTF-8 ({exc})") from exc
