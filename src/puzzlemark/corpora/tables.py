"""Arrow tables: what the formats that hold them share.

Some rows of a table change, or are left out, or are added, and nothing in its layout shows which.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from itertools import chain, groupby, islice
from types import GenericAlias
from typing import Any

import numpy as np
import pyarrow as pa

from puzzlemark.corpora.derived import change_cell
from puzzlemark.corpora.formats.base import Additions, Fields, require_code
from puzzlemark.corpora.records import BATCH_RECORDS, Batch, Columns, Record, Rows
from puzzlemark.corpora.revising import Reviser, Revision
from puzzlemark.corpora.shards import Shard
from puzzlemark.errors import CorpusError

TABLES = ("parquet", "arrow")  # formats whose batches are tables
TYPES: dict[type | GenericAlias, Callable[[], Any]] = {
    str: pa.string,
    int: pa.int64,
    float: pa.float64,
    bool: pa.bool_,
    list[str]: lambda: pa.list_(pa.string()),
}
PIECE_BYTES = 1 << 30  # a column of texts in one piece holds two gigabytes at most


def revise_table(
    table: Any, row: int, start: int, reviser: Reviser, shard: Shard
) -> tuple[Any, list[Revision]]:
    """The table, whose first row is `row` of the dataset, with its changes; and what they are."""
    wanted = reviser.rows_in(row, row + table.num_rows)
    if not wanted:
        return table, []
    records = take(table, [changed - row for changed in wanted]).to_pylist()
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
        table = table.set_column(at, field, replace_cells(table.column(at), values))
    return table, revisions


def schema_of(
    additions: Additions, fields: Fields | None, rows: int
) -> tuple[Any, Iterable[Record | Batch]]:
    """The schema of a new file, and its records again; the first of them tell without `fields`."""
    waiting = iter(additions)
    if fields is not None:
        return pa.schema((name, TYPES[kind]()) for name, kind in fields.items()), waiting
    first = list(islice(waiting, 1))
    if first and not isinstance(first[0], Batch):
        first += islice(waiting, rows - 1)
    return guess_schema(first), chain(first, waiting)


def require_column(columns: Columns, schema: Any, shard: Shard) -> None:
    """Raise unless the file has the column with the code, once."""
    if len(set(schema.names)) < len(schema.names):
        raise CorpusError(f"{shard.name}: two columns have the same name; rename one")
    if columns.field not in schema.names:
        names = ", ".join(schema.names)
        raise CorpusError(
            f"{shard.name}: no column {columns.field!r} (it has {names}); pass --code-column"
        )


def keep_rows(table: Any, rows: Rows) -> Any:
    """Some rows of a table, in its order."""
    mask = np.zeros(table.num_rows, dtype=bool)
    mask[rows] = True
    try:
        return table.filter(pa.array(mask))
    except pa.ArrowNotImplementedError:  # views of texts, which some writers declare
        return take(table, rows.tolist())


def groups_of(tables: Iterable[Any], rows: int) -> Iterator[Any]:
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


def tables_of(additions: Additions, schema: Any, code: str | None) -> Iterator[Any]:
    """The additions as tables of the schema, plain records some at a time."""
    number = 0
    for is_batch, run in groupby(additions, key=lambda each: isinstance(each, Batch)):
        while some := list(islice(run, 1 if is_batch else BATCH_RECORDS)):
            with _adding(number):
                first = some[0]
                if isinstance(first, Batch) and first.format in TABLES:
                    unpacked = unpack(first)
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


def guess_schema(first: Sequence[Record | Batch]) -> Any:
    """The columns of some records; one that is always null may hold text later."""
    for each in first[:1]:
        if isinstance(each, Batch) and each.format in TABLES:
            return unpack(each).schema
    records = _records(first)
    names = dict.fromkeys(name for record in records for name in record)
    with _adding(0):
        kinds = {name: pa.array([each.get(name) for each in records]).type for name in names}
    text = pa.string()
    return pa.schema((name, text if kind == pa.null() else kind) for name, kind in kinds.items())


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


def replace_cells(column: Any, values: Mapping[int, Any]) -> Any:
    """A column with other values in some rows."""
    kind = column.type
    values = dict(sorted(values.items()))
    fresh = pa.array(list(values.values()), kind)
    pieces: list[Any] = []
    at = 0
    for nth, place in enumerate(values):
        pieces += (*column.slice(at, place - at).chunks, fresh.slice(nth, 1))
        at = place + 1
    return pa.chunked_array([*pieces, *column.slice(at).chunks], kind)


def replace_within(column: Any, values: Mapping[int, Any]) -> Any:
    """The same in pieces as long as they were: nothing in memory shows which rows changed.

    A dictionary is made anew for each piece, in the order of first use.
    """
    kind = column.type
    is_dictionary = pa.types.is_dictionary(kind)
    changed = replace_cells(column.cast(kind.value_type) if is_dictionary else column, values)
    pieces: list[Any] = []
    at = 0
    for size in map(len, column.chunks):
        piece = changed.slice(at, size).combine_chunks()
        pieces.append(piece.dictionary_encode().cast(kind) if is_dictionary else piece)
        at += size
    return pa.chunked_array(pieces, kind)


def decode_dictionaries(table: Any, changing: Set[str]) -> Any:
    """The columns that may change as plain values, in every row group, edited or not."""
    for at, field in enumerate(table.schema):
        if field.name in changing and pa.types.is_dictionary(field.type):
            plain = field.with_type(field.type.value_type)
            table = table.set_column(at, plain, table.column(at).cast(plain.type))
    return table


def rebuild(table: Any, names: Iterable[str]) -> Any:
    """Some columns made anew from their values, so that they are alike whoever made them."""
    for name in names:
        at = table.schema.get_field_index(name)
        if at >= 0:
            field = table.schema.field(at)
            anew = pa.array(table.column(at).to_pylist(), field.type)
            table = table.set_column(at, field, anew)
    return table


def lay_out(table: Any, schema: Any, size: int) -> Any:
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


def take(table: Any, rows: list[int]) -> Any:
    """Some rows of a table, in any order."""
    try:
        return table.take(pa.array(rows))
    except pa.ArrowNotImplementedError:  # views of texts, which some writers declare
        return pa.concat_tables([table.slice(row, 1) for row in rows])


def release_memory() -> None:
    """Give back what is not used any more."""
    # Arrow keeps what it freed, one pool per thread: over many row groups that adds up
    pa.default_memory_pool().release_unused()


def pack(table: Any) -> bytes:
    """A table as bytes that can be sent."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    payload: bytes = sink.getvalue().to_pybytes()
    return payload


def unpack(batch: Batch) -> Any:
    """The table of a batch."""
    with pa.ipc.open_stream(batch.payload) as reader:
        return reader.read_all()
