"""Parquet: the same schema, row groups, compression and encodings, one row group in memory."""

from collections.abc import Generator, Iterator, Set
from contextlib import contextmanager
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from puzzlemark.corpora.formats.base import Additions, Fields, Job
from puzzlemark.corpora.parquet_settings import footer_entries, writer_options
from puzzlemark.corpora.records import (
    BATCH_BYTES,
    BATCH_RECORDS,
    Batch,
    Columns,
    Record,
    Rows,
    choose_rows,
)
from puzzlemark.corpora.revising import Revision, Tally
from puzzlemark.corpora.shards import Shard
from puzzlemark.corpora.tables import (
    decode_dictionaries,
    groups_of,
    keep_rows,
    lay_out,
    pack,
    release_memory,
    require_column,
    revise_table,
    schema_of,
    tables_of,
    take,
    unpack,
)
from puzzlemark.errors import CorpusError

EXTENSIONS = (".parquet", ".pq")

GROUP_ROWS = 5_000  # of a new file


def head(shard: Shard) -> Record | None:
    """The first record."""
    with _open(shard) as file, _reading(shard):
        for group in range(file.num_row_groups):
            if file.metadata.row_group(group).num_rows:
                # of this group alone: pyarrow fetches the bytes of all that it may read
                batches = file.iter_batches(1, row_groups=[group], use_threads=False)
                record: Record = next(batches).to_pylist()[0]
                release_memory()
                return record
    return None


def count(shard: Shard) -> int:
    """How many rows, as the footer says."""
    with _open(shard) as file:
        return int(file.metadata.num_rows)


def ends(shard: Shard) -> tuple[int, ...]:
    """Where its row groups end."""
    with _open(shard) as file:
        sizes = (file.metadata.row_group(n).num_rows for n in range(file.num_row_groups))
        return tuple(accumulate(sizes)) or (0,)


def batches(
    shard: Shard,
    columns: Columns,
    language: str | None,
    *,
    start: int,
    rows: Rows | None,
    whole: bool,
) -> Generator[Batch, None, int]:
    """Stream slices of the row groups that hold wanted rows."""
    with _open(shard) as file, _reading(shard):
        require_column(columns, file.schema_arrow, shard)
        names = (
            None if whole else [name for name in columns.names if name in file.schema_arrow.names]
        )
        row = start
        for group in range(file.num_row_groups):
            size = file.metadata.row_group(group).num_rows
            if rows is None or np.searchsorted(rows, row) < np.searchsorted(rows, row + size):
                for first, table in _slices(file, group, names):
                    chosen = choose_rows(rows, row + first, table.num_rows)
                    if len(chosen):
                        is_all = len(chosen) == table.num_rows
                        payload = pack(table if is_all else take(table, chosen.tolist()))
                        numbers = chosen + row + first
                        yield Batch(
                            "parquet", shard.name, start, numbers, None, payload, columns, language
                        )
            row += size
            release_memory()
    return row - start


def decode(batch: Batch) -> list[Record]:
    """The records of a batch, with the columns that were read."""
    records: list[Record] = unpack(batch).to_pylist()
    return records


def split(batch: Batch) -> list[bytes]:
    """The rows of a batch, each as a table."""
    table = unpack(batch)
    return [pack(table.slice(at, 1)) for at in range(table.num_rows)]


def write(job: Job, additions: Additions = ()) -> Iterator[Tally]:
    """Write row group after row group; additions are row groups of their own."""
    row = job.start
    with _open(job.shard) as file:
        require_column(job.columns, file.schema_arrow, job.shard)
        changing = frozenset() if job.reviser is None else job.reviser.changing
        options = writer_options(job.source, file, changing)
        with pq.ParquetWriter(job.place, file.schema_arrow, **options) as writer:
            for group in range(file.num_row_groups):
                size = file.metadata.row_group(group).num_rows
                kept = choose_rows(job.rows, row, size)
                if job.rows is None or len(kept):
                    yield _write_group(job, file, group, row, kept, changing, writer)
                row += size
            size = _group_rows(file)
            yield from _add(writer, file.schema_arrow, size, additions, job.columns.field)
            writer.add_key_value_metadata(footer_entries(file))


def create(target: Path, additions: Additions, fields: Fields | None) -> Iterator[Tally]:
    """Write row groups of 5,000 records; without `fields` the first of them tell the columns."""
    schema, waiting = schema_of(additions, fields, GROUP_ROWS)
    with pq.ParquetWriter(target, schema, compression="zstd") as writer:
        yield from _add(writer, schema, GROUP_ROWS, waiting)


def _write_group(
    job: Job, file: Any, group: int, row: int, kept: Rows, changing: Set[str], writer: Any
) -> Tally:
    with _reading(job.shard):
        table = file.read_row_group(group, use_threads=False)
    schema, size = table.schema, table.nbytes
    table = decode_dictionaries(table, changing)
    revisions: list[Revision] = []
    if job.reviser is not None:
        table, revisions = revise_table(table, row, job.start, job.reviser, job.shard)
    if job.rows is not None:
        table = keep_rows(table, kept)
    table = lay_out(table, schema, size)
    writer.write_table(table, row_group_size=max(1, table.num_rows))
    del table
    release_memory()
    return Tally.of(len(kept), revisions, job.columns.field)


def _add(
    writer: Any, schema: Any, group_rows: int, additions: Additions, code: str | None = None
) -> Iterator[Tally]:
    for group in groups_of(tables_of(additions, schema, code), group_rows):
        writer.write_table(lay_out(group, schema, group.nbytes), row_group_size=group.num_rows)
        yield Tally(added=group.num_rows)
        release_memory()


def _group_rows(file: Any) -> int:
    sizes = (file.metadata.row_group(at).num_rows for at in range(file.num_row_groups))
    return max(sizes, default=0) or GROUP_ROWS


def _slices(file: Any, group: int, names: list[str] | None) -> Iterator[tuple[int, Any]]:
    """The wanted columns of a row group as tables of about a megabyte, each with its first row."""
    size = file.metadata.row_group(group)
    fitting = size.num_rows * BATCH_BYTES // max(1, size.total_byte_size)
    at = 0
    for batch in file.iter_batches(
        batch_size=min(BATCH_RECORDS, max(16, fitting)),
        row_groups=[group],
        columns=names,
        use_threads=False,
    ):
        yield at, pa.Table.from_batches([batch])
        at += batch.num_rows


@contextmanager
def _open(shard: Shard) -> Iterator[Any]:
    with _reading(shard):
        if isinstance(shard.path, Path):
            file = pq.ParquetFile(shard.path)
        else:  # of a column that is wanted all bytes are fetched at once
            file = pq.ParquetFile(shard.path.open(), pre_buffer=True)
    with file:
        yield file


@contextmanager
def _reading(shard: Shard) -> Iterator[None]:
    try:
        yield
    except PermissionError as exc:
        raise CorpusError(f"{shard.path}: permission denied; check the file") from exc
    except (pa.ArrowException, OSError) as exc:
        reason = str(exc).splitlines()[0]
        raise CorpusError(f"{shard.path}: damaged Parquet ({reason}); fetch it again") from exc
