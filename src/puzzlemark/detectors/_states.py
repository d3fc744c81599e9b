"""Hidden states of every snippet, kept on disk, and the axes along which they differ most."""

import hashlib
import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from puzzlemark.corpora.base import Corpus, Entry
from puzzlemark.corpora.records import corpus_digest, record_digest
from puzzlemark.detectors.base import Suspicion
from puzzlemark.errors import CorpusError, UsageError
from puzzlemark.files import replacing
from puzzlemark.models.base import ModelError, parse_model_args
from puzzlemark.models.encoders.base import Encoder, Vectors, open_encoder
from puzzlemark.progress import Progress, no_progress

CHUNK = 256  # snippets in one file: what a kill can cost, and what is sorted by length together
BLOCK = 4096  # rows that are held in double precision at once
NEGLIGIBLE = 1e-10  # of the vectors' squared length: a variance that is rounding


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoding:
    """How a snippet becomes a vector: the settings that the detectors of hidden states share."""

    model: str = ""  # a folder; the paper: the model that was fine-tuned on the suspect dataset
    layer: int | None = None  # None: the last; 0: the embeddings, as in the authors' programs
    pooling: Literal["last", "mean"] = "last"
    max_tokens: int = 256
    encoder: str = "hf"
    encoder_args: str = ""  # further arguments, such as "peft=ADAPTER,batch_size=32,threads=1"
    states: str = ""  # a folder that keeps the vectors for other runs; else they go with the cache

    def open(self) -> Encoder:
        """The encoder these settings describe."""
        if not self.model:
            raise UsageError("no model to take hidden states from; set model to its folder")
        own = {"pretrained": self.model, "pooling": self.pooling}
        own["max_tokens"] = str(self.max_tokens)
        if self.layer is not None:
            own["layer"] = str(self.layer)
        more = parse_model_args(self.encoder_args)
        if twice := sorted(set(own) & set(more)):
            raise UsageError(f"encoder_args: {', '.join(twice)} is a setting of its own")
        return open_encoder(self.encoder, own | more)

    def collect(self, corpus: Corpus, cache: Path, progress: Progress) -> "States":
        """The vector of every snippet; what an earlier run has left is not computed again."""
        place = Path(self.states).expanduser() if self.states else cache / "states"
        return collect(corpus, self.open(), place, progress)


@dataclass(frozen=True, slots=True)
class States:
    """One vector for each record that has code, and what is known of the others."""

    vectors: Vectors
    rows: NDArray[np.int64]  # the record of each vector
    ids: list[str]  # of every record
    reasons: list[str | None]  # why a record has no vector
    encoder: dict[str, Any]

    def suspect(
        self,
        flagged: NDArray[np.bool_],
        scores: NDArray[np.float64],
        reasons: list[str | None],
        details: dict[str, Any],
    ) -> Suspicion:
        """What was found about the vectors, said about the records."""
        all_flagged = np.zeros(len(self.ids), np.bool_)
        all_flagged[self.rows] = flagged
        all_scores = np.full(len(self.ids), np.nan)
        all_scores[self.rows] = scores
        all_reasons = list(self.reasons)
        for row, reason in zip(self.rows.tolist(), reasons, strict=True):
            all_reasons[row] = reason
        found = {"snippets": len(self.rows), **details, "encoder": self.encoder}
        return Suspicion(self.ids, all_flagged, all_scores, all_reasons, found)


def collect(
    corpus: Corpus, encoder: Encoder, place: Path, progress: Progress = no_progress
) -> States:
    """Encode a dataset chunk by chunk into `place`; a later call goes on where this one ended."""
    listing = _list(corpus, progress)
    about = encoder.describe()
    folder = place / _key(listing.digest, about)
    folder.mkdir(parents=True, exist_ok=True)
    vectors: Vectors | None = None
    done = 0
    for number, entries in enumerate(_chunks(corpus)):
        chunk = _encode(entries, encoder, folder / f"{number:06}.npy")
        if vectors is None:
            vectors = np.empty((len(listing.rows), chunk.shape[1]), np.float32)
        vectors[done : done + len(chunk)] = chunk
        progress("encoding", done := done + len(chunk), len(listing.rows))
    if vectors is None:
        raise CorpusError(f"{corpus.path}: no record has code to encode")
    return States(vectors, listing.rows, listing.ids, listing.reasons, about)


@dataclass(frozen=True, slots=True)
class _Listing:
    digest: str
    ids: list[str]
    reasons: list[str | None]
    rows: NDArray[np.int64]  # with code


