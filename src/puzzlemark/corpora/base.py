"""A corpus: a dataset that is read as a stream and written back with some code cells edited."""

from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from pathlib import Path

import numpy as np

from puzzlemark.corpora.derived import Derivations, infer
from puzzlemark.corpora.formats.base import Additions, load_format
from puzzlemark.corpora.pieces import (
    Piece,
    Result,
    cut,
    find_ends,
    is_enterable,
    work_through,
)
from puzzlemark.corpora.records import (
    PATH,
    PROJECT,
    RECORD_BYTES,
    Batch,
    Columns,
    Entry,
    Index,
    Record,
    Rows,
    corpus_digest,
    count_snippets,
    owners_of,
    recognise,
    record_digest,
    with_places,
)
from puzzlemark.corpora.revising import Changes, Reviser, Stale
from puzzlemark.corpora.shards import Layout, Shard, find_layout
from puzzlemark.corpora.writing import Rewritten, RewrittenShard, refuse_output, write_like
from puzzlemark.engines.base import Engine
from puzzlemark.engines.serial import Serial
from puzzlemark.errors import CorpusError, UsageError
from puzzlemark.files import keep_apart
from puzzlemark.resuming import DIGESTS, Kept, Work, keep_or_find
from puzzlemark.snippet import Snippet
from puzzlemark.staging import staged
from puzzlemark.stores import Location, Url, locate, locate_output, stamp_of

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
    """A dataset on disk or in a store; read again and again, and never held whole in memory."""

    path: Location
    layout: Layout
    columns: Columns
    language: str | None  # of the records that do not say
    index: Index = field(default_factory=Index, compare=False, repr=False)

    @property
    def shards(self) -> tuple[Shard, ...]:
        """Its files, in order."""
        return self.layout.shards

    @property
    def paths(self) -> tuple[Location, ...]:
        """All that reading it looks at, which no output may touch."""
        return self.layout.paths(self.path)

    @property
    def stamps(self) -> dict[str, list[int | str]]:
        """Size and time of every file, by which a changed dataset is told without reading it."""
        root = self.layout.root
        if isinstance(root, Path) or self.layout.kind == "file":
            return {shard.name: stamp_of(shard.path) for shard in self.shards}
        found = root.find()  # one request for a thousand of them
        return {s.name: [found[s.name].size, found[s.name].version] for s in self.shards}

    @property
    def is_shared(self) -> bool:
        """Whether the processes of an engine see the same files; a `memory://` is one process's."""
        return not isinstance(self.path, Url) or self.path.is_shared

    def with_projects(self, column: str | None = None) -> "Corpus":
        """The same corpus, whose entries say their project: by this column, or a usual one.

        Where no column has a usual name (`repo`, ...) the whole dataset is one project. They say
        their file, too, where a column has a usual name for it (`path`, ...).
        """
        head = next(head for shard in self.shards if (head := _head(shard)) is not None)
        if column is not None and column not in head:
            raise UsageError(
                f"{self.path}: no column {column!r} for the project; its columns are "
                f"{', '.join(map(str, head))}"
            )
        found = column or next((name for name in PROJECT if name in head), None)
        file = next((name for name in PATH if name in head), None)
        return replace(self, columns=replace(self.columns, project=found, file=file))

    def alone(self, shard: Shard) -> "Corpus":
        """One shard of it as a corpus, read as the whole is."""
        layout = Layout("file", self.layout.root, (shard,), 0)
        return replace(self, path=shard.path, layout=layout, index=Index())

    def batches(self, rows: Rows | None = None, *, whole: bool = False) -> Iterator[Batch]:
        """Stream the dataset in order; with `rows`, sorted row numbers, only those records.

        With `whole` a record has all of its columns, not only the three we know. Where records
        hold several snippets, a row is a snippet, counted from 0 over the whole dataset.
        """
        if self.columns.inner is None:
            return self._stream(rows, whole=whole)
        return self._snippets(rows, whole=whole)

    def _snippets(self, rows: Rows | None, *, whole: bool) -> Iterator[Batch]:
        firsts = self.firsts
        records = None if rows is None else np.unique(owners_of(firsts, rows))
        for batch in self._stream(records, whole=whole):
            yield with_places(batch, firsts, rows)

    @property
    def firsts(self) -> Rows:
        """Where records hold several snippets: the row of the first of each; the end comes last.

        The dataset is read once for it.
        """
        if self.index.firsts is None:
            every = self._stream(None, whole=False)
            self.index.firsts = count_snippets(map(_count_pieces, every))
        return self.index.firsts

    def owners(self, rows: Rows) -> Rows:
        """The records of some rows: these rows themselves, unless records hold several snippets."""
        return rows if self.columns.inner is None else owners_of(self.firsts, rows)

    def counted(self, engine: Engine) -> "Corpus":
        """The same corpus with the lengths of its shards, so that workers can read them.

        JSON Lines are read through for it, each shard by one worker. A single file that has to be
        read from its beginning stays as it is.
        """
        first, *others = self.shards
        if getattr(engine, "workers", 1) == 1 or first.ends is not None or not self.is_shared:
            return self
        if not others and not is_enterable(first):
            return self
        ends = engine.map(find_ends, self.shards)
        shards = tuple(replace(s, ends=each) for s, each in zip(self.shards, ends, strict=True))
        return replace(self, layout=replace(self.layout, shards=shards))

    def map(
        self,
        function: Callable[[Batch], Result],
        engine: Engine,
        rows: Rows | None = None,
        *,
        whole: bool = False,
        kept: Kept[Result] | None = None,
    ) -> Iterator[Result]:
        """`function(batch)` for each batch, in order, by the workers of an engine.

        They read a dataset that was `counted` for themselves, where there is enough for all of
        them; else it is read here, and sent. With `whole` a record has all of its columns. What is
        `kept` is not done again.
        """
        each: Callable[[Piece | Batch], list[Result]] = partial(work_through, function=function)
        tasks = self._tasks(rows, getattr(engine, "workers", 1), whole=whole)
        if kept is not None:
            return keep_or_find(tasks, lambda missing: engine.map(each, missing), kept)
        return chain.from_iterable(engine.map(each, tasks))

    def _tasks(self, rows: Rows | None, workers: int, *, whole: bool) -> Iterable[Piece | Batch]:
        is_flat = self.columns.inner is None  # else a row's record is known here alone
        if workers > 1 and is_flat and self.shards[0].ends is not None:
            pieces = list(cut(self.shards, self.columns, self.language, rows, whole=whole))
            if len(pieces) >= 2 * workers:
                return pieces
        return self.batches(rows, whole=whole)

    def entries(self, rows: Rows | None = None) -> Iterator[Entry]:
        """The same, decoded here."""
        for batch in self.batches(rows):
            yield from batch.entries()

    def records(self) -> Iterator[Record]:
        """Every record with all of its columns, in order, once."""
        for batch in self._stream(None, whole=True):
            yield from batch.records()

    def __iter__(self) -> Iterator[Snippet]:
        """The snippets, in order; records without usable code are not among them."""
        for batch in self.batches(whole=True):
            for entry, record in zip(batch.entries(), batch.records(), strict=True):
                if entry.reason is None and entry.code is not None and entry.language is not None:
                    yield Snippet(entry.id, entry.code, entry.language, record)

    def count(self) -> int:
        """How many rows; JSON Lines are read through for it, Parquet is not."""
        if self.columns.inner is not None:
            return int(self.firsts[-1])
        return self.count_records()

    def count_records(self) -> int:
        """How many records, however many snippets they hold."""
        return sum(load_format(shard.format).count(shard) for shard in self.shards)

    def digest(
        self,
        engine: Engine | None = None,
        *,
        work: Work | None = None,
        name: str = "input",
        progress: Callable[[int], None] | None = None,
    ) -> str:
        """The digest of all ids and codes, in the order of the dataset.

        What an interrupted run kept of it in `work`, as that of `name`, is not computed again.
        `progress` is told how many more records are read.
        """
        if work is None:
            every = map(_digest, self.batches()) if engine is None else self.map(_digest, engine)
            return corpus_digest(_telling(every, progress))
        place = work.below(DIGESTS)
        whole = place.find(f"{name}.whole")
        if whole is not None:
            return whole.decode()
        kept = Kept(place, name, b"".join, _one)
        digest = corpus_digest(_telling(self.map(_digest, engine or Serial(), kept=kept), progress))
        place.keep(f"{name}.whole", digest.encode())
        return digest

    def rewrite(
        self,
        output: Location | str,
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
        output = locate_output(output)
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
        place: Location,
        changes: Changes | None = None,
        derivations: Derivations | None = None,
        *,
        rows: Rows | Sequence[int] | None = None,
        append: "Corpus | Additions | None" = None,
        engine: Engine | None = None,
        progress: Callable[[int], None] | None = None,
        work: Work | None = None,
        searched: Rows | None = None,
    ) -> Rewritten:
        """Write to a place that is free; whoever calls puts it where it belongs.

        All records, or those of `rows` in the order of the dataset; with the edits of `changes`,
        derived columns recomputed; and after them those of `append`: another corpus, its batches
        (`other.batches(rows, whole=True)`) or plain records. Each shard is a task of its own,
        which `engine` may run elsewhere. `progress` is told how many more records are written.
        Shards that an interrupted run left in `work` are not written again. Rows that were
        `searched` are known to show nothing of the old code in other columns.
        """
        reviser = None
        if changes is not None:
            reviser = self.reviser(changes, derivations or {}, searched)
        if self.columns.inner is not None and (append is not None or rows is not None):
            raise UsageError(
                f"{self.path}: its records hold several snippets each ({self.columns.code}), so "
                "snippets can be edited, but not left out or added"
            )
        return write_like(
            self._as_read(),
            place,
            reviser=reviser,
            rows=None if rows is None else np.unique(np.asarray(rows, dtype=np.int64)),
            additions=append.batches(whole=True) if isinstance(append, Corpus) else append,
            engine=engine,
            advance=progress,
            work=work,
        )

    def reviser(
        self, changes: Changes, derivations: Derivations, searched: Rows | None = None
    ) -> Reviser:
        """What these changes, by row, do to each record."""
        firsts = None if self.columns.inner is None else self.firsts
        return Reviser.of(self.columns, changes, derivations, firsts, searched)

    def _stream(self, rows: Rows | None, *, whole: bool) -> Iterator[Batch]:
        start = 0
        for shard in self.shards:
            if rows is not None and (not len(rows) or start > rows[-1]):
                return
            read = yield from self._shard_batches(shard, start, rows, whole)
            if rows is None:
                self.index.counts[shard.name] = read
            start += read

    def _shard_batches(
        self, shard: Shard, start: int, rows: Rows | None, whole: bool
    ) -> Generator[Batch, None, int]:
        return load_format(shard.format).batches(
            shard, self.columns, self.language, start=start, rows=rows, whole=whole
        )

    def _as_read(self) -> "Corpus":
        """The same with the lengths of those shards that were read through here."""
        counts = self.index.counts
        shards = tuple(
            replace(shard, ends=(counts[shard.name],))
            if shard.ends is None and shard.name in counts
            else shard
            for shard in self.shards
        )
        return replace(self, layout=replace(self.layout, shards=shards))

    def _at(self, place: Location, names: Set[str]) -> "Corpus":
        """The same corpus, with some of its files at another place."""
        one = self.layout.kind == "file"
        found = (shard for shard in self.shards if shard.name in names)
        shards = (replace(s, path=place if one else place / s.name) for s in found)
        layout = replace(self.layout, root=place, shards=tuple(shards))
        return replace(self, path=place, layout=layout, index=Index())


