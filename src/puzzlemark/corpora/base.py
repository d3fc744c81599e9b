"""A corpus: a dataset that is read as a stream and written back with some code cells edited."""

from collections.abc import Callable, Generator, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from puzzlemark.corpora.derived import Derivations, infer
from puzzlemark.corpora.formats.base import Additions, load_format
from puzzlemark.corpora.records import (
    PROJECT,
    Batch,
    Columns,
    Entry,
    Record,
    Rows,
    corpus_digest,
    recognise,
    record_digest,
)
from puzzlemark.corpora.revising import Changes, Reviser, Stale
from puzzlemark.corpora.shards import Layout, Shard, find_layout
from puzzlemark.corpora.writing import Rewritten, RewrittenShard, refuse_output, write_like
from puzzlemark.engines.base import Engine
from puzzlemark.errors import CorpusError, UsageError
from puzzlemark.files import keep_apart
from puzzlemark.snippet import Snippet
from puzzlemark.staging import staged

__all__ = [
    "Batch",
    "Columns",
    "Corpus",
    "Derivations",
    "Entry",
    "Rewritten",
    "RewrittenShard",
    "Shard",
    "Stale",
    "infer",
    "open_corpus",
]


@dataclass(frozen=True, slots=True)
class Corpus:
    """A dataset on disk; can be read again and again, and is never held whole in memory."""

    path: Path
    layout: Layout
    columns: Columns
    language: str | None  # of the records that do not say

    @property
    def shards(self) -> tuple[Shard, ...]:
        """Its files, in order."""
        return self.layout.shards

    @property
    def paths(self) -> tuple[Path, ...]:
        """All that reading it looks at, which no output may touch."""
        return self.layout.paths(self.path)

    def with_projects(self, column: str | None = None) -> "Corpus":
        """The same corpus, whose entries say their project: by this column, or a usual one.

        Where no column has a usual name (`repo`, ...) the whole dataset is one project.
        """
        head = next(head for shard in self.shards if (head := _head(shard)) is not None)
        if column is not None and column not in head:
            raise UsageError(
                f"{self.path}: no column {column!r} for the project; its columns are "
                f"{', '.join(map(str, head))}"
            )
        found = column or next((name for name in PROJECT if name in head), None)
        return replace(self, columns=replace(self.columns, project=found))

    def batches(self, rows: Rows | None = None, *, whole: bool = False) -> Iterator[Batch]:
        """Stream the dataset in order; with `rows`, sorted row numbers, only those records.

        With `whole` a record has all of its columns, not only the three we know.
        """
        return self._stream(rows, whole=whole)

    def entries(self, rows: Rows | None = None) -> Iterator[Entry]:
        """The same, decoded here."""
        for batch in self.batches(rows):
            yield from batch.entries()

    def records(self) -> Iterator[Record]:
        """Every record with all of its columns, in order."""
        for batch in self._stream(None, whole=True):
            yield from batch.records()

    def __iter__(self) -> Iterator[Snippet]:
        """The snippets, in order; records without usable code are not among them."""
        for batch in self._stream(None, whole=True):
            for row, record in zip(batch.rows.tolist(), batch.records(), strict=True):
                entry = batch.entry(row, record)
                if entry.reason is None and entry.code is not None and entry.language is not None:
                    yield Snippet(entry.id, entry.code, entry.language, record)

    def count(self) -> int:
        """How many records; JSON Lines are read through for it, Parquet is not."""
        return sum(load_format(shard.format).count(shard) for shard in self.shards)

    def digest(self, engine: Engine | None = None) -> str:
        """The digest of all ids and codes, in the order of the dataset."""
        every = self.batches()
        return corpus_digest(map(_digest, every) if engine is None else engine.map(_digest, every))

    def rewrite(
        self,
        output: Path | str,
        changes: Changes | None = None,
        derivations: Derivations | None = None,
        *,
        rows: Rows | Sequence[int] | None = None,
        append: "Corpus | Additions | None" = None,
        engine: Engine | None = None,
        overwrite: bool = False,
        progress: Callable[[int], None] | None = None,
        check: Callable[[Rewritten], None] | None = None,
        digests: bool = False,
    ) -> Rewritten:
        """Write the dataset to `output`, whole or not at all; for what is written see `write`.

        `check` sees the result before the output gets its name; when it raises, nothing is left
        behind.
        """
        output = Path(output)
        refuse_output(self.layout, self.path, output)
        if isinstance(append, Corpus):
            keep_apart({"--output": output}, {"the added dataset": append.paths})
        with staged(output, overwrite=overwrite) as place:
            result = self.write(
                place,
                changes,
                derivations,
                rows=rows,
                append=append,
                engine=engine,
                progress=progress,
            )
            if digests:
                written = self._at(place, {shard.name for shard in result.shards})
                before, after = (each.digest(engine) for each in (self, written))
                result = replace(result, input_digest=before, output_digest=after)
            if check is not None:
                check(result)
        return result

    def write(
        self,
        place: Path,
        changes: Changes | None = None,
        derivations: Derivations | None = None,
        *,
        rows: Rows | Sequence[int] | None = None,
        append: "Corpus | Additions | None" = None,
        engine: Engine | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> Rewritten:
        """Write to a place that is free; whoever calls puts it where it belongs.

        All records, or those of `rows` in the order of the dataset; with the edits of `changes`,
        derived columns recomputed; and after them those of `append`: another corpus, its batches
        (`other.batches(rows, whole=True)`) or plain records. Each shard is a task of its own,
        which `engine` may run elsewhere. `progress` is told how many more records are written.
        """
        reviser = None
        if changes is not None:
            reviser = Reviser.of(self.columns, changes, derivations or {})
        return write_like(
            self,
            place,
            reviser=reviser,
            rows=None if rows is None else np.unique(np.asarray(rows, dtype=np.int64)),
            additions=append.batches(whole=True) if isinstance(append, Corpus) else append,
            engine=engine,
            advance=progress,
        )

    def _stream(self, rows: Rows | None, *, whole: bool) -> Iterator[Batch]:
        start = 0
        for shard in self.shards:
            if rows is not None and (not len(rows) or start > rows[-1]):
                return
            start += yield from self._shard_batches(shard, start, rows, whole)

    def _shard_batches(
        self, shard: Shard, start: int, rows: Rows | None, whole: bool
    ) -> Generator[Batch, None, int]:
        return load_format(shard.format).batches(
            shard, self.columns, self.language, start=start, rows=rows, whole=whole
        )

    def _at(self, place: Path, names: Set[str]) -> "Corpus":
        """The same corpus, with some of its files at another place."""
        one = self.layout.kind == "file"
        found = (shard for shard in self.shards if shard.name in names)
        shards = (replace(s, path=place if one else place / s.name) for s in found)
        return replace(self, layout=replace(self.layout, shards=tuple(shards)))


def open_corpus(
    path: str | Path,
    *,
    code_column: str | None = None,
    id_column: str | None = None,
    language_column: str | None = None,
    language: str | None = None,
) -> Corpus:
    """The dataset at a path: a file, a folder of shards, or a glob. Reads its first record only."""
    layout = find_layout(path)
    for shard in layout.shards:
        head = _head(shard)
        if head is not None:
            break
    else:
        raise CorpusError(f"{path}: no records in it; check that it is the dataset you mean")
    columns = recognise(head, shard.name, code=code_column, id=id_column, language=language_column)
    if columns.language is None and columns.path is None and language is None:
        raise UsageError(f"{path}: no column says the language; pass --language")
    return Corpus(Path(path), layout, columns, language)


def _head(shard: Shard) -> Record | None:
    """The first record of a file; None when it has none."""
    return load_format(shard.format).head(shard)


def _digest(batch: Batch) -> bytes:
    return b"".join(record_digest(entry.id, entry.code) for entry in batch.entries())
