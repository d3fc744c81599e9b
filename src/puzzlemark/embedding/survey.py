"""One pass over a dataset: measure every snippet, and note what the walk over carriers needs.

Where an earlier run measured the dataset already, the pass parses nothing.
"""

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from puzzlemark.corpora.base import Batch, Corpus, Entry, open_corpus
from puzzlemark.corpora.records import record_digest
from puzzlemark.engines.base import Engine
from puzzlemark.errors import UnparsableSnippet, UsageError
from puzzlemark.features.measure import FEATURES, FeatureTable, measure
from puzzlemark.languages.base import Language, find
from puzzlemark.progress import Progress, no_progress
from puzzlemark.snippet import Snippet
from puzzlemark.syntax.tree import Tree, parse
from puzzlemark.watermarks.base import Watermark


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to look for in each snippet, beside its features."""

    watermark: Watermark | None = None
    order_key: bytes | None = None  # None: dataset order
    language: str | None = None  # records in another language are left alone
    features: tuple[str, ...] = FEATURES


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """What an earlier run measured: the features of every record, or the reason for none."""

    table: FeatureTable
    reasons: Sequence[str | None]


@dataclass(frozen=True, slots=True)
class Survey:
    """What one pass learnt about every record, in dataset order; a few dozen bytes each."""

    table: FeatureTable
    may_occur: NDArray[np.bool_]  # the mark's trigger may be there by nature
    order: NDArray[np.uint64]  # walk carriers by ascending number, then by row
    digests: NDArray[np.void]  # 16 bytes each
    unmeasured: Counter[str]  # records without features, by reason
    spoken: NDArray[np.uint8]  # the language of each record by its place in `languages`, from 1
    languages: tuple[str, ...]  # those of the records that are in one of ours, by name

    def __len__(self) -> int:
        return len(self.may_occur)

    def by_language(self) -> dict[str, NDArray[np.bool_]]:
        """Which records are in which language; all are one group where only one is met."""
        if len(self.languages) < 2:
            return {name: np.ones(len(self), np.bool_) for name in self.languages or ("",)}
        return {name: self.spoken == place for place, name in enumerate(self.languages, 1)}

    @property
    def names(self) -> NDArray[np.int32]:
        """How many distinct names each snippet declares (dvc): at least its variables."""
        return self.table.values[:, FEATURES.index("dvc")]


def open_input(
    path: Path | str | Corpus,
    *,
    language: str | None,
    default_language: str | None = None,
    **columns: str | None,
) -> Corpus:
    """The dataset at a path, or one that is open: its columns and language are said already."""
    if not isinstance(path, Corpus):
        return open_corpus(path, language=language or default_language, **columns)
    if given := sorted(name for name, value in columns.items() if value is not None):
        raise UsageError(f"the corpus is open, and its columns are known: leave out {given[0]}")
    if language is not None:
        raise UsageError("the corpus is open, and its language is known: leave out language")
    return replace(path, language=path.language or default_language)


def survey(
    corpus: Corpus, wanted: Wanted, engine: Engine, progress: Progress = no_progress
) -> Survey:
    """Measure the whole dataset."""
    growing = _Growing()
    for part in engine.map(partial(survey_batch, wanted=wanted), corpus.batches()):
        growing.add(part)
        progress("measuring", len(growing.may_occur), None)
    return growing.finish()


def survey_measured(
    corpus: Corpus,
    wanted: Wanted,
    measured: Measured,
    engine: Engine,
    progress: Progress = no_progress,
) -> Survey:
    """The same survey of a dataset that was measured before: read, but not parsed again."""
    growing = _Growing()
    done = 0
    for seen in engine.map(partial(look_batch, wanted=wanted), corpus.batches()):
        rows = slice(done, done + len(seen.reasons))
        known = measured.table.measured[rows]
        if len(known) < len(seen.reasons):
            raise UsageError(f"{corpus.path}: more records than were measured; score it again")
        theirs = measured.reasons[rows]
        reasons = [one or other for one, other in zip(seen.reasons, theirs, strict=True)]
        usable = known & np.array([reason is None for reason in reasons], np.bool_)
        values = np.where(usable[:, None], measured.table.values[rows], 0).astype(np.int32)
        growing.add(
            _Part(
                FeatureTable(values, usable),
                seen.may_occur & usable,
                seen.order,
                seen.digests,
                Counter(reason for reason in reasons if reason is not None),
                seen.spoken,
            )
        )
        done += len(seen.reasons)
        progress("reading", done, None)
    return growing.finish()


@dataclass(frozen=True, slots=True)
class _Seen:
    reasons: list[str | None]  # why a record cannot be used, as far as that shows without parsing
    may_occur: NDArray[np.bool_]
    order: NDArray[np.uint64]
    digests: bytes
    spoken: list[str]


def look_batch(batch: Batch, wanted: Wanted) -> _Seen:
    """The worker's share of it."""
    entries = batch.entries()
    reasons: list[str | None] = []
    may_occur = np.zeros(len(entries), np.bool_)
    for place, entry in enumerate(entries):
        try:
            language = _language_of(entry, wanted.language)
        except UnparsableSnippet as exc:
            reasons.append(str(exc))
            continue
        reasons.append(None)
        may_occur[place] = wanted.watermark is not None and _may_occur(
            wanted.watermark, entry, language
        )
    return _Seen(
        reasons,
        may_occur,
        np.array([_order(entry, wanted.order_key) for entry in entries], np.uint64),
        b"".join(record_digest(entry.id, entry.code) for entry in entries),
        [_spoken(entry) for entry in entries],
    )