def _list(corpus: Corpus, progress: Progress) -> _Listing:
    ids: list[str] = []
    reasons: list[str | None] = []
    digests = bytearray()
    for batch in corpus.batches():
        for entry in batch.entries():
            ids.append(entry.id)
            reasons.append(_why_not(entry))
            digests += record_digest(entry.id, entry.code)
        progress("reading", len(ids), None)
    rows = np.array([row for row, reason in enumerate(reasons) if reason is None], np.int64)
    return _Listing(corpus_digest(bytes(digests)), ids, reasons, rows)


def _why_not(entry: Entry) -> str | None:
    """A model reads any text: neither the language nor the syntax of a record matters."""
    if entry.code is None:
        return entry.reason or "null code"
    return None if entry.reason == "no language" else entry.reason


def _key(digest: str, about: dict[str, Any]) -> str:
    made_of = {"corpus": digest, "encoder": about, "chunk": CHUNK}
    text = json.dumps(made_of, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _chunks(corpus: Corpus) -> Iterator[list[Entry]]:
    chunk: list[Entry] = []
    for entry in corpus.entries():
        if _why_not(entry) is None:
            chunk.append(entry)
        if len(chunk) == CHUNK:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


def _encode(entries: list[Entry], encoder: Encoder, path: Path) -> Vectors:
    """The chunk's vectors, from its file if that is whole."""
    with suppress(OSError, ValueError, EOFError):
        kept = np.load(path, allow_pickle=False)
        if kept.dtype == np.float32 and kept.ndim == 2 and len(kept) == len(entries):
            vectors: Vectors = kept
            return vectors
    vectors = encoder.encode([entry.code or "" for entry in entries])
    broken = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
    if len(broken):
        raise ModelError(
            f"record {entries[broken[0]].id!r}: its vector is not finite; try dtype=float32, "
            "and check that the model completes code"
        )
    with replacing(path) as place, place.open("wb") as file:
        np.save(file, vectors)
    return vectors


@dataclass(frozen=True, slots=True)
class Axes:
    """The leading principal axes of some vectors: their first right singular vectors, centred."""

    mean: NDArray[np.float64]
    directions: NDArray[np.float64]  # width x axes, the longest first
    variances: NDArray[np.float64]  # along each of them
    total: float  # variance in all directions

    @classmethod
    def of(cls, vectors: Vectors, count: int) -> "Axes":
        """Of the covariance matrix, which is width x width whatever the number of snippets."""
        if len(vectors) <= count:
            raise CorpusError(
                f"{len(vectors)} snippets with code are too few: {count} axes need {count + 1}"
            )
        if vectors.shape[1] < count:
            raise ModelError(f"vectors of {vectors.shape[1]} numbers do not have {count} axes")
        with np.errstate(invalid="ignore"):
            mean = vectors.mean(axis=0, dtype=np.float64)
        if not np.isfinite(mean).all():
            raise ModelError("some vectors are not finite; try dtype=float32")
        covariance = _covariance(vectors, mean)
        values, directions = np.linalg.eigh(covariance)
        total = float(np.trace(covariance))
        _refuse_flat(values[::-1], count, total, float(mean @ mean) + total)
        leading = directions[:, ::-1][:, :count]
        # an eigenvector has two signs; scikit-learn's choice, so that results can be compared
        signs = np.where(leading[0] < 0, -1.0, 1.0)
        return cls(mean, leading * signs, values[::-1][:count], total)

    def project(self, vectors: Vectors) -> NDArray[np.float64]:
        """Each vector's place along each axis, seen from the mean."""
        projected = np.empty((len(vectors), self.directions.shape[1]))
        for start, block in _blocks(vectors):
            # not `@`: BLAS may round equal rows differently, and split a tie at a threshold
            centred = block - self.mean
            projected[start : start + len(block)] = np.einsum("ij,jk->ik", centred, self.directions)
        return projected


def _blocks(vectors: Vectors) -> Iterator[tuple[int, NDArray[np.float64]]]:
    for start in range(0, len(vectors), BLOCK):
        yield start, vectors[start : start + BLOCK].astype(np.float64)


def _covariance(vectors: Vectors, mean: NDArray[np.float64]) -> NDArray[np.float64]:
    total = np.zeros((len(mean), len(mean)))
    for _, block in _blocks(vectors):
        centred = block - mean
        total += centred.T @ centred
    return total / len(vectors)


def _refuse_flat(values: NDArray[np.float64], count: int, total: float, length: float) -> None:
    if not total > NEGLIGIBLE * length:
        raise ModelError(
            "all snippets have the same vector, so none stands out; "
            "use the last layer, and a model that reads code"
        )
    spanned = int((values > NEGLIGIBLE * length).sum())
    if spanned < count:
        raise ModelError(
            f"the vectors differ in {spanned} directions only, and {count} are asked for"
        )
