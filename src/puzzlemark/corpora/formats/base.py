"""What a dataset format offers."""

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import GenericAlias
from typing import Protocol, TypeAlias

from puzzlemark import plugins
from puzzlemark.corpora.records import Batch, Columns, Record, Rows
from puzzlemark.corpora.revising import Reviser, Tally
from puzzlemark.corpora.shards import Shard
from puzzlemark.errors import CorpusError
from puzzlemark.resuming import Work
from puzzlemark.stores import Location

# Records to add: plain ones, or batches of another dataset with all of their columns.
Additions: TypeAlias = Iterable[Record | Batch]
# The columns of new records, for formats that declare them: {"id": str, "code_tokens": list[str]}.
Fields: TypeAlias = Mapping[str, type | GenericAlias]


@dataclass(frozen=True, slots=True)
class Job:
    """One shard to write again: which of its rows, and with which changes.

    All of it can be pickled, so that a shard can be written in another process or elsewhere. Rows
    are those of the whole dataset; the shard's first record is row `start`. A format is only ever
    asked to write from and to files on its own machine.
    """

    shard: Shard
    target: Location
    columns: Columns
    start: int = 0
    rows: Rows | None = None  # sorted; None: all
    reviser: Reviser | None = None  # None: no column changes
    notes: Work | None = None  # where a format that can go on notes how far it came

    @property
    def source(self) -> Path:
        """The shard's own file, on this machine."""
        assert isinstance(self.shard.path, Path), "fetched before"
        return self.shard.path

    @property
    def place(self) -> Path:
        """Where it is written, on this machine."""
        assert isinstance(self.target, Path), "sent afterwards"
        return self.target

    def split(self) -> "list[Job]":
        """A shard is written by one worker; see `puzzlemark.engines.base.Divisible`."""
        return [self]

    def describe(self) -> str:
        """The name of the shard, for an error."""
        return self.shard.name


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

    def write(self, job: Job, additions: Additions = ()) -> Iterator[Tally]:
        """Write the shard to the job's target, then the additions; tell the tally on the way.

        Settings, schema and spelling stay those of the shard. Runs in worker processes.
        """
        ...

    def create(self, target: Path, additions: Additions, fields: Fields | None) -> Iterator[Tally]:
        """Write a file that is like no other; `fields` are its columns, or the records tell."""
        ...


class Continuing(Format, Protocol):
    """A format that can go on with a half-written file: by the notes of a job. Others lack it."""

    def goes_on(self, name: str) -> bool:
        """Whether it can for a file with this name."""
        ...


class Enterable(Format, Protocol):
    """A format whose files can be read from places in their middle; others lack the function."""

    def ends(self, shard: Shard) -> tuple[int, ...]:
        """Where the parts end that can be read without what stands before them.

        The last one ends with the shard: `(1000, 2000, 2300)` for three row groups.
        """
        ...


def load_format(name: str) -> Format:
    """The format with this name."""
    found: Format = plugins.find("corpora.formats", name)
    return found


def require_code(records: Sequence[Record], code: str | None, number: int) -> None:
    """Raise for a record to be added that lacks the code column; `number` is that of the first."""
    for at, record in enumerate(records, number):
        if code is not None and code not in record:
            raise CorpusError(
                f"added record {at}: no column {code!r} (it has {', '.join(record)}); name its "
                "code as the dataset does"
            )
