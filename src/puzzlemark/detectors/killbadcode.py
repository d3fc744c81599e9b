"""KillBadCode: pieces whose removal makes code more natural are taken for triggers.

An n-gram model of clean code says how natural a snippet is. Every sub-word piece is taken out in
turn; the ten that gain the most over the whole dataset are the triggers, and every snippet that
contains one is flagged. docs/detectors/killbadcode.md says what is the authors' and what is ours.
"""

import hashlib
import io
import json
import math
import shutil
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from puzzlemark.corpora.base import Batch, Corpus
from puzzlemark.detectors._naturalness import Gains, Sums, measure_gains
from puzzlemark.detectors._pieces import (
    Filter,
    Pieces,
    Text,
    name_pieces,
    open_pieces,
    read_text,
    train_pieces,
)
from puzzlemark.detectors.base import (
    Suspicion,
    keep_parts,
    keep_patched,
    kept_parts,
    sampled_batches,
)
from puzzlemark.engines.base import Engine
from puzzlemark.errors import CorpusError, UnparsableSnippet, UsageError
from puzzlemark.files import replacing
from puzzlemark.habits.kneser_ney import Integers, KneserNey, fit, open_model
from puzzlemark.progress import Progress

GAINS = "weighed"  # the folder of what is kept of each batch


@dataclass(frozen=True, slots=True)
class KillBadCode:
    """The authors' values, on raw code: the reading that fits the paper's figures best."""

    name: ClassVar[str] = "killbadcode"

    text: Text = "raw"  # or the code's tokens, joined with blanks
    eligible: Filter = "published"  # stripped: pieces that start a word may be triggers, too
    k: int = 10  # pieces of each snippet that count
    tokens: int = 10  # triggers in all
    length: int = 600  # pieces of a snippet that are looked at
    order: int = 4  # of the n-gram model
    clean_fraction: float = 1.0  # of the clean records that the model learns
    clean_samples: int = 20_000  # and at most so many
    pieces: int = 32_000  # of the tokenizer that is trained, unless one is given
    tokenizer: Path | None = None
    seed: int = 0  # draws the clean records
    takes_clean: ClassVar[bool] = True
    instead: ClassVar[dict[str, str]] = {"tokenizer": "pieces"}

    def __post_init__(self) -> None:
        for setting in ("k", "tokens", "clean_samples"):
            if getattr(self, setting) < 1:
                raise UsageError(f"killbadcode: {setting} must be 1 or more")
        if self.order < 2 or self.length < 2:
            raise UsageError("killbadcode: order and length must be 2 or more")
        if not 0 < self.clean_fraction <= 1:
            raise UsageError("killbadcode: clean_fraction must be above 0 and at most 1")
        if self.pieces < 512:
            raise UsageError("killbadcode: pieces must be 512 or more, for 256 are single bytes")

    @property
    def needs_clean(self) -> bool:
        """Always: naturalness is what clean code is like."""
        return True

    def suspect(
        self,
        corpus: Corpus,
        *,
        clean: Corpus | None,
        engine: Engine,
        progress: Progress,
        cache: Path,
    ) -> Suspicion:
        """Learn clean code, weigh every piece of the dataset, flag what contains a trigger."""
        if clean is None:
            raise UsageError("killbadcode compares with clean code; pass --clean")
        place = self._place(cache)
        if not (place / "model").exists():
            self._learn(clean, place, engine, progress)
        parts = keep_parts(self._weighing(place), corpus, engine=engine, place=place / GAINS,
                           progress=progress, stage="weighing pieces")  # fmt: skip
        _, names = name_pieces(open_pieces(place / "tokenizer.json").texts, self.eligible)
        totals = _add_up(map(_read_sums, parts), len(names))
        triggers = _choose(totals, self.tokens)
        payload = [{"piece": names[t], "gain": float(totals[t])} for t in triggers]
        learnt = json.loads((place / "model" / "about.json").read_text())
        return _flag(parts, triggers, names, {"triggers": payload, "learnt": learnt})

    def reuse(
        self, earlier: Path, cache: Path, corpus: Corpus, changed: NDArray[np.int64], engine: Engine
    ) -> None:
        """Weigh the changed records; what was learnt of clean code and all others is known."""
        old, place = self._place(earlier), self._place(cache)
        shutil.copytree(old / "model", place / "model", dirs_exist_ok=True)
        shutil.copy(old / "tokenizer.json", place / "tokenizer.json")
        known = [one for part in kept_parts(old / GAINS) for one in _Part.read(part).split()]
        parts = map(_Part.of, engine.map(self._weighing(place), corpus.batches(changed)))
        anew = [one for part in parts for one in part.split()]
        patched = dict(zip(changed.tolist(), anew, strict=True))
        pack = partial(_Part.pack, k=self.k)
        keep_patched(known, patched, corpus, place=place / GAINS, pack=pack)

    def _weighing(self, place: Path) -> Callable[[Batch], bytes]:
        return partial(_weigh, place=place, text=self.text, eligible=self.eligible,
                       length=self.length, k=self.k)  # fmt: skip

    def _place(self, cache: Path) -> Path:
        """Where results are kept: another tokenizer under the same name has another place."""
        if self.tokenizer is None:
            return cache / "trained"
        try:
            content = self.tokenizer.read_bytes()
        except OSError as exc:
            raise UsageError(f"{self.tokenizer}: cannot be read: {exc.strerror}") from exc
        place = cache / hashlib.sha256(content).hexdigest()[:16]
        place.mkdir(parents=True, exist_ok=True)
        _write(place / "tokenizer.json", content)
        return place

    def _learn(self, clean: Corpus, place: Path, engine: Engine, progress: Progress) -> None:
        """A tokenizer and a model of clean code, in files."""
        count = min(math.ceil(self.clean_fraction * clean.count()), self.clean_samples)
        texts: list[str] = []
        for some in engine.map(
            partial(_read, text=self.text), sampled_batches(clean, count, self.seed)
        ):
            progress("reading clean code", len(texts), count)
            texts += some
        if not texts:
            raise CorpusError(f"{clean.path}: no code in it to learn from; pass another --clean")
        place.mkdir(parents=True, exist_ok=True)
        if self.tokenizer is None:
            progress("training the tokenizer", 0, None)
            _write(place / "tokenizer.json", train_pieces(texts, self.pieces).encode())
        pieces = open_pieces(place / "tokenizer.json")
        progress("counting n-grams", 0, None)
        sentences = [pieces.encode(text) for text in texts]
        _save(fit(sentences, len(pieces.texts), order=self.order), len(texts), place)


