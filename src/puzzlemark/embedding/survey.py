"""One pass over a dataset: measure every snippet, and note what the walk over carriers needs."""

import hashlib
from collections import Counter
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray

from puzzlemark.corpora.base import Batch, Corpus, Entry
from puzzlemark.corpora.digest import record_digest
from puzzlemark.engines.base import Engine
from puzzlemark.errors import UnparsableSnippet
from puzzlemark.features.measure import measure
from puzzlemark.features.table import FEATURES, FeatureTable
from puzzlemark.languages.base import find
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


@dataclass(frozen=True, slots=True)
class Survey:
    """What one pass learnt about every record, in dataset order; a few dozen bytes each."""

    table: FeatureTable
    may_occur: NDArray[np.bool_]  # the mark's trigger may be there by nature
    order: NDArray[np.uint64]  # walk carriers by ascending number, then by row
    digests: NDArray[np.void]  # 16 bytes each
    unmeasured: Counter[str]  # records without features, by reason

    def __len__(self) -> int:
        return len(self.may_occur)

    @property
    def names(self) -> NDArray[np.int32]:
        """How many distinct names each snippet declares (dvc): at least its variables."""
        return self.table.values[:, FEATURES.index("dvc")]


def survey(
    corpus: Corpus, wanted: Wanted, engine: Engine, progress: Progress = no_progress
) -> Survey:
    """Measure the whole dataset."""
    growing = _Growing()
    for part in engine.map(partial(survey_batch, wanted=wanted), corpus.batches()):
        growing.add(part)
        progress("measuring", len(growing.may_occur), None)
    return growing.finish()


@dataclass(frozen=True, slots=True)
class _Part:
    table: FeatureTable
    may_occur: NDArray[np.bool_]
    order: NDArray[np.uint64]
    digests: bytes
    unmeasured: Counter[str]


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
    )


def parse_entry(entry: Entry, wanted: str | None) -> Tree:
    """The tree of a record; raises UnparsableSnippet with the reason why it has none."""
    if entry.reason is not None or entry.code is None:
        raise UnparsableSnippet(entry.reason or "null code")
    language = find(entry.language or "")
    if language is None:
        raise UnparsableSnippet(f"language {entry.language!r} is not supported")
    if wanted is not None and language.name != wanted:
        raise UnparsableSnippet(f"language {language.name!r} is not the mark's")
    return parse(Snippet(entry.id, entry.code, language.name))


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

    def add(self, part: _Part) -> None:
        self.values += part.table.values.tobytes()
        self.measured += part.table.measured.tobytes()
        self.may_occur += part.may_occur.tobytes()
        self.order += part.order.tobytes()
        self.digests += part.digests
        self.unmeasured.update(part.unmeasured)

    def finish(self) -> Survey:
        values = np.frombuffer(self.values, np.int32).reshape(-1, len(FEATURES))
        return Survey(
            FeatureTable(values, np.frombuffer(self.measured, np.bool_)),
            np.frombuffer(self.may_occur, np.bool_),
            np.frombuffer(self.order, np.uint64),
            np.frombuffer(self.digests, "V16"),
            self.unmeasured,
        )