def open_corpus(
    path: str | Location,
    *,
    code_column: str | None = None,
    id_column: str | None = None,
    language_column: str | None = None,
    language: str | None = None,
    split: str | None = None,
    names: Collection[str] | None = None,
) -> Corpus:
    """The dataset at a path or URL: a file, a folder of shards, or a glob. Reads its first record.

    `split` and `names` choose among the shards: see `find_layout`.
    """
    path = locate(path)
    layout = find_layout(path, split, names)
    for shard in layout.shards:
        head = _head(shard)
        if head is not None:
            break
    else:
        raise CorpusError(f"{path}: no records in it; check that it is the dataset you mean")
    columns = recognise(head, shard.name, code=code_column, id=id_column, language=language_column)
    is_said = columns.language is not None or columns.path is not None
    inner = columns.inner
    if not is_said and not (inner and (inner.fenced or inner.language)) and language is None:
        raise UsageError(f"{path}: no column says the language; pass --language")
    return Corpus(path, layout, columns, language)


def _head(shard: Shard) -> Record | None:
    """The first record of a file; None when it has none."""
    return load_format(shard.format).head(shard)


def _count_pieces(batch: Batch) -> list[int]:
    inner = batch.columns.inner
    assert inner is not None
    return [len(inner.pieces(record)) for record in batch.records()]


def _digest(batch: Batch) -> bytes:
    return b"".join(record_digest(entry.id, entry.code) for entry in batch.entries())


def _one(digests: bytes) -> list[bytes]:
    return [digests]


def _telling(digests: Iterable[bytes], progress: Callable[[int], None] | None) -> Iterator[bytes]:
    """The same, told in records."""
    for each in digests:
        if progress is not None:
            progress(len(each) // RECORD_BYTES)
        yield each
