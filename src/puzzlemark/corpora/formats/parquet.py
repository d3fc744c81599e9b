"""Parquet: the same schema, row groups, compression and encodings, one row group in memory."""

import math
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from itertools import chain, groupby, islice
from pathlib import Path
from types import GenericAlias
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from puzzlemark.corpora.derived import change_cell
from puzzlemark.corpora.formats.base import Additions, Fields, Job, require_code
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
from puzzlemark.corpora.revising import Reviser, Revision, Tally
from puzzlemark.corpora.shards import Shard
from puzzlemark.errors import CorpusError

EXTENSIONS = (".parquet", ".pq")

GROUP_ROWS = 5_000  # of a new file
TYPES: dict[type | GenericAlias, Callable[[], Any]] = {
    str: pa.string,
    int: pa.int64,
    float: pa.float64,
    bool: pa.bool_,
    list[str]: lambda: pa.list_(pa.string()),
}
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
    records: list[Record] = _unpack(batch).to_pylist()
    return records


def split(batch: Batch) -> list[bytes]:
    """The rows of a batch, each as a table."""
    table = _unpack(batch)
    return [_pack(table.slice(at, 1)) for at in range(table.num_rows)]


def write(job: Job, additions: Additions = ()) -> Iterator[Tally]:
    """Write row group after row group; additions are row groups of their own."""
    row = job.start
    with _open(job.shard) as file:
        _require(job.columns, file.schema_arrow, job.shard)
        changing = frozenset() if job.reviser is None else job.reviser.changing
        options = writer_options(job.shard.path, file, changing)
        with pq.ParquetWriter(job.target, file.schema_arrow, **options) as writer:
            for group in range(file.num_row_groups):
                size = file.metadata.row_group(group).num_rows
                kept = choose_rows(job.rows, row, size)
                if job.rows is None or len(kept):
                    yield _write_group(job, file, group, row, kept, changing, writer)
                row += size
            size = _group_rows(file)
            yield from _add(writer, file.schema_arrow, size, additions, job.columns.code)
            writer.add_key_value_metadata(footer_entries(file))


def create(target: Path, additions: Additions, fields: Fields | None) -> Iterator[Tally]:
    """Write row groups of 5,000 records; without `fields` the first of them tell the columns."""
    waiting = iter(additions)
    if fields is not None:
        schema = pa.schema((name, TYPES[kind]()) for name, kind in fields.items())
    else:
        first = list(islice(waiting, 1))
        if first and not isinstance(first[0], Batch):
            first += islice(waiting, GROUP_ROWS - 1)
        schema = _guess_schema(first)
        waiting = chain(first, waiting)
    with pq.ParquetWriter(target, schema, compression="zstd") as writer:
        yield from _add(writer, schema, GROUP_ROWS, waiting)


def _write_group(
    job: Job, file: Any, group: int, row: int, kept: Rows, changing: Set[str], writer: Any
) -> Tally:
    with _reading(job.shard):
        table = file.read_row_group(group, use_threads=False)
    schema, size = table.schema, table.nbytes
    table = _decode_dictionaries(table, changing)
    revisions: list[Revision] = []
    if job.reviser is not None:
        table, revisions = _revise_table(table, row, job.start, job.reviser, job.shard)
    if job.rows is not None:
        table = _keep(table, kept)
    table = _lay_out(table, schema, size)
    writer.write_table(table, row_group_size=max(1, table.num_rows))
    del table
    _release_memory()
    return Tally.of(len(kept), revisions, job.columns.code)


def _revise_table(
    table: Any, row: int, start: int, reviser: Reviser, shard: Shard
) -> tuple[Any, list[Revision]]:
    wanted = reviser.rows_in(row, row + table.num_rows)
    if not wanted:
        return table, []
    records = _take(table, [changed - row for changed in wanted]).to_pylist()
    cells: dict[str, dict[int, Any]] = {}
    revisions: list[Revision] = []
    for changed, record in zip(wanted, records, strict=True):
        revision = reviser.revise(changed, record, f"{shard.name}: row {changed - start}")
        revisions.append(revision)
        for column, change in revision.cells.items():
            cells.setdefault(column, {})[changed - row] = change_cell(record[column], change)
    for column, values in cells.items():
        at = table.schema.get_field_index(column)
        field = table.schema.field(at)
        table = table.set_column(at, field, _replace(table.column(at), values, field.type))
    return table, revisions


