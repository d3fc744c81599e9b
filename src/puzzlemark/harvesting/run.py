"""Harvest a source tree: its functions as records, one by one or written as a dataset."""

import hashlib
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import orjson

from puzzlemark.corpora.writing import refuse_new_file, write_into
from puzzlemark.engines.base import Engine, open_engine
from puzzlemark.errors import CorpusError, UsageError
from puzzlemark.files import keep_apart
from puzzlemark.harvesting.functions import FIELDS, Collected, Origin, Record, Wanted, collect_all
from puzzlemark.harvesting.sources import SKIPPED_FOLDERS, Choice, Source
from puzzlemark.languages.base import find, parsing_packages, title_of
from puzzlemark.progress import Progress
from puzzlemark.provenance import versions
from puzzlemark.resuming import Kept, Work, keep_or_find, resumable
from puzzlemark.staging import staged_file
from puzzlemark.stores import Location, local_path, locate_output

BATCH_BYTES = 1 << 20
BATCH_FILES = 64


@dataclass(slots=True)
class Harvested:
    """What came in and what was left out, by reason; complete when the harvest is over."""

    source: str
    language: str
    output: str | None = None
    origin: Origin = field(default_factory=lambda: Origin(""))
    records: int = 0
    files: int = 0  # of the language, read or not
    skipped_files: Counter[str] = field(default_factory=Counter)
    skipped_functions: Counter[str] = field(default_factory=Counter)

    def to_json(self) -> dict[str, Any]:
        """Plain data for a JSON object."""
        return {
            "source": self.source,
            "output": self.output,
            "language": self.language,
            "repo": self.origin.repo,
            "sha": self.origin.sha,
            "records": self.records,
            "files": self.files,
            "skipped_files": dict(self.skipped_files.most_common()),
            "skipped_functions": dict(self.skipped_functions.most_common()),
        }


def harvest(
    source: Path | str,
    language: str,
    *,
    min_lines: int = 1,
    documented_only: bool = False,
    exclude: Sequence[str] = (),
    workers: int | None = 1,
    engine: str | Engine | None = None,
    tally: Harvested | None = None,
    progress: Progress | None = None,
) -> Iterator[Record]:
    """The functions of a folder, a .zip, a .tar.gz or a single file, in the order of their paths.

    `next(harvest("src", "python"))["func_name"] -> "Class.method"`. Files that cannot be read or
    parsed are counted in `tally`, never fatal.
    """
    tree, wanted = _open(source, language, min_lines, documented_only, exclude)
    tally = tally or Harvested(str(source), wanted.language)
    return _reap_tree(tree, wanted, open_engine(engine, workers), tally, progress)


