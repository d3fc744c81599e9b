"""What a detector is: a frozen dataclass whose fields are its whole configuration.

A detector sees a dataset as whoever took it would: records, and perhaps some that it knows to be
clean. It knows neither manifest nor watermark.
"""

import hashlib
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from puzzlemark import plugins
from puzzlemark.corpora.base import Batch, Corpus, Entry
from puzzlemark.engines.base import Engine
from puzzlemark.errors import CorpusError, UnparsableSnippet
from puzzlemark.files import replacing
from puzzlemark.languages.base import find
from puzzlemark.progress import Progress, no_progress
from puzzlemark.resuming import Work
from puzzlemark.snippet import Snippet

CHECKS = "checks"  # beside parts: a file for each that is complete, which says its SHA-256


@dataclass(frozen=True, slots=True)
class Suspicion:
    """What a detector says about every record of a dataset, in order; none is left out.

    A record that could not be judged has the score NaN, is not flagged, and its reason says why.
    """

    ids: Sequence[str]
    flagged: NDArray[np.bool_]
    scores: NDArray[np.float64]  # higher: more suspect; comparable within one run only
    reasons: Sequence[str | None]  # in words: why flagged, or why not judged
    details: Mapping[str, Any] = field(default_factory=dict)  # findings about the whole, for JSON
    # the names in each record that make it suspect; None: this detector does not say which
    names: Sequence[tuple[str, ...]] | None = None

    def __post_init__(self) -> None:
        sizes = {len(self.ids), len(self.flagged), len(self.scores), len(self.reasons)}
        sizes |= set() if self.names is None else {len(self.names)}
        assert len(sizes) == 1, f"columns of different lengths: {sorted(sizes)}"
        assert not (self.flagged & ~self.judged).any(), "a record that was not judged is flagged"

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def rows(self) -> NDArray[np.int64]:
        """Row numbers, from 0."""
        return np.arange(len(self.ids), dtype=np.int64)

    @property
    def judged(self) -> NDArray[np.bool_]:
        """Which records have a score."""
        return ~np.isnan(self.scores)

    @property
    def skipped(self) -> Counter[str]:
        """How many records were not judged, by reason."""
        rows = np.flatnonzero(~self.judged).tolist()
        return Counter(self.reasons[row] or "not judged" for row in rows)

    @property
    def why_flagged(self) -> Counter[str]:
        """How many records were flagged, by reason."""
        rows = np.flatnonzero(self.flagged).tolist()
        return Counter(reason for row in rows if (reason := self.reasons[row]))


class Detector(Protocol):
    """Corpus in, suspicion out. A module offers its class as `PLUGIN`."""

    name: ClassVar[str]  # the file's name

    @property
    def needs_clean(self) -> bool:
        """Whether this configuration must have clean records to compare with (`--clean`)."""
        ...

    @property
    def takes_clean(self) -> bool:
        """Whether clean records would make a difference; else they are refused."""
        ...

    def suspect(
        self,
        corpus: Corpus,
        *,
        clean: Corpus | None,
        engine: Engine,
        progress: Progress,
        cache: Path,
    ) -> Suspicion:
        """Judge every record.

        `cache` is a folder for results on the way, which a later run with the same datasets,
        configuration and versions finds again: another combination gets another folder.
        """
        ...


@runtime_checkable
class Reusing(Protocol):
    """A detector whose costly part is about each record alone.

    Of a dataset that differs from another one in a few records only these are computed anew; what
    is found is the same as without.
    """

    def reuse(
        self, earlier: Path, cache: Path, corpus: Corpus, changed: NDArray[np.int64], engine: Engine
    ) -> None:
        """Fill `cache` for a run on `corpus` from the cache of a run on the earlier dataset.

        Both have the same number of records and the same clean records; the rows of `changed`,
        ascending, are those that differ.
        """
        ...


def load_detector(method: str, settings: Mapping[str, Any] | None = None) -> Detector:
    """`load_detector("decoma", {"z": "2.5"}) -> DeCoMa(z=2.5)`; text becomes what the field is."""
    detector: Detector = plugins.configure("detectors", method, settings)
    return detector


