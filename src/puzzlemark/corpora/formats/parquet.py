"""Parquet: the same schema, row groups, compression and encodings, one row group in memory."""

from collections.abc import Generator, Iterator, Mapping, Set
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from puzzlemark.corpora.columns import Columns
from puzzlemark.corpora.derived import CellChange, NewValue, edit_text, text_of
from puzzlemark.corpora.records import BATCH_BYTES, BATCH_RECORDS, Batch, Record, Rows, choose_rows
from puzzlemark.corpora.revising import Reviser
from puzzlemark.corpora.shards import Shard
from puzzlemark.errors import CorpusError

EXTENSIONS = (".parquet", ".pq")


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
                        payload = _pack(table if rows is None else table.take(pa.array(chosen)))
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
        options = writer_options(file, {reviser.columns.code, *reviser.derivations})
        with pq.ParquetWriter(target, file.schema_arrow, **options) as writer:
            for group in range(file.num_row_groups):
                with _reading(shard):
                    table = file.read_row_group(group, use_threads=False)
                revised = _revise_table(table, row, start, reviser, shard)
                writer.write_table(revised, row_group_size=max(1, table.num_rows))
                size = table.num_rows
                del table, revised
                _release_memory()
                row += size
                yield size


def writer_options(file: Any, changing: Set[str]) -> dict[str, Any]:
    """The writer's settings that made this file, as far as its footer tells them."""
    metadata = file.metadata
    options: dict[str, Any] = {
        "version": metadata.format_version,
        "store_schema": b"ARROW:schema" in (metadata.metadata or {}),
    }
    if not metadata.num_row_groups:
        return options
    group = metadata.row_group(0)
    chunks = [group.column(at) for at in range(group.num_columns)]
    sorted_by = {chunks[key.column_index].path_in_schema for key in group.sorting_columns}
    encodings = {chunk.path_in_schema: _plain_encoding(chunk) for chunk in chunks}
    return options | {
        "compression": {c.path_in_schema: _codec(c.compression) for c in chunks},
        "use_dictionary": [c.path_in_schema for c in chunks if c.has_dictionary_page] or False,
        "column_encoding": {path: name for path, name in encodings.items() if name} or None,
        "write_statistics": [c.path_in_schema for c in chunks if c.is_stats_set] or False,
        "write_page_index": any(chunk.has_offset_index for chunk in chunks),
        "use_deprecated_int96_timestamps": any(c.physical_type == "INT96" for c in chunks),
        "use_compliant_nested_type": not any(".list.item" in c.path_in_schema for c in chunks),
        "sorting_columns": None if sorted_by & changing else group.sorting_columns or None,
    }


def _codec(name: str) -> str:
    return "NONE" if name == "UNCOMPRESSED" else name


def _plain_encoding(chunk: Any) -> str | None:
    special = [name for name in chunk.encodings if name.startswith(("DELTA_", "BYTE_STREAM_SPLIT"))]
    return None if chunk.has_dictionary_page or not special else str(special[0])


def _revise_table(table: Any, row: int, start: int, reviser: Reviser, shard: Shard) -> Any:
    wanted = reviser.rows_in(row, row + table.num_rows)
    if not wanted:
        return table
    records = table.take(pa.array([changed - row for changed in wanted])).to_pylist()
    cells: dict[str, dict[int, Any]] = {}
    for changed, record in zip(wanted, records, strict=True):
        revision = reviser.revise(changed, record, f"{shard.name}: row {changed - start}")
        reviser.count(revision)
        for column, change in revision.cells.items():
            cells.setdefault(column, {})[changed - row] = _new_cell(record[column], change)
    for column, values in cells.items():
        at = table.schema.get_field_index(column)
        field = table.schema.field(at)
        table = table.set_column(at, field, _replace(table.column(at), values, field.type))
    return table


def _new_cell(cell: Any, change: CellChange) -> Any:
    if isinstance(change, NewValue):
        return change.new
    text = text_of(cell)
    assert text is not None
    revised = edit_text(text, change.items)
    if isinstance(revised, list):
        return [_like(old, new) for old, new in zip(cell, revised, strict=True)]
    return _like(cell, revised)


def _like(old: Any, new: bytes) -> str | bytes:
    return new if isinstance(old, bytes) else new.decode()


def _replace(column: Any, values: Mapping[int, Any], kind: Any) -> Any:
    if pa.types.is_dictionary(kind):
        plain = _replace(column.cast(kind.value_type), values, kind.value_type)
        return plain.combine_chunks().dictionary_encode().cast(kind)
    fresh = pa.array(list(values.values()), kind)
    pieces: list[Any] = []
    at = 0
    for nth, place in enumerate(values):
        pieces += (*column.slice(at, place - at).chunks, fresh.slice(nth, 1))
        at = place + 1
    return pa.chunked_array([*pieces, *column.slice(at).chunks], kind)


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
