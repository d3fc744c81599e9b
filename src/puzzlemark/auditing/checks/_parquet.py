"""What the checks of Parquet files share."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from puzzlemark.auditing.checks.base import Evidence


@dataclass(frozen=True, slots=True)
class Opened:
    """A Parquet shard: its first row, and both files with their paths."""

    start: int
    old_path: Path
    path: Path
    before: Any
    after: Any


def opened(evidence: Evidence) -> Iterator[Opened]:
    """Each Parquet shard."""
    for at, old, new in evidence.only("parquet"):
        with pq.ParquetFile(old) as before, pq.ParquetFile(new) as after:
            yield Opened(evidence.starts[at], old, new, before, after)


def groups(file: Any) -> Iterator[tuple[int, int, Any]]:
    """Each row group: its number, its first row in the file, and what the footer says of it."""
    row = 0
    for number in range(file.metadata.num_row_groups):
        group = file.metadata.row_group(number)
        yield number, row, group
        row += group.num_rows


def chunks(group: Any) -> list[Any]:
    """The columns of a row group, as the footer describes them."""
    return [group.column(at) for at in range(group.num_columns)]