def snippet_of(entry: Entry) -> Snippet:
    """The code of a record; raises UnparsableSnippet with the reason why it has none to judge."""
    if entry.reason is not None or entry.code is None:
        raise UnparsableSnippet(entry.reason or "null code")
    language = find(entry.language or "")
    if language is None:
        raise UnparsableSnippet(f"language {entry.language!r} is not supported")
    return Snippet(entry.id, entry.code, language.name)


def keep_parts(
    function: Callable[[Batch], bytes],
    corpus: Corpus,
    *,
    engine: Engine,
    place: Path,
    rows: NDArray[np.int64] | None = None,
    progress: Progress = no_progress,
    stage: str = "reading",
    whole: bool = False,
) -> list[Path]:
    """Map a pure function over a dataset, or some rows of it; each result is a file in `place`.

    Results that an interrupted run left there are not computed again, unless they are damaged. The
    files come in dataset order, so that what does not fit into memory can be read part by part,
    again and again. With `whole` the function gets all columns of a record, not only the three that
    we know.
    """
    place.mkdir(parents=True, exist_ok=True)
    parts: list[Path] = []
    waiting: deque[tuple[Path, int]] = deque()  # what the engine was given, and how many records
    done = 0

    def missing() -> Iterator[Batch]:
        nonlocal done
        for batch in corpus.batches(rows, whole=whole):
            parts.append(place / part_name(batch.rows))
            if _is_kept(parts[-1]):
                done += len(batch.rows)
            else:
                waiting.append((parts[-1], len(batch.rows)))
                yield batch

    for result in engine.map(function, missing()):
        part, records = waiting.popleft()
        _keep(part, result)
        progress(stage, done := done + records, None)
    progress(stage, done, None)  # nothing was missing, perhaps
    return parts


Of = TypeVar("Of")


def keep_patched(
    earlier: Sequence[Of],
    changed: Mapping[int, Of],
    corpus: Corpus,
    *,
    place: Path,
    pack: Callable[[Sequence[Of]], bytes],
) -> None:
    """The parts of `keep_parts` from what is known of each record: of the changed ones, anew."""
    place.mkdir(parents=True, exist_ok=True)
    for batch in corpus.batches():
        rows = batch.rows.tolist()
        known = [changed[row] if row in changed else earlier[row] for row in rows]
        _keep(place / part_name(rows), pack(known))


def part_name(rows: Sequence[int] | NDArray[np.int64]) -> str:
    """By its rows: another file format cuts the same dataset into other batches."""
    return f"{rows[0]}-{rows[-1]}.part"


def kept_parts(place: Path) -> list[Path]:
    """The parts that `keep_parts` left in a folder, in dataset order."""
    return sorted(place.glob("*.part"), key=lambda path: int(path.name.partition("-")[0]))


def sampled_rows(corpus: Corpus, count: int, seed: int) -> NDArray[np.int64]:
    """So many rows drawn without replacement, ascending; all, when there are fewer."""
    drawn = np.random.default_rng(seed).permutation(corpus.count())[:count]
    return np.sort(drawn).astype(np.int64)


def sampled_batches(corpus: Corpus, count: int, seed: int) -> Iterator[Batch]:
    """The records of `sampled_rows`, in dataset order."""
    return corpus.batches(sampled_rows(corpus, count, seed))


def _is_kept(part: Path) -> bool:
    """Whether a part is there, and as it was when its completion was noted."""
    check = Work(part.parent / CHECKS).find(part.name)
    try:
        return check is not None and hashlib.sha256(part.read_bytes()).digest() == check
    except FileNotFoundError:
        return False


def _keep(part: Path, result: bytes) -> None:
    """Keep a part, whole or not at all, and then note that it is complete."""
    try:
        with replacing(part) as place:
            place.write_bytes(result)
        Work(part.parent / CHECKS).keep(part.name, hashlib.sha256(result).digest())
    except OSError as exc:
        message = f"{part}: cannot be kept: {exc.strerror or exc}; choose another --cache"
        raise CorpusError(message) from exc