def harvest_to(
    source: Path | str,
    output: Location | str,
    language: str,
    *,
    min_lines: int = 1,
    documented_only: bool = False,
    exclude: Sequence[str] = (),
    workers: int | None = None,
    engine: str | Engine | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> Harvested:
    """Harvest into a dataset: .jsonl, .jsonl.gz or .parquet, by the name of `output`.

    A run that is interrupted goes on when it is called again: no file is parsed twice.
    """
    source, output = local_path(source, "the source tree"), locate_output(output)
    refuse_new_file(output)
    keep_apart({"--output": output}, {"FOLDER_OR_ZIP": source})
    tree, wanted = _open(source, language, min_lines, documented_only, exclude)
    tally = Harvested(str(source), wanted.language, str(output))
    fields = {name: list[str] if name.endswith("_tokens") else str for name in FIELDS}
    with (
        staged_file(output, overwrite=overwrite) as place,
        resumable(output, _facts(tree, wanted)) as work,
        closing(
            _reap_tree(tree, wanted, open_engine(engine, workers), tally, progress, work)
        ) as records,
    ):
        write_into(place, output, _at_least_one(records, tally), fields)
    return tally


def _open(
    source: Path | str,
    language: str,
    min_lines: int,
    documented_only: bool,
    exclude: Sequence[str],
) -> tuple[Source, Wanted]:
    table = find(language)
    if table is None:
        raise UsageError(f"no grammar for the language {language!r}; see: puzzlemark list")
    skipped = SKIPPED_FOLDERS | table.skipped_folders
    tree = Source(Path(source), Choice(table.extensions, tuple(exclude), skipped))
    if not tree.path.exists():
        raise CorpusError(f"{tree.path}: no such file or folder; check the path")
    return tree, Wanted(table.name, min_lines, documented_only)


def _facts(tree: Source, wanted: Wanted) -> dict[str, Any]:
    """All that decides the records, to tell an interrupted run from another one."""
    return {
        **asdict(wanted),
        "exclude": tree.choice.exclude,
        **asdict(tree.origin()),
        "versions": versions(*parsing_packages()),
        "input": tree.stamps(),
    }


@dataclass(frozen=True, slots=True)
class _Files:
    """Some files that one worker reads; an engine can send and divide them."""

    files: list[tuple[str, bytes]]
    number: int  # from 0, in the order of the tree

    def split(self) -> "list[_Files]":
        return [_Files([each], self.number) for each in self.files]

    def describe(self) -> str:
        return self.files[0][0]

    @property
    def name(self) -> str:
        """By what is in them as well: they are read anyway."""
        digest = hashlib.sha256()
        for path, content in self.files:
            digest.update(f"{path}\n{len(content)}\n".encode() + content)
        return f"{self.number}-{digest.hexdigest()[:32]}"


def _reap_tree(
    tree: Source,
    wanted: Wanted,
    opening: AbstractContextManager[Engine],
    tally: Harvested,
    progress: Progress | None,
    work: Work | None = None,
) -> Generator[Record, None, None]:
    tally.language = wanted.language
    with opening as engine:
        tally.origin = tree.origin()
        each = partial(_collect, wanted=wanted, origin=tally.origin)
        batches = _batches(tree.files(), tally)
        if work is None:
            found: Iterator[Collected] = chain.from_iterable(engine.map(each, batches))
        else:
            kept = Kept(work, "parts", _pack, _unpack)
            found = keep_or_find(batches, lambda some: engine.map(each, some), kept)
        for collected in found:
            _count(collected, tally)
            if progress is not None:
                progress("harvesting", tally.records, None)
            yield from collected.records
    tally.files += tree.skipped.total()
    tally.skipped_files.update(tree.skipped)


def _collect(batch: _Files, wanted: Wanted, origin: Origin) -> list[Collected]:
    return [collect_all(batch.files, wanted, origin)]


def _pack(parts: list[Collected]) -> bytes:
    return orjson.dumps([[e.records, e.skipped_files, e.skipped_functions] for e in parts])


def _unpack(content: bytes) -> list[Collected]:
    return [
        Collected(records, Counter(files), Counter(functions))
        for records, files, functions in orjson.loads(content)
    ]


def _batches(files: Iterable[tuple[str, bytes]], tally: Harvested) -> Iterator[_Files]:
    number = 0
    batch: list[tuple[str, bytes]] = []
    size = 0
    for each in files:
        batch.append(each)
        size += len(each[1])
        tally.files += 1
        if size >= BATCH_BYTES or len(batch) >= BATCH_FILES:
            yield _Files(batch, number)
            batch, size, number = [], 0, number + 1
    if batch:
        yield _Files(batch, number)


def _count(collected: Collected, tally: Harvested) -> None:
    tally.records += len(collected.records)
    tally.skipped_files.update(collected.skipped_files)
    tally.skipped_functions.update(collected.skipped_functions)


def _at_least_one(records: Iterator[Record], tally: Harvested) -> Iterator[Record]:
    yield from records
    if not tally.records:
        # an empty dataset would only fail later, in a place that says less
        raise CorpusError(
            f"{tally.source}: no {title_of(tally.language)} functions in it{_because(tally)}"
        )


def _because(tally: Harvested) -> str:
    if not tally.files:
        return "; no file has the language's extension"
    reasons = [*tally.skipped_files.items(), *tally.skipped_functions.items()]
    message = ", ".join(f"{count} x {reason}" for reason, count in reasons)
    return f"; left out: {message}" if message else "; its files define none"