@dataclass(frozen=True, slots=True)
class _Part:
    """What is kept of a batch: `gains.samples` are places among its records."""

    ids: list[str]
    skipped: list[str | None]  # why a record was not weighed
    gains: Gains

    def to_bytes(self, k: int) -> bytes:
        """With what each name gains here, where it is among the k best of its snippet."""
        stream = io.BytesIO()
        text = json.dumps([self.ids, self.skipped]).encode()  # escapes what UTF-8 cannot spell
        sums = self.gains.sum_best(k)
        np.savez(stream, text=np.frombuffer(text, np.uint8), **sums._asdict(),
                 samples=self.gains.samples.astype(np.int32),
                 names=self.gains.names.astype(np.int32), gains=self.gains.gains)  # fmt: skip
        return stream.getvalue()

    def split(self) -> list["_Part"]:
        """One part for each record."""
        places = np.arange(len(self.ids) + 1)
        cuts = np.searchsorted(self.gains.samples, places).tolist()
        return [
            _Part(
                [self.ids[n]],
                [self.skipped[n]],
                Gains(self.gains.samples[a:b] - n, self.gains.names[a:b], self.gains.gains[a:b]),
            )
            for n, (a, b) in enumerate(pairwise(cuts))
        ]

    @staticmethod
    def pack(parts: Sequence["_Part"], *, k: int) -> bytes:
        """One part of many records, as bytes."""
        gains = [part.gains for part in parts]
        samples = [each.samples + n for n, each in enumerate(gains)]
        whole = Gains(
            np.concatenate(samples),
            np.concatenate([each.names for each in gains]),
            np.concatenate([each.gains for each in gains]),
        )
        ids = [part.ids[0] for part in parts]
        return _Part(ids, [part.skipped[0] for part in parts], whole).to_bytes(k)

    @classmethod
    def read(cls, path: Path) -> "_Part":
        return cls.of(path.read_bytes())

    @classmethod
    def of(cls, kept_bytes: bytes) -> "_Part":
        with np.load(io.BytesIO(kept_bytes)) as kept:
            ids, skipped = json.loads(kept["text"].tobytes())
            samples = kept["samples"].astype(np.int64)
            return cls(ids, skipped, Gains(samples, kept["names"], kept["gains"]))


