"""The one writer of datasets: shard by shard, each shard a task of its own.

A dataset is written like another one (`write_like`: all of it or some rows, with edits, with
records added at its end) or from records alone (`write_records`).
"""

import hashlib
import json
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from itertools import accumulate
from pathlib import Path
from typing import Protocol, cast

import numpy as np

from puzzlemark.corpora.formats.base import Additions, Continuing, Fields, Job, load_format
from puzzlemark.corpora.hub import Growth, is_about_sizes, mend
from puzzlemark.corpora.lines import packing_of
from puzzlemark.corpora.pieces import is_enterable
from puzzlemark.corpora.records import Columns, Rows
from puzzlemark.corpora.revising import Reviser, Stale, Tally, refuse_rows_beyond
from puzzlemark.corpora.shards import Layout, Shard, extension_of, is_hidden, known_format
from puzzlemark.engines.base import Engine
from puzzlemark.engines.serial import Serial
from puzzlemark.errors import CorpusError, UsageError
from puzzlemark.files import is_there, keep_apart, refuse_folder, remove
from puzzlemark.holding import attempts_for
from puzzlemark.resuming import Work
from puzzlemark.staging import staged_file
from puzzlemark.stores import Location, Url, fetched, locate_output, size_of

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
    left: tuple[str, ...] = ()  # files of other splits, copied as they are


class Source(Protocol):
    """What writing needs of the dataset that it is like."""

    @property
    def path(self) -> Location:
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
    """Write one shard to its target. Reads and writes nothing else, so it may run anywhere.

    A shard of a store is fetched once, and sent when it is whole: one of each is on the disk.
    """
    with _brought_here(job) as here:
        tally = Tally()
        for some in load_format(here.shard.format).write(here, additions):
            tally += some
            if advance is not None:
                advance(some.written)
        digests = (_sha256(path) for path in (here.source, here.place))
        return WrittenShard(RewrittenShard(job.shard.name, tally.written, *digests), tally)


@contextmanager
def _brought_here(job: Job) -> Iterator[Job]:
    """The same job with files of this machine; what it wrote is sent in the end."""
    asked, target = job.shard.path, job.target
    with ExitStack() as held:
        source = held.enter_context(fetched(asked))
        place = target
        if isinstance(target, Url):
            folder = held.enter_context(tempfile.TemporaryDirectory(prefix="puzzlemark-"))
            place = Path(folder, target.name)
        try:
            yield replace(job, shard=replace(job.shard, path=source), target=place)
        except CorpusError as exc:  # says where it was: which is nowhere now
            if str(source) in str(exc) and source != asked:
                raise CorpusError(str(exc).replace(str(source), str(asked))) from exc
            raise
        if isinstance(target, Url) and isinstance(place, Path):
            target.put_whole(place, attempts_for(target))


ATTEMPT = ".attempt-"


def write_elsewhere(job: Job) -> WrittenShard:
    """The same by a worker of an engine, which may be given up and be done again by another one.

    Both may then write at the same time. Each writes at a place of its own, and puts the whole file
    where it belongs.
    """
    if isinstance(job.target, Url):  # whole or not at all, whoever comes first
        return write_shard(job)
    place = Path(tempfile.mkdtemp(prefix=ATTEMPT, dir=job.target.parent))
    written = write_shard(replace(job, target=place / job.target.name))
    (place / job.target.name).replace(job.target)
    place.rmdir()
    return written


def write_like(
    source: Source,
    place: Location,
    *,
    reviser: Reviser | None = None,
    rows: Rows | None = None,
    additions: Additions | None = None,
    engine: Engine | None = None,
    advance: Advance | None = None,
    work: Work | None = None,
) -> Rewritten:
    """Write a dataset laid out like another one; see `Corpus.write`."""
    if not all(map(_is_shared, (source.path, place))):
        engine = None  # its workers would find nothing there
    if isinstance(place, Url) and not place.takes_several:
        engine = None
    # the shards of an interrupted run wait with its other parts; in a store they are at their place
    waits = work is not None and source.layout.kind != "file"
    built = place
    goes_on = work is not None and not waits and _goes_on(source.layout.shards[0], place)
    lends = work is not None and additions is None and _lends(source.layout.shards[0], engine)
    if work is not None and isinstance(place, Path) and (waits or goes_on or lends):
        built = work.folder / ("shards" if waits else f"file/{place.name}")
    if reviser is not None and work is not None and (waits or lends) and _is_here(engine):
        reviser = reviser.filed(work.folder / "changes")
    jobs = _plan(source, built, reviser, rows, engine, adds=additions is not None)
    if goes_on:
        jobs = [replace(job, notes=work) for job in jobs]
    for job in jobs:
        if isinstance(job.target, Path):
            job.target.parent.mkdir(parents=True, exist_ok=True)
    if work is not None and waits:
        done = list(_run_missing(jobs, additions, engine, advance, work, built))
    else:
        done = list(_run(jobs, additions, engine, advance, lends=lends))
    if isinstance(built, Path):
        for left in built.rglob(f"{ATTEMPT}*"):  # of workers that died
            shutil.rmtree(left, ignore_errors=True)
    is_whole = rows is None and additions is None
    if is_whole:
        _copy_others(source.layout, built, jobs, done)
    if isinstance(place, Path) and isinstance(built, Path):
        if built != place:
            _stand_at(place, built)
        _align_times(place)
    if rows is None:
        _refuse_changed(jobs, done)
    tally = sum((each.tally for each in done), Tally())
    _refuse_missing(source, tally.records, reviser, rows)
    stale = (Stale(column, reason, n) for (column, reason), n in sorted(tally.stale.items()))
    return Rewritten(
        tally.written,
        tuple(each.file for each in done),
        dict(sorted(tally.recomputed.items())),
        tuple(stale),
        source.layout.ignored + (0 if is_whole else len(source.layout.others)),
        left=source.layout.left if is_whole else (),
    )


