"""A corpus: a dataset that is read as a stream and written back with some code cells edited."""

import hashlib
import os
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from puzzlemark.corpora.columns import Columns, recognise
from puzzlemark.corpora.derived import Derivations, infer
from puzzlemark.corpora.digest import corpus_digest, record_digest
from puzzlemark.corpora.formats.base import load_format
from puzzlemark.corpora.records import Batch, Entry, Record, Rows
from puzzlemark.corpora.revising import Reviser, Stale, refuse_rows_beyond
from puzzlemark.corpora.shards import Layout, Shard, find_layout
from puzzlemark.corpora.writing import refuse_output
from puzzlemark.errors import CorpusError, UsageError
from puzzlemark.snippet import Edit, Snippet
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
class RewrittenShard:
    """One file of the output beside the one it came from."""

    name: str
    records: int
    input_sha256: str
    output_sha256: str


@dataclass(frozen=True, slots=True)
class Rewritten:
    """What writing a dataset did."""

    records: int
    shards: tuple[RewrittenShard, ...]
    recomputed: Mapping[str, int]  # derived column -> cells that changed
    stale: tuple[Stale, ...]
    ignored: int  # other files in the input folder, not copied
    input_digest: str | None = None
    output_digest: str | None = None


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

    def digest(self) -> str:
        """The digest of all ids and codes."""
        return corpus_digest(record_digest(entry.id, entry.code) for entry in self.entries())

    def rewrite(
        self,
        output: Path,
        changes: Mapping[int, tuple[Edit, ...]],
        derivations: Derivations,
        *,
        overwrite: bool = False,
        progress: Callable[[int], None] | None = None,
        check: Callable[[Rewritten], None] | None = None,
        digests: bool = False,
    ) -> Rewritten:
        """Write the dataset to `output` with the edits of each row, derived columns recomputed.

        `progress` is told how many more records are written. `check` sees the result before
        the output gets its name; when it raises, nothing is left behind.
        """
        output = Path(output)
        refuse_output(self.layout, self.path, output)
        with staged(output, overwrite=overwrite) as place:
            result = self.write(place, changes, derivations, progress=progress)
            if digests:
                written = self._at(place)
                result = replace(result, input_digest=self.digest(), output_digest=written.digest())
            if check is not None:
                check(result)
        return result

    def write(
        self,
        place: Path,
        changes: Mapping[int, tuple[Edit, ...]],
        derivations: Derivations,
        *,
        progress: Callable[[int], None] | None = None,
    ) -> Rewritten:
        """The same, to a place that is free; whoever calls puts it where it belongs."""
        reviser = Reviser.of(self.columns, changes, derivations)
        shards = tuple(self._write_shards(place, reviser, progress))
        _align_times(place)
        records = sum(shard.records for shard in shards)
        refuse_rows_beyond(reviser, records, str(self.path))
        return _summarise(records, shards, reviser, self.layout.ignored)

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

    def _write_shards(
        self, place: Path, reviser: Reviser, progress: Callable[[int], None] | None
    ) -> Iterator[RewrittenShard]:
        start = 0
        for shard in self.shards:
            target = place if self.layout.kind == "file" else place / shard.name
            target.parent.mkdir(parents=True, exist_ok=True)
            records = 0
            for some in load_format(shard.format).rewrite(shard, target, reviser, start=start):
                records += some
                if progress is not None:
                    progress(some)
            yield RewrittenShard(shard.name, records, _sha256(shard.path), _sha256(target))
            start += records

    def _at(self, place: Path) -> "Corpus":
        """The same corpus, with its files at another place."""
        one = self.layout.kind == "file"
        shards = (replace(s, path=place if one else place / s.name) for s in self.shards)
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
        head = load_format(shard.format).head(shard)
        if head is not None:
            break
    else:
        raise CorpusError(f"{path}: no records in it; check that it is the dataset you mean")
    columns = recognise(head, shard.name, code=code_column, id=id_column, language=language_column)
    if columns.language is None and language is None:
        raise UsageError(f"{path}: no column says the language; pass --language")
    return Corpus(Path(path), layout, columns, language)


def _summarise(
    records: int, shards: tuple[RewrittenShard, ...], reviser: Reviser, ignored: int
) -> Rewritten:
    stale = (Stale(column, reason, n) for (column, reason), n in sorted(reviser.stale.items()))
    recomputed = dict(sorted(reviser.recomputed.items()))
    return Rewritten(records, shards, recomputed, tuple(stale), ignored)


def _align_times(place: Path) -> None:
    """One modification time for all files and folders: theirs would show how long each one took."""
    now = time.time_ns()
    for path in (*place.rglob("*"), place):
        os.utime(path, ns=(now, now))


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
