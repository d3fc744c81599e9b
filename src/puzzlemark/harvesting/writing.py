"""Writing harvested records as a dataset, under a temporary name first."""

from collections.abc import Callable, Iterable
from itertools import islice
from pathlib import Path

import orjson

from puzzlemark.corpora.lines import write_blocks
from puzzlemark.errors import UsageError
from puzzlemark.harvesting.functions import FIELDS, Record
from puzzlemark.staging import staged

ROW_GROUP = 5_000


def check_output(output: Path) -> None:
    """Refuse, before any work is done, what could not be written at its end."""
    _writer(output)
    if output.is_dir():
        raise UsageError(f"{output}: is a folder; name a file")


def write_records(records: Iterable[Record], output: Path, *, overwrite: bool = False) -> None:
    """Write the records in the format that the name of `output` ends in."""
    write = _writer(output)
    with staged(output, overwrite=overwrite) as place:
        write(records, place)


def _writer(output: Path) -> Callable[[Iterable[Record], Path], None]:
    name = output.name.lower()
    for ending, writer in _WRITERS.items():
        if name.endswith(ending):
            return writer
    raise UsageError(f"{output}: the name must end in one of {', '.join(_WRITERS)}")


def _write_lines(records: Iterable[Record], path: Path) -> None:
    with write_blocks(path) as sink:
        for record in records:
            sink.write(orjson.dumps(record) + b"\n")


def _write_parquet(records: Iterable[Record], path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    words = pa.list_(pa.string())
    schema = pa.schema(
        (name, words if name.endswith("_tokens") else pa.string()) for name in FIELDS
    )
    remaining = iter(records)
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        while rows := list(islice(remaining, ROW_GROUP)):
            writer.write_table(pa.Table.from_pylist(rows, schema))


_WRITERS = {".jsonl": _write_lines, ".jsonl.gz": _write_lines, ".parquet": _write_parquet}
