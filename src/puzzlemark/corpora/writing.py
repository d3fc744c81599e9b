"""The one writer of datasets: shard by shard, each shard a task of its own.

A dataset is written like another one (`write_like`: all of it or some rows, with edits, with
records added at its end) or from records alone (`write_records`).
"""

import hashlib
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Protocol

import numpy as np

from puzzlemark.corpora.formats.base import Additions, Fields, Job, load_format
from puzzlemark.corpora.records import Columns, Rows
from puzzlemark.corpora.revising import Reviser, Stale, Tally, refuse_rows_beyond
from puzzlemark.corpora.shards import Layout, Shard, extension_of, is_hidden, known_format
from puzzlemark.engines.base import Engine
from puzzlemark.errors import CorpusError, UsageError
from puzzlemark.files import keep_apart, refuse_folder
from puzzlemark.staging import staged

Advance = Callable[[int], None]  # told how many more records are written


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


class Source(Protocol):
    """What writing needs of the dataset that it is like."""

    @property
    def path(self) -> Path:
        """As the user named it."""
        ...

    @property
    def layout(self) -> Layout:
        """Its files."""
        ...

    @property
    def columns(self) -> Columns:
        """Its columns with a part in it."""
        ...


@dataclass(frozen=True, slots=True)
class WrittenShard:
    """What `write_shard` did."""

    file: RewrittenShard
    tally: Tally


def write_shard(
    job: Job, additions: Additions = (), advance: Advance | None = None
) -> WrittenShard:
    """Write one shard to its target. Reads and writes nothing else, so it may run anywhere."""
    tally = Tally()
    for some in load_format(job.shard.format).write(job, additions):
        tally += some
        if advance is not None:
            advance(some.written)
    digests = (_sha256(path) for path in (job.shard.path, job.target))
    return WrittenShard(RewrittenShard(job.shard.name, tally.written, *digests), tally)


def write_like(
    source: Source,
    place: Path,
    *,
    reviser: Reviser | None = None,
    rows: Rows | None = None,
    additions: Additions | None = None,
    engine: Engine | None = None,
    advance: Advance | None = None,
) -> Rewritten:
    """Write a dataset laid out like another one; see `Corpus.write`."""
    jobs = _plan(source, place, reviser, rows, engine, adds=additions is not None)
    for job in jobs:
        job.target.parent.mkdir(parents=True, exist_ok=True)
    done = list(_run(jobs, additions, engine, advance))
    _align_times(place)
    tally = sum((each.tally for each in done), Tally())
    _refuse_missing(source, tally.records, reviser, rows)
    stale = (Stale(column, reason, n) for (column, reason), n in sorted(tally.stale.items()))
    return Rewritten(
        tally.written,
        tuple(each.file for each in done),
        dict(sorted(tally.recomputed.items())),
        tuple(stale),
        source.layout.ignored,
    )


def write_records(
    records: Additions,
    output: Path | str,
    *,
    fields: Fields | None = None,
    overwrite: bool = False,
) -> int:
    """Write records as a new dataset, in the format that the name of `output` ends in.

    `write_records(corpus.batches(whole=True), "train.parquet")` changes the format of a dataset.
    `fields` are the columns, for formats that declare them; otherwise the first records tell.
    Returns how many were written.
    """
    output = Path(output)
    refuse_new_file(output)
    with staged(output, overwrite=overwrite) as place:
        written = load_format(known_format(output.name)).create(place, records, fields)
        count = sum(tally.written for tally in written)
        if not count:
            raise CorpusError(f"{output}: no records to write")
    return count


def refuse_new_file(output: Path) -> None:
    """Raise, before any work is done, unless a dataset can be made with this name."""
    known_format(output.name)
    refuse_folder(output)


def _plan(
    source: Source,
    place: Path,
    reviser: Reviser | None,
    rows: Rows | None,
    engine: Engine | None,
    *,
    adds: bool,
) -> list[Job]:
    """One job for each shard, or for each that has wanted rows; the last gets the additions."""
    layout = source.layout
    jobs: list[Job] = []
    for shard, start, end in _bounds(layout.shards, engine):
        some = None if rows is None else rows[slice(*np.searchsorted(rows, (start, end)))]
        target = place if layout.kind == "file" else place / shard.name
        part = None if reviser is None else _part(reviser, start, end, some)
        jobs.append(Job(shard, target, source.columns, start, some, part))
    wanted = [job for job in jobs if job.rows is None or len(job.rows)]
    if not wanted and not adds:
        raise CorpusError(f"{source.path}: no rows of it are to be written; name some")
    return wanted or jobs[-1:]


