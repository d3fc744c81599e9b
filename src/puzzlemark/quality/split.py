"""Train and test, split by project: no project stands on both sides (paper, section 5.1)."""

import hashlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from puzzlemark.corpora.base import Corpus
from puzzlemark.corpora.formats.base import load_format
from puzzlemark.corpora.records import Rows
from puzzlemark.corpora.writing import refuse_output
from puzzlemark.errors import CorpusError, UsageError
from puzzlemark.files import keep_apart
from puzzlemark.progress import Progress
from puzzlemark.staging import staged_together
from puzzlemark.stores import Location, locate_output

PROJECT = tuple(
    "repo repo_name repository repository_name repo_full_name project project_name "
    "max_stars_repo_name nwo package".split()
)


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two datasets."""

    path: str
    records: int
    projects: int


@dataclass(frozen=True, slots=True)
class Split:
    """What was written."""

    column: str
    seed: int
    train: Side
    test: Side
    shared: int  # test records whose code stands in the training side, too: copies between projects

    def to_json(self) -> dict[str, Any]:
        """For `--json`."""
        return asdict(self)


def split(
    corpus: Corpus,
    train: Location | str,
    test: Location | str,
    *,
    test_share: float = 0.1,
    project_column: str | None = None,
    seed: int = 0,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> Split:
    """Write two datasets of the same format; each record goes to one of them, untouched.

    Which projects are held out depends on the seed and their names and sizes only.
    """
    train, test = locate_output(train), locate_output(test)
    _refuse(corpus, train, test)
    report = progress or (lambda _stage, _done, _total: None)
    column = find_project_column(corpus, project_column)
    with staged_together((train, test), overwrite=overwrite) as places:
        projects, codes = _survey(corpus, column, report)
        held_out = choose_projects(Counter(projects), test_share, seed)
        if not held_out:
            raise CorpusError(
                f"{corpus.path}: its records are all of one project; none can be held out"
            )
        is_test = np.fromiter((name in held_out for name in projects), bool, len(projects))
        for place, chosen in zip(places, (~is_test, is_test), strict=True):
            _write(corpus, np.flatnonzero(chosen).astype(np.int64), place, report)
    return Split(
        column=column,
        seed=seed,
        train=Side(str(train), int((~is_test).sum()), len(set(projects)) - len(held_out)),
        test=Side(str(test), int(is_test.sum()), len(held_out)),
        shared=int(np.isin(codes[is_test], codes[~is_test]).sum()),
    )


def find_project_column(corpus: Corpus, asked: str | None = None) -> str:
    """The column that names the project: the one asked for, or one recognised by its name."""
    heads = (load_format(shard.format).head(shard) for shard in corpus.shards)
    columns = list(next(filter(None, heads), {}))
    found = [name for name in ((asked,) if asked is not None else PROJECT) if name in columns]
    if not found:
        what = f"no column {asked!r}" if asked is not None else "no column names the project"
        raise UsageError(
            f"{corpus.path}: {what}; its columns are {', '.join(columns)}; pass --project-column"
        )
    return found[0]


def choose_projects(sizes: Mapping[str, int], share: float, seed: int) -> frozenset[str]:
    """The projects to hold out: in a seeded order, each that brings their size nearer to the share.

    At least one is held out and at least one is not; of a single project, none is.
    """
    if not 0 < share < 1:
        raise UsageError(f"a test share of {share}; it must lie between 0 and 1")
    if len(sizes) < 2:
        return frozenset()
    wanted, size = share * sum(sizes.values()), 0
    chosen: list[str] = []
    for name in sorted(sizes, key=lambda name: _draw(seed, name)):
        if abs(size + sizes[name] - wanted) < abs(size - wanted) and len(chosen) < len(sizes) - 1:
            chosen.append(name)
            size += sizes[name]
    smallest = min(sizes, key=lambda name: (sizes[name], _draw(seed, name)))
    return frozenset(chosen or [smallest])


def _draw(seed: int, name: str) -> bytes:
    """A project's place in the order: the same whatever other projects there are."""
    return hashlib.blake2b(f"{seed}:{name}".encode("utf-8", "replace"), digest_size=16).digest()


def _refuse(corpus: Corpus, train: Location, test: Location) -> None:
    keep_apart({"--train": train, "--test": test}, {"INPUT": corpus.paths})
    for path in (train, test):
        refuse_output(corpus.layout, corpus.path, path)


def _survey(corpus: Corpus, column: str, report: Progress) -> tuple[list[str], Rows]:
    """Each record's project and a digest of its code; a record without a project is one itself."""
    if corpus.columns.inner is not None:
        raise UsageError(
            f"{corpus.path}: a dataset is split by its records; leave out the path to its code"
        )
    by_project = replace(corpus, columns=replace(corpus.columns, id=column))
    names: dict[str, str] = {}  # each spelling once in memory
    projects: list[str] = []
    codes: list[int] = []
    for batch in by_project.batches():
        for entry in batch.entries():
            projects.append(names.setdefault(entry.id, entry.id))
            code = (entry.code or "").encode("utf-8", "surrogatepass")
            digest = hashlib.blake2b(code, digest_size=8).digest()
            codes.append(int.from_bytes(digest, "big", signed=True))
        report("reading", len(projects), None)
    return projects, np.asarray(codes, dtype=np.int64)


def _write(corpus: Corpus, rows: Rows, place: Location, report: Progress) -> None:
    done = 0

    def advance(more: int) -> None:
        nonlocal done
        done += more
        report(f"writing {place.name}", done, len(rows))

    corpus.write(place, rows=rows, progress=advance)