def _goes_on(shard: Shard, place: Location) -> bool:
    """Whether an interrupted run can go on in the middle of a single file."""
    variant = load_format(shard.format)
    on_disk = isinstance(shard.path, Path) and isinstance(place, Path)
    if not on_disk or not hasattr(variant, "goes_on"):
        return False
    return cast("Continuing", variant).goes_on(shard.name)


def _lends(shard: Shard, engine: Engine | None) -> bool:
    """Whether one file is written by a worker: the driver keeps no footer of all row groups."""
    return _is_here(engine) and is_enterable(shard)


def _is_here(engine: Engine | None) -> bool:
    """Whether there are workers, and they can read what this process put on its own disk."""
    return bool(getattr(engine, "is_here", False)) and getattr(engine, "workers", 1) > 1


def _stand_at(place: Path, built: Path) -> None:
    """Give the files a second name: a run that is killed before its end finds them by the first."""
    try:
        if built.is_dir():
            shutil.copytree(built, place, copy_function=os.link)
        else:
            place.hardlink_to(built)
    except (OSError, shutil.Error):  # a file system without links
        remove(place)
        built.rename(place)


def _copy_others(
    layout: Layout, place: Location, jobs: Sequence[Job], done: Sequence[WrittenShard]
) -> None:
    """The files beside the shards, byte for byte but for the sizes that they say."""
    if not layout.others:
        return
    growths = [
        Growth(job.shard.name, each.tally.grown, size_of(job.shard.path), size_of(job.target))
        for job, each in zip(jobs, done, strict=True)
    ]
    left = [(name, path) for name, path in layout.others if name in layout.left]
    unchanged = [Growth(name, 0, *[size_of(path)] * 2) for name, path in left]
    for name, path in layout.others:
        target = place / name
        if isinstance(target, Path):
            target.parent.mkdir(parents=True, exist_ok=True)
        with fetched(path) as source:
            if is_about_sizes(name):
                target.write_bytes(mend(name, source.read_bytes(), [*growths, *unchanged]))
            elif isinstance(target, Path):
                shutil.copyfile(source, target)
            else:
                target.put_whole(source, attempts_for(target))


def write_records(
    records: Additions,
    output: Location | str,
    *,
    fields: Fields | None = None,
    overwrite: bool = False,
) -> int:
    """Write records as a new dataset, in the format that the name of `output` ends in.

    `write_records(corpus.batches(whole=True), "train.parquet")` changes the format of a dataset.
    `fields` are the columns, for formats that declare them; otherwise the first records tell.
    Returns how many were written.
    """
    output = locate_output(output)
    refuse_new_file(output)
    with staged_file(output, overwrite=overwrite) as place:
        return write_into(place, output, records, fields)


def write_into(place: Path, output: Location, records: Additions, fields: Fields | None) -> int:
    """The same at a place that is free; whoever calls puts it where it belongs."""
    written = load_format(known_format(output.name)).create(place, records, fields)
    count = sum(tally.written for tally in written)
    if not count:
        raise CorpusError(f"{output}: no records to write")
    return count


def refuse_new_file(output: Location) -> None:
    """Raise, before any work is done, unless a dataset can be made with this name."""
    known_format(output.name)
    refuse_folder(output)


def _plan(
    source: Source,
    place: Location,
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
    return load_format(shard.format).count(shard) if shard.ends is None else shard.ends[-1]


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
    *,
    lends: bool = False,
) -> Iterator[WrittenShard]:
    """What each job did, in their order; additions are a stream, so their job stays here."""
    sent: Sequence[Job] = ()
    if engine is not None and (len(jobs) > 1 or lends):
        sent = jobs if additions is None else jobs[:-1]
        for done in engine.map(write_elsewhere, sent):
            if advance is not None:
                advance(done.tally.written)
            yield done
    for job in jobs[len(sent) :]:
        is_last = job is jobs[-1]
        yield write_shard(job, (additions or ()) if is_last else (), advance)