def _bounds(shards: Sequence[Shard], engine: Engine | None) -> Iterator[tuple[Shard, int, int]]:
    """Each shard with its first row and the one after its last; the last shard has no end."""
    inner = shards[:-1]
    counts = map(_count, inner) if engine is None else engine.map(_count, inner)
    starts = list(accumulate(counts, initial=0))
    ends = [*starts[1:], np.iinfo(np.int64).max]
    return zip(shards, starts, ends, strict=True)


def _count(shard: Shard) -> int:
    return load_format(shard.format).count(shard)


def _part(reviser: Reviser, start: int, end: int, rows: Rows | None) -> Reviser:
    changed = reviser.rows_in(start, end)
    if rows is not None:
        changed = np.intersect1d(changed, rows).tolist()
    return reviser.part(changed)


def _run(
    jobs: Sequence[Job],
    additions: Additions | None,
    engine: Engine | None,
    advance: Advance | None,
) -> Iterator[WrittenShard]:
    """What each job did, in their order; additions are a stream, so their job stays here."""
    sent: Sequence[Job] = ()
    if engine is not None and len(jobs) > 1:
        sent = jobs if additions is None else jobs[:-1]
        for done in engine.map(write_shard, sent):
            if advance is not None:
                advance(done.tally.written)
            yield done
    for job in jobs[len(sent) :]:
        is_last = job is jobs[-1]
        yield write_shard(job, (additions or ()) if is_last else (), advance)


def _refuse_missing(
    source: Source, records: int, reviser: Reviser | None, rows: Rows | None
) -> None:
    """Raise when a row was asked for, or a change is meant for one, that is not there."""
    if rows is None and reviser is not None:
        refuse_rows_beyond(reviser, records, str(source.path))
    elif rows is not None and (records < len(rows) or (len(rows) and rows[0] < 0)):
        row = rows[0] if rows[0] < 0 else rows[-1]
        raise CorpusError(f"{source.path}: no row {row} in it; check the rows to be written")


def _align_times(place: Path) -> None:
    """One modification time for all files and folders: theirs would show how long each one took."""
    now = time.time_ns()
    for path in (*place.rglob("*"), place):
        os.utime(path, ns=(now, now))


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def refuse_output(source: Layout, asked: Path, output: Path) -> None:
    """Raise unless a dataset laid out like `source` can be written to `output`."""
    if source.kind == "file":
        _refuse_other_file(source, output)
    else:
        _refuse_other_folder(source, output)
    keep_apart({"--output": output}, {"INPUT": source.paths(asked)})


def _refuse_other_file(source: Layout, output: Path) -> None:
    (shard,) = source.shards
    ours, theirs = extension_of(shard.name), extension_of(output.name)
    assert ours is not None
    same = theirs is not None and theirs[0] == ours[0] and _packing(theirs[1]) == _packing(ours[1])
    if not same or output.is_dir():
        raise UsageError(
            f"{output}: the input {shard.name} is one file ending in {ours[1]}, "
            f"so the output must be a file ending in {ours[1]}"
        )


def _refuse_other_folder(source: Layout, output: Path) -> None:
    if extension_of(output.name) is not None or (_exists(output) and not output.is_dir()):
        raise UsageError(
            f"{output}: the input is a {source.kind} of {len(source.shards)} files, "
            "so the output must be a folder"
        )
    if output.is_dir():
        _refuse_strange_files(output)


def _refuse_strange_files(output: Path) -> None:
    """A folder is replaced whole, so nothing may be in it that is no dataset."""
    for path in sorted(output.rglob("*")):
        name = path.relative_to(output).as_posix()
        if not path.is_dir() and (extension_of(name) is None or is_hidden(name)):
            raise UsageError(
                f"{output}: holds other files than a dataset, such as {name}, which would be lost; "
                "choose another --output, or move them away"
            )


def _packing(extension: str) -> bool:
    return extension.endswith(".gz")


def _exists(path: Path) -> bool:
    return path.exists() or path.is_symlink()
