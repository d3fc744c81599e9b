"""Parquet: the same schema, row groups, compression and encodings, one row group in memory."""

import math
from collections.abc import Generator, Iterator, Mapping, Set
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from puzzlemark.corpora.columns import Columns
from puzzlemark.corpora.derived import change_cell, computable
from puzzlemark.corpora.parquet_settings import footer_entries, writer_options
from puzzlemark.corpora.records import BATCH_BYTES, BATCH_RECORDS, Batch, Record, Rows, choose_rows
from puzzlemark.corpora.revising import Reviser
from puzzlemark.corpora.shards import Shard
from puzzlemark.errors import CorpusError

EXTENSIONS = (".parquet", ".pq")

PIECE_BYTES = 1 << 30  # a column of texts in one piece holds two gigabytes at most


def head(shard: Shard) -> Record | None:
    """The first record."""
    with _open(shard) as file, _reading(shard):
        for batch in file.iter_batches(batch_size=1):
            if batch.num_rows:
                record: Record = batch.to_pylist()[0]
                return record
    return None


def count(shard: Shard) -> int:
    """How many rows, as the footer says."""
    with _open(shard) as file:
        return int(file.metadata.num_rows)


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
        _require(columns, file.schema_arrow, shard)
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
                        payload = _pack(table if rows is None else _take(table, chosen.tolist()))
                        numbers = chosen + row + first
                        yield Batch(
                            "parquet", shard.name, start, numbers, None, payload, columns, language
                        )
            row += size
            _release_memory()
    return row - start


def decode(batch: Batch) -> list[Record]:
    """The records of a batch, with the columns that were read."""
    with pa.ipc.open_stream(batch.payload) as reader:
        records: list[Record] = reader.read_all().to_pylist()
    return records


def split(batch: Batch) -> list[bytes]:
    """The rows of a batch, each as a table."""
    with pa.ipc.open_stream(batch.payload) as reader:
        table = reader.read_all()
    return [_pack(table.slice(at, 1)) for at in range(table.num_rows)]


def rewrite(shard: Shard, target: Path, reviser: Reviser, *, start: int) -> Iterator[int]:
    """Write row group after row group."""
    row = start
    with _open(shard) as file:
        _require(reviser.columns, file.schema_arrow, shard)
        changing = {reviser.columns.code, *computable(reviser.derivations)}
        options = writer_options(shard.path, file, changing)
        with pq.ParquetWriter(target, file.schema_arrow, **options) as writer:
            for group in range(file.num_row_groups):
                with _reading(shard):
                    table = file.read_row_group(group, use_threads=False)
                size = table.num_rows
                plain = _decode_dictionaries(table, changing)
                revised = _revise_table(plain, row, start, reviser, shard)
                laid_out = _lay_out(revised, table.schema, table.nbytes)
                writer.write_table(laid_out, row_group_size=max(1, size))
                del table, plain, revised, laid_out
                _release_memory()
                row += size
                yield size
            writer.add_key_value_metadata(footer_entries(file))


def _revise_table(table: Any, row: int, start: int, reviser: Reviser, shard: Shard) -> Any:
    wanted = reviser.rows_in(row, row + table.num_rows)
    if not wanted:
        return table
    records = _take(table, [changed - row for changed in wanted]).to_pylist()
    cells: dict[str, dict[int, Any]] = {}
    for changed, record in zip(wanted, records, strict=True):
        revision = reviser.revise(changed, record, f"{shard.name}: row {changed - start}")
        reviser.count(revision)
        for column, change in revision.cells.items():
            cells.setdefault(column, {})[changed - row] = change_cell(record[column], change)
    for column, values in cells.items():
        at = table.schema.get_field_index(column)
        field = table.schema.field(at)
        table = table.set_column(at, field, _replace(table.column(at), values, field.type))
    return table


def _replace(column: Any, values: Mapping[int, Any], kind: Any) -> Any:
    fresh = pa.array(list(values.values()), kind)
    pieces: list[Any] = []
    at = 0
    for nth, place in enumerate(values):
        pieces += (*column.slice(at, place - at).chunks, fresh.slice(nth, 1))
        at = place + 1
    return pa.chunked_array([*pieces, *column.slice(at).chunks], kind)


def _decode_dictionaries(table: Any, changing: Set[str]) -> Any:
    """The columns that may change as plain values, in every row group, edited or not."""
    for at, field in enumerate(table.schema):
        if field.name in changing and pa.types.is_dictionary(field.type):
            plain = field.with_type(field.type.value_type)
            table = table.set_column(at, plain, table.column(at).cast(plain.type))
    return table


def _lay_out(table: Any, schema: Any, size: int) -> Any:
    """The table in memory as its values alone determine it, whichever of its rows were edited.

    pyarrow ends pages where pieces of a column end, and writes a dictionary as it finds it: pieces
    around edited rows, or a dictionary in another order, would show which rows or groups changed.
    """
    rows = max(1, math.ceil(table.num_rows / math.ceil(max(1, size) / PIECE_BYTES)))
    for at, field in enumerate(schema):
        column = table.column(at)
        starts = range(0, table.num_rows, rows)
        pieces = [column.slice(start, rows).combine_chunks() for start in starts]
        if column.type != field.type:  # a dictionary in the order of its first use
            pieces = [piece.dictionary_encode().cast(field.type) for piece in pieces]
        table = table.set_column(at, field, pa.chunked_array(pieces, field.type))
    return table


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


def _take(table: Any, rows: list[int]) -> Any:
    try:
        return table.take(pa.array(rows))
    except pa.ArrowNotImplementedError:  # views of texts, which some writers declare
        return pa.concat_tables([table.slice(row, 1) for row in rows])


def _release_memory() -> None:
    # Arrow keeps what it freed, one pool per thread: over many row groups that adds up
    pa.default_memory_pool().release_unused()


def _pack(table: Any) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    payload: bytes = sink.getvalue().to_pybytes()
    return payload


def _require(columns: Columns, schema: Any, shard: Shard) -> None:
    if len(set(schema.names)) < len(schema.names):
        raise CorpusError(f"{shard.name}: two columns have the same name; rename one")
    if columns.code not in schema.names:
        names = ", ".join(schema.names)
        raise CorpusError(
            f"{shard.name}: no column {columns.code!r} (it has {names}); pass --code-column"
        )


def _open(shard: Shard) -> Any:
    with _reading(shard):
        return pq.ParquetFile(shard.path)


@contextmanager
def _reading(shard: Shard) -> Iterator[None]:
    try:
        yield
    except PermissionError as exc:
        raise CorpusError(f"{shard.path}: permission denied; check the file") from exc
    except (pa.ArrowException, OSError) as exc:
        reason = str(exc).splitlines()[0]
        raise CorpusError(f"{shard.path}: damaged Parquet ({reason}); fetch it again") from exc