def _keep(table: Any, rows: Rows) -> Any:
    mask = np.zeros(table.num_rows, dtype=bool)
    mask[rows] = True
    try:
        return table.filter(pa.array(mask))
    except pa.ArrowNotImplementedError:  # views of texts, which some writers declare
        return _take(table, rows.tolist())


def _add(
    writer: Any, schema: Any, group_rows: int, additions: Additions, code: str | None = None
) -> Iterator[Tally]:
    for group in _groups(_tables(additions, schema, code), group_rows):
        writer.write_table(_lay_out(group, schema, group.nbytes), row_group_size=group.num_rows)
        yield Tally(added=group.num_rows)
        _release_memory()


def _groups(tables: Iterable[Any], rows: int) -> Iterator[Any]:
    """The same rows in tables of one length, but the last."""
    waiting: list[Any] = []
    size = 0
    for table in tables:
        rest = table
        while size + rest.num_rows >= rows:
            yield pa.concat_tables([*waiting, rest.slice(0, rows - size)])
            rest = rest.slice(rows - size)
            waiting, size = [], 0
        if rest.num_rows:
            waiting.append(rest)
            size += rest.num_rows
    if waiting:
        yield pa.concat_tables(waiting)


def _tables(additions: Additions, schema: Any, code: str | None) -> Iterator[Any]:
    """The additions as tables of the schema, plain records some at a time."""
    number = 0
    for is_batch, run in groupby(additions, key=lambda each: isinstance(each, Batch)):
        while some := list(islice(run, 1 if is_batch else BATCH_RECORDS)):
            with _adding(number):
                first = some[0]
                if isinstance(first, Batch) and first.format == "parquet":
                    unpacked = _unpack(first)
                    require_code([dict.fromkeys(unpacked.schema.names)], code, number)
                    table = _fit_table(unpacked, schema)
                else:
                    records = _records(some)
                    require_code(records, code, number)
                    table = _fit_records(records, schema)
            number += table.num_rows
            yield table


def _records(additions: Additions) -> list[Record]:
    nested = (each.records() if isinstance(each, Batch) else [each] for each in additions)
    return list(chain.from_iterable(nested))


def _fit_records(records: Sequence[Record], schema: Any) -> Any:
    _refuse_unknown({name for record in records for name in record}, schema)
    return pa.Table.from_pylist(records, schema)


def _fit_table(table: Any, schema: Any) -> Any:
    _refuse_unknown(table.schema.names, schema)
    columns = [
        table.column(field.name)
        if field.name in table.schema.names
        else pa.nulls(table.num_rows, field.type)
        for field in schema
    ]
    return pa.table(columns, schema.names).cast(schema)


def _refuse_unknown(names: Iterable[str], schema: Any) -> None:
    unknown = sorted(set(names) - set(schema.names))
    if unknown:
        raise pa.ArrowInvalid(f"the file has no column {', '.join(unknown)}")


def _guess_schema(first: Sequence[Record | Batch]) -> Any:
    """The columns of some records; one that is always null may hold text later."""
    for each in first[:1]:
        if isinstance(each, Batch) and each.format == "parquet":
            return _unpack(each).schema
    records = _records(first)
    names = dict.fromkeys(name for record in records for name in record)
    with _adding(0):
        kinds = {name: pa.array([each.get(name) for each in records]).type for name in names}
    text = pa.string()
    return pa.schema((name, text if kind == pa.null() else kind) for name, kind in kinds.items())


def _group_rows(file: Any) -> int:
    sizes = (file.metadata.row_group(at).num_rows for at in range(file.num_row_groups))
    return max(sizes, default=0) or GROUP_ROWS


@contextmanager
def _adding(number: int) -> Iterator[None]:
    try:
        yield
    except (pa.ArrowException, TypeError) as exc:
        reason = str(exc).splitlines()[0]
        raise CorpusError(
            f"added record {number} or one soon after it does not fit the other records "
            f"({reason}); convert its cells, or leave them out"
        ) from exc


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


def _unpack(batch: Batch) -> Any:
    with pa.ipc.open_stream(batch.payload) as reader:
        return reader.read_all()


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