def _spoken(entry: Entry) -> str:
    language = find(entry.language or "")
    return "" if language is None else language.name


def _may_occur(watermark: Watermark, entry: Entry, language: Language) -> bool:
    """What the watermark says of the source that is parsed, mostly without parsing it."""
    code = (entry.code or "").encode()
    if watermark.may_occur(code) or language.wrapper is None:
        return watermark.may_occur(code)
    before, after = language.wrapper
    if not watermark.may_occur(before + code + after):
        return False
    try:
        return watermark.may_occur(parse_entry(entry, None).source)
    except UnparsableSnippet:
        return False


@dataclass(frozen=True, slots=True)
class _Part:
    table: FeatureTable
    may_occur: NDArray[np.bool_]
    order: NDArray[np.uint64]
    digests: bytes
    unmeasured: Counter[str]
    spoken: list[str]  # the language of each record; "" where it is none of ours


def survey_batch(batch: Batch, wanted: Wanted) -> _Part:
    """The worker's share: pure, and small in what it returns."""
    entries = batch.entries()
    rows: list[tuple[int, ...] | None] = []
    may_occur = np.zeros(len(entries), np.bool_)
    unmeasured: Counter[str] = Counter()
    for place, entry in enumerate(entries):
        try:
            tree = parse_entry(entry, wanted.language)
        except UnparsableSnippet as exc:
            unmeasured[str(exc)] += 1
            rows.append(None)
            continue
        rows.append(measure(tree, wanted.features))
        may_occur[place] = wanted.watermark is not None and wanted.watermark.may_occur(tree.source)
    return _Part(
        FeatureTable.from_rows(rows),
        may_occur,
        np.array([_order(entry, wanted.order_key) for entry in entries], np.uint64),
        b"".join(record_digest(entry.id, entry.code) for entry in entries),
        unmeasured,
        [_spoken(entry) for entry in entries],
    )


def parse_entry(entry: Entry, wanted: str | None) -> Tree:
    """The tree of a record; raises UnparsableSnippet with the reason why it has none."""
    language = _language_of(entry, wanted)
    assert entry.code is not None, "else it would be refused"
    return parse(Snippet(entry.id, entry.code, language.name, project=entry.project))


def _language_of(entry: Entry, wanted: str | None) -> Language:
    if entry.reason is not None or entry.code is None:
        raise UnparsableSnippet(entry.reason or "null code")
    language = find(entry.language or "")
    if language is None:
        raise UnparsableSnippet(f"language {entry.language!r} is not supported")
    if wanted is not None and language.name != wanted:
        raise UnparsableSnippet(f"language {language.name!r} is not the mark's")
    return language


def _order(entry: Entry, key: bytes | None) -> int:
    if key is None:
        return 0
    digest = hashlib.blake2b(entry.id.encode("utf-8", "surrogatepass"), key=key, digest_size=8)
    return int.from_bytes(digest.digest(), "big")


@dataclass(slots=True)
class _Growing:
    """A survey while it is made: plain bytes, so that no record is held twice or as objects."""

    values: bytearray = field(default_factory=bytearray)
    measured: bytearray = field(default_factory=bytearray)
    may_occur: bytearray = field(default_factory=bytearray)
    order: bytearray = field(default_factory=bytearray)
    digests: bytearray = field(default_factory=bytearray)
    unmeasured: Counter[str] = field(default_factory=Counter)
    spoken: bytearray = field(default_factory=bytearray)
    languages: dict[str, int] = field(default_factory=lambda: {"": 0})  # in the order met

    def add(self, part: _Part) -> None:
        self.values += part.table.values.tobytes()
        self.measured += part.table.measured.tobytes()
        self.may_occur += part.may_occur.tobytes()
        self.order += part.order.tobytes()
        self.digests += part.digests
        self.unmeasured.update(part.unmeasured)
        for name in part.spoken:
            self.languages.setdefault(name, len(self.languages))
        self.spoken += bytes(self.languages[name] for name in part.spoken)

    def finish(self) -> Survey:
        values = np.frombuffer(self.values, np.int32).reshape(-1, len(FEATURES))
        met = [name for name in self.languages if name]
        names = tuple(sorted(met))  # not in the order of the records: the same for any order
        return Survey(
            FeatureTable(values, np.frombuffer(self.measured, np.bool_)),
            np.frombuffer(self.may_occur, np.bool_),
            np.frombuffer(self.order, np.uint64),
            np.frombuffer(self.digests, "V16"),
            self.unmeasured,
            np.array([0, *(names.index(n) + 1 for n in met)], np.uint8)[
                np.frombuffer(self.spoken, np.uint8)
            ],
            names,
        )
