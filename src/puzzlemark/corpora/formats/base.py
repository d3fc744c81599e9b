"""What a dataset format offers."""

from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Protocol

from puzzlemark import plugins
from puzzlemark.corpora.columns import Columns
from puzzlemark.corpora.records import Batch, Record, Rows
from puzzlemark.corpora.revising import Reviser
from puzzlemark.corpora.shards import Shard


class Format(Protocol):
    """The functions of each file in this folder."""

    EXTENSIONS: tuple[str, ...]  # lower case, with the dot: ".jsonl.gz"

    def head(self, shard: Shard) -> Record | None:
        """The first record, to recognise the columns by; None when the shard is empty."""
        ...

    def count(self, shard: Shard) -> int:
        """How many records the shard has."""
        ...

    def batches(
        self,
        shard: Shard,
        columns: Columns,
        language: str | None,
        *,
        start: int,
        rows: Rows | None,
        whole: bool,
    ) -> Generator[Batch, None, int]:
        """Stream the shard, whose first record is row `start`; return how many records it has.

        With `rows` only those, sorted, are in the batches, and reading may stop after the last;
        with `whole` every column is, not only the three we know.
        """
        ...

    def decode(self, batch: Batch) -> list[Record]:
        """The records of a batch. Runs in worker processes."""
        ...

    def split(self, batch: Batch) -> list[bytes]:
        """The payload of each record of a batch by itself, to find one that ends a worker."""
        ...

    def rewrite(self, shard: Shard, target: Path, reviser: Reviser, *, start: int) -> Iterator[int]:
        """Write the shard to `target` with the revised cells; yield record counts on the way."""
        ...


def load_format(name: str) -> Format:
    """The format with this name."""
    found: Format = plugins.find("corpora.formats", name)
    return found