def _read_sums(path: Path) -> Sums:
    """Of a part only what is added up."""
    with np.load(path) as kept:
        return Sums(*(kept[name] for name in Sums._fields))


def _read(batch: Batch, text: Text) -> list[str]:
    """The worker's share of reading clean code; what cannot be read is left out."""
    texts: list[str] = []
    for entry in batch.entries():
        with suppress(UnparsableSnippet):
            texts.append(read_text(entry, text))
    return texts


def _weigh(batch: Batch, place: Path, text: Text, eligible: Filter, length: int, k: int) -> bytes:
    """The worker's share of weighing: the gains of a batch, and their sums."""
    pieces, numbers, model = _open(place, eligible)
    entries = batch.entries()
    samples: list[Integers] = []
    skipped: list[str | None] = []
    for entry in entries:
        try:
            samples.append(pieces.encode(read_text(entry, text))[:length])
            skipped.append(None)
        except UnparsableSnippet as exc:
            samples.append(np.zeros(0, np.int64))
            skipped.append(str(exc))
    gains = measure_gains(model, samples, numbers)
    return _Part([entry.id for entry in entries], skipped, gains).to_bytes(k)


@lru_cache(maxsize=1)
def _open(place: Path, eligible: Filter) -> tuple[Pieces, Integers, KneserNey]:
    """Once for each process: the model's arrays are shared, the tokenizer is not."""
    pieces = open_pieces(place / "tokenizer.json")
    return pieces, name_pieces(pieces.texts, eligible)[0], open_model(place / "model")


def _add_up(parts: Iterable[Sums], names: int) -> NDArray[np.float64]:
    """What each name gains over the dataset; parts come in dataset order, as floats are rounded."""
    totals = np.zeros(names)
    for part in parts:
        totals[part.best] += part.total
    return totals


def _choose(totals: NDArray[np.float64], count: int) -> list[int]:
    """The names with the largest totals, largest first; none that gains nothing."""
    order = np.argsort(-totals, kind="stable")[:count].tolist()
    return [name for name in order if totals[name] > 0]


def _flag(
    parts: Sequence[Path], triggers: Sequence[int], names: Sequence[str], details: dict[str, Any]
) -> Suspicion:
    """Flag what contains a trigger; its score is what its triggers gain."""
    ids: list[str] = []
    reasons: list[str | None] = []
    scores = [np.zeros(0)]
    flagged: list[bool] = []
    # one text for all that hold the same triggers: a dataset has a reason a record
    explain = cache(lambda held: _explain([names[trigger] for trigger in held]))
    for part in map(_Part.read, parts):
        found = _find(part.gains, triggers)
        score = np.zeros(len(part.ids))
        for place, why in enumerate(part.skipped):
            held = found.get(place, {})
            flagged.append(bool(held))
            score[place] = sum(held.values()) if why is None else math.nan
            reasons.append(explain(tuple(held)) if held else why)
        ids += part.ids
        scores.append(score)
    return Suspicion(ids, np.array(flagged, np.bool_), np.concatenate(scores), reasons, details)


def _find(gains: Gains, triggers: Sequence[int]) -> dict[int, dict[int, float]]:
    """For each sample that contains triggers: their gains there, in the order of the triggers."""
    found: dict[int, dict[int, float]] = {}
    for trigger in triggers:
        at = np.flatnonzero(gains.names == trigger)
        for sample, gain in zip(gains.samples[at].tolist(), gains.gains[at].tolist(), strict=True):
            found.setdefault(sample, {})[trigger] = gain
    return found


def _explain(pieces: Sequence[str]) -> str:
    """`["ing"] -> "contains the piece 'ing', whose removal makes code more natural"`."""
    quoted = ", ".join(f"'{piece}'" for piece in pieces)
    if len(pieces) == 1:
        return f"contains the piece {quoted}, whose removal makes code more natural"
    return f"contains the pieces {quoted}, whose removal makes code more natural"


def _save(model: KneserNey, samples: int, place: Path) -> None:
    about = {
        "samples": samples,
        "ngrams": [len(log_p) for log_p in model.log_p],
        "discounts": model.discounts,
    }
    with replacing(place / "model") as folder:
        model.save(folder)
        (folder / "about.json").write_text(json.dumps(about))


def _write(path: Path, content: bytes) -> None:
    with replacing(path) as place:
        place.write_bytes(content)


PLUGIN = KillBadCode
