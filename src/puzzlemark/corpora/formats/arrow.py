"""Arrow files, as `datasets` saves them to disk: streams of record batches, one in memory."""

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa

from puzzlemark.corpora.formats.base import Additions, Fields, Job
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
    rebuild,
    release_memory,
    require_column,
    revise_table,
    schema_of,
    tables_of,
    take,
    unpack,
)
from puzzlemark.errors import CorpusError
from puzzlemark.stores import Location

EXTENSIONS = (".arrow",)

GROUP_ROWS = 1_000  # of a new file, as `datasets` writes them
_FILE = b"ARROW1"  # a file with a footer begins so, a stream does not
_CODECS = (None, "lz4", "zstd")


def head(shard: Shard) -> Record | None:
    """The first record."""
    with _reading(shard) as reader:
        for batch in _batches(reader):
            if batch.num_rows:
                record: Record = batch.slice(0, 1).to_pylist()[0]
                return record
    return None


def count(shard: Shard) -> int:
    """How many rows."""
    with _reading(shard) as reader:
        return sum(batch.num_rows for batch in _batches(reader))


def batches(
    shard: Shard,
    columns: Columns,
    language: str | None,
    *,
    start: int,
    rows: Rows | None,
    whole: bool,
) -> Generator[Batch, None, int]:
    """Stream slices of the record batches that hold wanted rows."""
    row = start
    with _reading(shard) as reader:
        require_column(columns, reader.schema, shard)
        names = None if whole else [name for name in columns.names if name in reader.schema.names]
        for group in _batches(reader):
            table = pa.Table.from_batches([group])
            table = table if names is None else table.select(names)
            fitting = table.num_rows * BATCH_BYTES // max(1, table.nbytes)
            step = min(BATCH_RECORDS, max(16, fitting))
            for first in range(0, table.num_rows, step):
                some = table.slice(first, step)
                chosen = choose_rows(rows, row + first, some.num_rows)
                if len(chosen):
                    payload = pack(some if rows is None else take(some, chosen.tolist()))
                    numbers = chosen + row + first
                    yield Batch(
                        "arrow", shard.name, start, numbers, None, payload, columns, language
                    )
            row += table.num_rows
            if rows is not None and (not len(rows) or row > rows[-1]):
                break
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
    """Write record batch after record batch; additions are record batches of their own."""
    row, largest = job.start, 0
    changing = frozenset() if job.reviser is None else job.reviser.changing
    with _reading(job.shard) as reader:
        schema = reader.schema
        require_column(job.columns, schema, job.shard)
        with _writer(job.place, schema, like=job.source) as out:
            for group in _batches(reader):
                table = decode_dictionaries(pa.Table.from_batches([group]), changing)
                revisions: list[Revision] = []
                if job.reviser is not None:
                    table, revisions = revise_table(table, row, job.start, job.reviser, job.shard)
                kept = choose_rows(job.rows, row, table.num_rows)
                row += table.num_rows
                largest = max(largest, table.num_rows)
                if job.rows is not None:
                    table = keep_rows(table, kept)
                if table.num_rows or job.rows is None:
                    _put(out, rebuild(table, changing), schema)
                    yield Tally.of(len(kept), revisions, job.columns.field)
                release_memory()
            tables = tables_of(additions, schema, job.columns.field)
            yield from _add(out, schema, largest or GROUP_ROWS, tables)


def create(target: Path, additions: Additions, fields: Fields | None) -> Iterator[Tally]:
    """Write a stream; without `fields` the first records tell the columns."""
    schema, waiting = schema_of(additions, fields, GROUP_ROWS)
    with _writer(target, schema) as out:
        yield from _add(out, schema, GROUP_ROWS, tables_of(waiting, schema, None))


def _add(out: Any, schema: Any, rows: int, tables: Iterator[Any]) -> Iterator[Tally]:
    for group in groups_of(tables, rows):
        _put(out, rebuild(group, schema.names), schema)
        yield Tally(added=group.num_rows)


def _put(out: Any, table: Any, schema: Any) -> None:
    laid_out = lay_out(table, schema, table.nbytes)
    arrays = [_one_piece(column) for column in laid_out.columns]
    out.write_batch(pa.RecordBatch.from_arrays(arrays, schema=schema))


def _one_piece(column: Any) -> Any:
    if not column.num_chunks:
        return pa.array([], column.type)
    return column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks)


def _batches(reader: Any) -> Iterator[Any]:
    if isinstance(reader, pa.ipc.RecordBatchFileReader):
        yield from (reader.get_batch(at) for at in range(reader.num_record_batches))
    else:
        yield from reader


@contextmanager
def _writer(target: Path, schema: Any, like: Path | None = None) -> Iterator[Any]:
    """A writer of the same kind of file, with the same compression."""
    is_file = like is not None and _is_file(like)
    options = pa.ipc.IpcWriteOptions(compression=None if like is None else _codec(like))
    make = pa.ipc.new_file if is_file else pa.ipc.new_stream
    with target.open("wb") as stream, make(stream, schema, options=options) as out:
        yield out


def _codec(path: Path) -> str | None:
    """How the first record batch is compressed: as it is when it is written so again."""
    with path.open("rb") as stream:
        if _is_file(path):
            stream.seek(8)  # the stream stands after the sign, and before the footer
        messages = pa.ipc.MessageReader.open_stream(stream)
        for message in messages:
            if message.type == "record batch":
                break
        else:
            return None
    with _open(path) as reader:
        batch = next(_batches(reader))
    for codec in _CODECS:
        options = pa.ipc.IpcWriteOptions(compression=codec)
        if _message(batch, options).metadata.equals(message.metadata):
            return codec
    return None


def _message(batch: Any, options: Any) -> Any:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema, options=options) as out:
        out.write_batch(batch)
    for message in pa.ipc.MessageReader.open_stream(sink.getvalue()):
        if message.type == "record batch":
            return message
    raise AssertionError("a batch was written")


def _is_file(path: Path) -> bool:
    with path.open("rb") as stream:
        return stream.read(len(_FILE)) == _FILE


@contextmanager
def _open(path: Location) -> Iterator[Any]:
    if isinstance(path, Path):
        opened = pa.ipc.open_file if _is_file(path) else pa.ipc.open_stream
        source = pa.memory_map(str(path))
    else:
        stream = path.open()
        is_file = stream.read(len(_FILE)) == _FILE
        stream.seek(0)
        opened = pa.ipc.open_file if is_file else pa.ipc.open_stream
        source = pa.PythonFile(stream, "r")
    with source, opened(source) as reader:
        yield reader


@contextmanager
def _reading(shard: Shard) -> Iterator[Any]:
    try:
        with _open(shard.path) as reader:
            yield reader
    except PermissionError as exc:
        raise CorpusError(f"{shard.path}: permission denied; check the file") from exc
    except (pa.ArrowException, OSError) as exc:
        reason = str(exc).splitlines()[0]
        raise CorpusError(f"{shard.path}: damaged Arrow file ({reason}); fetch it again") from exc
