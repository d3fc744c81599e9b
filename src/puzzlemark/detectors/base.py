"""What a detector is: a frozen dataclass whose fields are its whole configuration.

A detector sees a dataset as whoever took it would: records, and perhaps some that it knows to be
clean. It knows neither manifest nor watermark.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Protocol, get_type_hints

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter, ValidationError

from puzzlemark import plugins
from puzzlemark.corpora.base import Batch, Corpus, Entry
from puzzlemark.engines.base import Engine
from puzzlemark.errors import CorpusError, UnparsableSnippet, UsageError
from puzzlemark.files import replacing
from puzzlemark.languages.base import find
from puzzlemark.progress import Progress, no_progress
from puzzlemark.snippet import Snippet


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

    def __post_init__(self) -> None:
        sizes = {len(self.ids), len(self.flagged), len(self.scores), len(self.reasons)}
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


class Detector(Protocol):
    """Corpus in, suspicion out. A file of this room offers its class as `DETECTOR`."""

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


def load_detector(method: str, settings: Mapping[str, Any] | None = None) -> Detector:
    """`load_detector("decoma", {"z": "2.5"}) -> DeCoMa(z=2.5)`; text becomes what the field is."""
    kind = plugins.load("detectors", method).DETECTOR
    hints = get_type_hints(kind)
    known = [each.name for each in fields(kind) if each.init]
    given: dict[str, Any] = {}
    for name, value in (settings or {}).items():
        if name not in known:
            takes = ", ".join(known) or "no settings"
            raise UsageError(f"{method} has no setting {name!r}; it takes {takes}")
        try:
            given[name] = TypeAdapter(hints[name]).validate_python(value)
        except ValidationError as exc:
            message = exc.errors(include_url=False)[0]["msg"]
            raise UsageError(f"{method}: {name}={value!r}: {message}") from None
    for name, other in getattr(kind, "instead", {}).items():
        if {name, other} <= given.keys():
            raise UsageError(f"{method}: {name} takes the place of {other}; leave one of them out")
    detector: Detector = kind(**given)
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
) -> list[Path]:
    """Map a pure function over a dataset, or some rows of it; each result is a file in `place`.

    Results that an interrupted run left there are not computed again. The files come in dataset
    order, so that what does not fit into memory can be read part by part, again and again.
    """
    place.mkdir(parents=True, exist_ok=True)
    parts: list[Path] = []
    done = 0
    for part, records in engine.map(partial(_keep, function, place), corpus.batches(rows)):
        parts.append(part)
        progress(stage, done := done + records, None)
    return parts


def sampled_rows(corpus: Corpus, count: int, seed: int) -> NDArray[np.int64]:
    """So many rows drawn without replacement, ascending; all, when there are fewer."""
    drawn = np.random.default_rng(seed).permutation(corpus.count())[:count]
    return np.sort(drawn).astype(np.int64)


def sampled_batches(corpus: Corpus, count: int, seed: int) -> Iterator[Batch]:
    """The records of `sampled_rows`, in dataset order."""
    return corpus.batches(sampled_rows(corpus, count, seed))


def _keep(function: Callable[[Batch], bytes], place: Path, batch: Batch) -> tuple[Path, int]:
    # named by its rows: another file format cuts the same dataset into other batches
    part = place / f"{batch.rows[0]}-{batch.rows[-1]}.part"
    if not part.exists():
        result = function(batch)
        try:
            with replacing(part) as place_of_part:
                place_of_part.write_bytes(result)
        except OSError as exc:
            message = f"{part}: cannot be kept: {exc.strerror or exc}; choose another --cache"
            raise CorpusError(message) from exc
    return part, len(batch.rows)