def _run_missing(
    jobs: Sequence[Job],
    additions: Additions | None,
    engine: Engine | None,
    advance: Advance | None,
    work: Work,
    built: Location,
) -> Iterator[WrittenShard]:
    """The same for jobs of which an interrupted run has done some; those are not done again."""
    there = _names_in(built)
    sent = jobs if additions is None else jobs[:-1]
    found = {
        job.shard.name: _find_written(work, job) if job.shard.name in there else None
        for job in sent
    }
    missing = [job for job in sent if found[job.shard.name] is None]
    results = iter((engine or Serial()).map(write_elsewhere, missing))
    for job in sent:
        written = found[job.shard.name]
        if written is None:
            written = next(results)
            facts = {"file": asdict(written.file), **written.tally.to_json()}
            work.keep(_note(job), json.dumps(facts).encode())
        if advance is not None:
            advance(written.tally.written)
        yield written
    for job in jobs[len(sent) :]:
        if isinstance(job.target, Path):
            remove(job.target)  # half of it, perhaps
        yield write_shard(job, additions or (), advance)


def _find_written(work: Work, job: Job) -> WrittenShard | None:
    content = work.find(_note(job))
    if content is None:
        return None
    facts = json.loads(content)
    return WrittenShard(RewrittenShard(**facts["file"]), Tally.from_json(facts))


def _names_in(built: Location) -> Set[str]:
    """What was written there, by its names below."""
    if isinstance(built, Url):
        return set(built.find()) if built.is_dir() else set()
    return {path.relative_to(built).as_posix() for path in built.rglob("*") if path.is_file()}


def _is_shared(location: Location) -> bool:
    return not isinstance(location, Url) or location.is_shared


def _note(job: Job) -> str:
    return f"written/{job.shard.name}.json"


def _refuse_changed(jobs: Sequence[Job], done: Sequence[WrittenShard]) -> None:
    """Raise when a shard has not as many records as it had: edits were put at wrong places."""
    for job, each in zip(jobs, done, strict=True):
        if job.shard.ends is not None and each.tally.records != job.shard.ends[-1]:
            raise CorpusError(
                f"{job.shard.path}: {each.tally.records:,} records, and {job.shard.ends[-1]:,} "
                "when it was read before; do not change a dataset while it is marked"
            )


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


def refuse_output(source: Layout, asked: Location, output: Location) -> None:
    """Raise unless a dataset laid out like `source` can be written to `output`."""
    if source.kind == "file":
        _refuse_other_file(source, output)
    else:
        _refuse_other_folder(source, output)
    keep_apart({"--output": output}, {"INPUT": source.paths(asked)})


def _refuse_other_file(source: Layout, output: Location) -> None:
    (shard,) = source.shards
    ours, theirs = extension_of(shard.name), extension_of(output.name)
    assert ours is not None
    same = (
        theirs is not None and theirs[0] == ours[0] and packing_of(theirs[1]) == packing_of(ours[1])
    )
    if not same or output.is_dir():
        raise UsageError(
            f"{output}: the input {shard.name} is one file ending in {ours[1]}, "
            f"so the output must be a file ending in {ours[1]}"
        )


def _refuse_other_folder(source: Layout, output: Location) -> None:
    if extension_of(output.name) is not None or (is_there(output) and not output.is_dir()):
        raise UsageError(
            f"{output}: the input is a {source.kind} of {len(source.shards)} files, "
            "so the output must be a folder"
        )
    if output.is_dir():
        _refuse_strange_files(output, {name for name, _ in source.others})
    for name, path in source.others:
        if isinstance(path, Path) and _leads_to_private(path, source.root):
            raise UsageError(
                f"{name}: a link to a file elsewhere that only you can read; its content would be "
                "copied into the output; remove the link from the input"
            )


def _leads_to_private(path: Path, root: Location) -> bool:
    """Whether a stranger's folder leads to what others cannot read: a key, say.

    The cache of a hub has its files elsewhere, too, in a folder of that name.
    """
    target = path.resolve()
    is_elsewhere = isinstance(root, Path) and not target.is_relative_to(root.resolve())
    if os.name == "nt" or not is_elsewhere or target.parent.name == "blobs":
        return False
    return not stat.S_IMODE(target.stat().st_mode) & 0o077


def _refuse_strange_files(output: Location, others: Set[str]) -> None:
    """A folder is replaced whole, so nothing may be in it that is no dataset."""
    for name in sorted(_all_names_in(output)):
        is_strange = extension_of(name) is None or is_hidden(name)
        if is_strange and name not in others:
            raise UsageError(
                f"{output}: holds other files than a dataset, such as {name}, which would be lost; "
                "choose another --output, or move them away"
            )


def _all_names_in(folder: Location) -> Iterator[str]:
    if isinstance(folder, Url):
        yield from folder.find()
        return
    for path in folder.rglob("*"):
        if not path.is_dir():
            yield path.relative_to(folder).as_posix()
