"""One pass over a dataset: measure every snippet, and note what the walk over carriers needs.

Where an earlier run measured the dataset already, the pass parses nothing.
"""

import hashlib
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Protocol

import numpy as np
import orjson
from numpy.typing import NDArray

from puzzlemark.carriers.moments import Moments
from puzzlemark.carriers.selection import Suitability, Values, fit
from puzzlemark.corpora.base import Batch, Corpus, Entry, open_corpus
from puzzlemark.corpora.records import RECORD_BYTES, record_digest
from puzzlemark.embedding.columns import Column, pieces
from puzzlemark.engines.base import Engine
from puzzlemark.errors import UnparsableSnippet, UsageError
from puzzlemark.features.measure import FEATURES, FeatureTable, measure
from puzzlemark.languages.base import Language, find
from puzzlemark.progress import Progress, no_progress
from puzzlemark.resuming import Kept, Work
from puzzlemark.snippet import Snippet
from puzzlemark.stores import Location
from puzzlemark.syntax.tree import Tree, parse
from puzzlemark.watermarks.base import Watermark

if TYPE_CHECKING:  # workers that only measure start without it, and so without pydantic
    from puzzlemark.embedding.manifest import Header


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to look for in each snippet, beside its features."""

    watermark: Watermark | None = None
    order_key: bytes | None = None  # None: dataset order
    language: str | None = None  # records in another language are left alone
    features: tuple[str, ...] = FEATURES


class Measured(Protocol):
    """What an earlier run measured, read from the first record to the last."""

    def take(self, records: int) -> tuple[FeatureTable, list[str | None]]:
        """The next records: their features, and the reasons of those without; fewer at the end."""
        ...


MEASURED, MAY_OCCUR, HAS_NAMES = 1, 2, 4


@dataclass(frozen=True, slots=True, eq=False)
class Survey:
    """What one pass learnt about every record, in dataset order: a byte each, the rest on disk.

    `seen.values[:1000]` are the features of the first thousand.
    """

    values: Column[np.int32]  # FEATURES of each record; zeros where it was not measured
    flags: NDArray[np.uint8]
    order: Column[np.uint64]  # walk carriers by ascending number, then by row
    digests: Column[np.void]  # 16 bytes each
    unmeasured: Counter[str]  # records without features, by reason
    # the language of each record by its place in `languages`, from 1; a byte more of each, and
    # nothing at all where they are all the same
    spoken: NDArray[np.uint8] | None
    languages: tuple[str, ...]  # those of the records that are in one of ours, by name
    moments: dict[str, Moments]  # of the records in each of them

    def __len__(self) -> int:
        return len(self.flags)

    @property
    def measured(self) -> NDArray[np.bool_]:
        """Which records have features."""
        return _has(self.flags, MEASURED)

    @property
    def may_occur(self) -> NDArray[np.bool_]:
        """Where the mark's trigger may be by nature."""
        return _has(self.flags, MAY_OCCUR)

    @property
    def named(self) -> NDArray[np.bool_]:
        """Which snippets declare as many names as the mark needs variables."""
        return _has(self.flags, HAS_NAMES)

    def by_language(self) -> dict[str, int | None]:
        """The number of each language in `spoken`; where only one is met, all are one group."""
        if len(self.languages) < 2:
            return dict.fromkeys(self.languages or ("",))
        return {name: place for place, name in enumerate(self.languages, 1)}

    def fit(
        self, features: tuple[str, ...], projection: str, tau: float, group: int | None = None
    ) -> Suitability:
        """How the records are scored, or those of one language."""
        names = self.moments if group is None else (self.languages[group - 1],)
        return fit(
            sum((self.moments[name] for name in names), Moments()),
            lambda: (self._values(rows, group) for rows in pieces(len(self))),
            features=features,
            projection=projection,
            tau=tau,
        )

    def candidates(self, suitability: Suitability, group: int | None = None) -> NDArray[np.bool_]:
        """Which records may carry a mark."""
        found = np.zeros(len(self), np.bool_)
        for rows in pieces(len(self)):
            found[rows][self._chosen(rows, group)] = suitability.is_candidate(
                self._values(rows, group)
            )
        return found

    def _chosen(self, rows: slice, group: int | None) -> NDArray[np.bool_]:
        chosen = _has(self.flags[rows], MEASURED)
        if group is None:
            return chosen
        assert self.spoken is not None, "else all are one group"
        chosen &= self.spoken[rows] == group
        return chosen

    def _values(self, rows: slice, group: int | None) -> Values:
        return self.values[rows][self._chosen(rows, group)]


