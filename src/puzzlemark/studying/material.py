"""The snippets of a study: a private copy of each dataset is marked, and some of it is drawn."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from puzzlemark.bench.choices import Choice, choose
from puzzlemark.corpora.base import Corpus, Entry
from puzzlemark.embedding.manifest import load_manifest
from puzzlemark.embedding.run import embed
from puzzlemark.embedding.scores import score
from puzzlemark.engines.base import Engine
from puzzlemark.errors import NothingMarked, UnparsableSnippet, UsageError
from puzzlemark.languages.base import find, title_of
from puzzlemark.progress import Progress, no_progress
from puzzlemark.snippet import Snippet, apply_edits
from puzzlemark.studying.design import Design
from puzzlemark.syntax.tree import parse
from puzzlemark.syntax.variables import Policy

CHUNK = 64  # functions that are read at once while bare ones are drawn


@dataclass(frozen=True, slots=True)
class Marking:
    """How the private copies are marked, and which snippets a person is asked to read."""

    policy: Policy = "paper"
    tau: float | None = None
    min_rate: float | None = None
    max_rate: float | None = None
    min_lines: int = 4
    max_lines: int = 40
    max_width: int = 120  # characters in a line

    def __post_init__(self) -> None:
        for name in ("tau", "min_rate", "max_rate"):  # `1` and `1.0` are one setting
            if (value := getattr(self, name)) is not None:
                object.__setattr__(self, name, float(value))

    def is_readable(self, code: str) -> bool:
        """Whether a person can be asked to read it."""
        lines = code.strip("\n").split("\n")
        fits = self.min_lines <= len(lines) <= self.max_lines
        return fits and all(len(line.expandtabs(4)) <= self.max_width for line in lines)


@dataclass(frozen=True, slots=True)
class Item:
    """A function of the study; without a marked text it is shown bare to everybody."""

    dataset: int
    row: int
    id: str
    language: str
    bare: str
    marked: str | None

    @property
    def identity(self) -> bytes:
        """The same for copies of a function that differ in blanks only."""
        return hashlib.blake2b("".join(self.bare.split()).encode(), digest_size=16).digest()


@dataclass(frozen=True, slots=True)
class Material:
    """The snippets of one watermark."""

    choice: Choice
    carriers: int
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Source:
    """A dataset, and the rows of each language that a person can be asked to read."""

    corpus: Corpus
    rows: Mapping[str, list[int]]

    @staticmethod
    def of(corpus: Corpus, marking: Marking) -> "Source":
        """One pass over the dataset."""
        rows: dict[str, list[int]] = {}
        for entry in corpus.entries():
            language = find(entry.language) if entry.language else None
            if language is not None and entry.code and marking.is_readable(entry.code):
                rows.setdefault(language.name, []).append(entry.row)
        return Source(corpus, rows)


@dataclass(frozen=True, slots=True)
class Bench:
    """What the marking of private copies needs."""

    folder: Path  # private
    secret: Path  # of the study, in it
    marking: Marking
    workers: int | None = 1
    engine: str | Engine | None = None
    progress: Progress = no_progress


@dataclass(slots=True)
class _Drawing:
    """What is drawn already: a function serves one watermark only."""

    used: set[bytes] = field(default_factory=set)

    def take(self, items: Iterator[Item], wanted: int) -> list[Item]:
        """The first items that nobody has, each parsable in all the texts that it is shown by."""
        taken: list[Item] = []
        for item in items:
            if len(taken) == wanted:
                break
            if item.identity not in self.used and _parses(item):
                self.used.add(item.identity)
                taken.append(item)
        return taken


def gather(
    sources: Sequence[Source],
    specs: Sequence[str],
    design: Design,
    bench: Bench,
    rng: np.random.Generator,
) -> list[Material]:
    """Mark, draw, and give each watermark its snippets, in the order of `specs`.

    Watermarks with few carriers draw first, so that a common one does not take what they need.
    """
    languages = list(dict.fromkeys(name for source in sources for name in source.rows))
    choices = choose(specs, languages)
    for choice in choices:
        if choice.language not in languages:
            raise UsageError(
                f"{choice.name} is for {title_of(choice.language)}, and no dataset has readable "
                "functions in it; pass one that has, or leave the watermark out"
            )
    wanted = {choice.language for choice in choices}
    measured = {
        place: _measure(source, place, bench)
        for place, source in enumerate(sources)
        if wanted & source.rows.keys()
    }
    found = {choice.name: _carriers(sources, measured, choice, bench) for choice in choices}
    drawing = _Drawing()
    drawn: dict[str, Material] = {}
    for choice in sorted(choices, key=lambda each: len(found[each.name].items)):
        pool = found[choice.name]
        items = drawing.take(_shuffled(pool.items, rng), design.carriers)
        _refuse_few(choice, pool, items, design)
        if design.kind == "paper":
            others = _others(sources, choice.language, pool.rows, rng)
            bare = drawing.take(others, design.snippets - design.marked)
            if len(bare) < design.snippets - design.marked:
                raise UsageError(
                    f"{choice.name}: {len(bare)} bare snippets are left in the datasets; "
                    f"{design.snippets - design.marked} are needed; pass a larger dataset"
                )
            items += bare
        drawn[choice.name] = Material(choice, len(pool.items), tuple(items))
    return [drawn[choice.name] for choice in choices]


@dataclass(frozen=True, slots=True)
class _Pool:
    items: list[Item]
    rows: set[tuple[int, int]]  # dataset and row of all carriers, readable or not


def _measure(source: Source, place: int, bench: Bench) -> Path:
    """The features of a dataset, once for all watermarks."""
    path = bench.folder / f"{place}.parquet"
    score(source.corpus, path, workers=bench.workers, engine=bench.engine, progress=bench.progress)
    return path


def _carriers(
    sources: Sequence[Source], measured: Mapping[int, Path], choice: Choice, bench: Bench
) -> _Pool:
    """The carriers that `embed` chooses, without those that nothing had to be changed in."""
    items: list[Item] = []
    carriers: set[tuple[int, int]] = set()
    for place, source in enumerate(sources):
        if choice.language not in source.rows:
            continue
        own = bench.folder / f"{choice.name}-{place}"
        is_file = source.corpus.layout.kind == "file"
        output = own / (source.corpus.path.name if is_file else "shards")
        manifest = own / "manifest"
        marking = bench.marking
        try:
            embed(
                source.corpus,
                output,
                manifest,
                mark=choice.preset,
                watermark=choice.watermark if choice.preset is None else None,
                policy=marking.policy,
                tau=marking.tau,
                min_rate=marking.min_rate,
                max_rate=marking.max_rate,
                features=measured[place],
                secret_file=bench.secret,
                workers=bench.workers,
                engine=bench.engine,
                overwrite=True,
                progress=bench.progress,
            )
        except NothingMarked:
            continue
        edits = {each.row: each.edits for each in load_manifest(manifest)}
        carriers.update((place, row) for row in edits)
        readable = set(source.rows[choice.language])
        rows = sorted(row for row, changes in edits.items() if changes and row in readable)
        for item in _read(source, place, rows, choice.language):
            marked = apply_edits(item.bare.encode(), edits[item.row]).decode()
            if marking.is_readable(marked):
                items.append(replace(item, marked=marked))
    return _Pool(items, carriers)


def _others(
    sources: Sequence[Source],
    language: str,
    carriers: set[tuple[int, int]],
    rng: np.random.Generator,
) -> Iterator[Item]:
    """Functions that do not carry the mark, in a drawn order."""
    places = [
        (place, row)
        for place, source in enumerate(sources)
        for row in source.rows.get(language, ())
        if (place, row) not in carriers
    ]
    order = rng.permutation(len(places)).tolist()
    for start in range(0, len(order), CHUNK):
        chunk = [places[each] for each in order[start : start + CHUNK]]
        read = {
            (place, item.row): item
            for place, source in enumerate(sources)
            for item in _read(source, place, sorted(r for p, r in chunk if p == place), language)
        }
        yield from (read[each] for each in chunk if each in read)


def _read(source: Source, place: int, rows: Sequence[int], language: str) -> Iterator[Item]:
    if not rows:
        return
    entries: Iterator[Entry] = source.corpus.entries(np.asarray(rows, dtype=np.int64))
    for entry in entries:
        assert entry.code is not None, "only rows with code were noted"
        yield Item(place, entry.row, entry.id, language, entry.code, None)


def _shuffled(items: Sequence[Item], rng: np.random.Generator) -> Iterator[Item]:
    return (items[place] for place in rng.permutation(len(items)).tolist())


def _parses(item: Item) -> bool:
    """Whether all its texts can be coloured; one that cannot would stand out."""
    try:
        for code in (item.bare, item.marked):
            if code is not None:
                parse(Snippet(item.id, code.replace("\r\n", "\n"), item.language))
    except UnparsableSnippet:
        return False
    return True


def _refuse_few(choice: Choice, pool: _Pool, taken: Sequence[Item], design: Design) -> None:
    if len(taken) == design.carriers:
        return
    raise UsageError(
        f"{choice.name}: {len(taken)} snippets can be shown with its mark, {design.carriers} are "
        f"needed ({len(pool.rows):,} carriers, {len(pool.items):,} of them short enough to read "
        "and changed by the mark, some taken by other watermarks); pass a larger dataset, a higher "
        "--max-rate and --min-rate, more --max-lines or fewer --snippets"
    )