def _has(flags: NDArray[np.uint8], flag: int) -> NDArray[np.bool_]:
    found = flags & flag
    found >>= flag.bit_length() - 1
    return found.view(np.bool_)  # in the same room


def open_input(
    path: Location | str | Corpus,
    *,
    language: str | None,
    default_language: str | None = None,
    split: str | None = None,
    **columns: str | None,
) -> Corpus:
    """The dataset at a path, or one that is open: its columns and language are said already."""
    if not isinstance(path, Corpus):
        return open_corpus(path, language=language or default_language, split=split, **columns)
    if given := sorted(name for name, value in columns.items() if value is not None):
        raise UsageError(f"the corpus is open, and its columns are known: leave out {given[0]}")
    if split is not None:
        raise UsageError("the corpus is open, and its files are known: leave out split")
    if language is not None:
        raise UsageError("the corpus is open, and its language is known: leave out language")
    return replace(path, language=path.language or default_language)


def reopen(path: Location | str, header: "Header", *, language: str | None = None) -> Corpus:
    """A dataset of a manifest, original or marked, read as it was when it was marked."""
    return open_corpus(
        path,
        code_column=header.columns["code"],
        id_column=header.columns["id"],
        language_column=header.columns["language"],
        language=language or header.language,
        names=[shard.name for shard in header.input.shards],
    )


def survey(
    corpus: Corpus,
    wanted: Wanted,
    engine: Engine,
    progress: Progress = no_progress,
    work: Work | None = None,
) -> Survey:
    """Measure the whole dataset; what an interrupted run kept is not measured again."""
    growing = _Growing.beside(work, wanted)
    kept = None if work is None else Kept(work, "survey", _pack, _unpack)
    for part in corpus.map(partial(survey_batch, wanted=wanted), engine, kept=kept):
        growing.add(part)
        progress("measuring", len(growing.flags), None)
    return growing.finish()


def survey_measured(
    corpus: Corpus,
    wanted: Wanted,
    measured: Measured,
    engine: Engine,
    progress: Progress = no_progress,
    work: Work | None = None,
) -> Survey:
    """The same survey of a dataset that was measured before: read, but not parsed again."""
    growing = _Growing.beside(work, wanted)
    for seen in corpus.map(partial(look_batch, wanted=wanted), engine):
        known, theirs = measured.take(len(seen.reasons))
        if len(known) < len(seen.reasons):
            raise UsageError(f"{corpus.path}: more records than were measured; score it again")
        reasons = [one or other for one, other in zip(seen.reasons, theirs, strict=True)]
        usable = known.measured & np.array([reason is None for reason in reasons], np.bool_)
        values = np.where(usable[:, None], known.values, 0).astype(np.int32)
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
        progress("reading", len(growing.flags), None)
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


def _packed(kind: str) -> np.dtype[np.void]:
    """A record in a part of a survey that is kept, with features of this kind."""
    return np.dtype(
        [
            ("values", kind, (len(FEATURES),)),
            ("order", "<u8"),
            ("digest", f"V{RECORD_BYTES}"),
            ("flags", "u1"),
            ("language", "<u2"),
        ]
    )


def _pack(parts: list[_Part]) -> bytes:
    """Some parts as one: a line of JSON, then the records."""
    languages = list(dict.fromkeys(name for part in parts for name in part.spoken))
    places = {name: place for place, name in enumerate(languages)}
    largest = max((int(part.table.values.max(initial=0)) for part in parts), default=0)
    kind = "<u2" if largest < 1 << 16 else "<i4"  # half of the room for all but giant functions
    records = np.zeros(sum(len(part.spoken) for part in parts), _packed(kind))
    at = 0
    for part in parts:
        some = records[at : at + len(part.spoken)]
        at += len(some)
        some["values"], some["order"] = part.table.values, part.order
        some["digest"] = np.frombuffer(part.digests, f"V{RECORD_BYTES}")
        some["flags"] = part.table.measured * MEASURED | part.may_occur * MAY_OCCUR
        some["language"] = [places[name] for name in part.spoken]
    unmeasured = sum((part.unmeasured for part in parts), Counter[str]())
    facts = {"kind": kind, "languages": languages, "unmeasured": unmeasured}
    return orjson.dumps(facts) + b"\n" + records.tobytes()


def _unpack(content: bytes) -> list[_Part]:
    line, _, packed = content.partition(b"\n")
    facts = orjson.loads(line)
    records = np.frombuffer(packed, _packed(facts["kind"]))
    languages = facts["languages"]
    return [
        _Part(
            FeatureTable(records["values"].astype(np.int32), _has(records["flags"], MEASURED)),
            _has(records["flags"], MAY_OCCUR),
            records["order"].astype(np.uint64),
            records["digest"].tobytes(),
            Counter(facts["unmeasured"]),
            [languages[place] for place in records["language"].tolist()],
        )
    ]


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
    """A survey while it is made."""

    values: Column[np.int32]
    order: Column[np.uint64]
    digests: Column[np.void]
    fewest: int  # names that a carrier declares
    flags: bytearray = field(default_factory=bytearray)
    unmeasured: Counter[str] = field(default_factory=Counter)
    spoken: bytearray | None = None  # None: all records are in the one that was met first
    languages: dict[str, int] = field(default_factory=dict)  # in the order met
    moments: dict[str, Moments] = field(default_factory=dict)

    @classmethod
    def beside(cls, work: Work | None, wanted: Wanted) -> "_Growing":
        """An empty one, on the disk that the output will be on."""
        folder = None if work is None else work.folder
        return cls(
            Column(np.int32, len(FEATURES), folder=folder),
            Column(np.uint64, folder=folder),
            Column(f"V{RECORD_BYTES}", folder=folder),
            0 if wanted.watermark is None else wanted.watermark.fewest_variables,
        )

    def add(self, part: _Part) -> None:
        values, measured = part.table.values, part.table.measured
        self.values.append(values)
        self.order.append(part.order)
        self.digests.append(part.digests)
        self.unmeasured.update(part.unmeasured)
        spoken = self._speak(part.spoken)
        has_names = values[:, _NAMES] >= self.fewest
        flags = measured * MEASURED | part.may_occur * MAY_OCCUR | has_names * HAS_NAMES
        self.flags += flags.astype(np.uint8).tobytes()
        for name in dict.fromkeys(part.spoken):
            more = Moments.of(values[measured & (spoken == self.languages[name])])
            self.moments[name] = self.moments.get(name, Moments()) + more

    def _speak(self, names: list[str]) -> NDArray[np.uint8]:
        """Note the languages of the next records."""
        for name in dict.fromkeys(names):
            self.languages.setdefault(name, len(self.languages))
        spoken = np.array([self.languages[name] for name in names], np.uint8)
        if self.spoken is None and len(self.languages) > 1:
            self.spoken = bytearray(len(self.flags))  # zeros: the first one
        if self.spoken is not None:
            self.spoken += spoken.tobytes()
        return spoken

    def finish(self) -> Survey:
        met = list(self.languages)
        names = tuple(sorted(name for name in met if name))  # the same for any order of records
        places = np.array([names.index(name) + 1 if name else 0 for name in met], np.uint8)
        spoken = None if self.spoken is None else places[np.frombuffer(self.spoken, np.uint8)]
        return Survey(
            self.values,
            np.frombuffer(self.flags, np.uint8),
            self.order,
            self.digests,
            self.unmeasured,
            spoken,
            names,
            self.moments,
        )


_NAMES = FEATURES.index("dvc")  # distinct names that are declared: at least the variables
