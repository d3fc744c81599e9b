"""A whole run of `detect`, from path to path: judge every record, write the suspicion."""

import hashlib
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from puzzlemark.corpora.base import Corpus, open_corpus
from puzzlemark.corpora.records import corpus_digest, record_digest
from puzzlemark.detectors._accuracy import Accuracy, Truth, judge
from puzzlemark.detectors.base import Detector, Suspicion, load_detector
from puzzlemark.engines.base import Engine, open_engine
from puzzlemark.errors import CorpusError, UsageError
from puzzlemark.files import keep_apart, refuse_folder
from puzzlemark.languages.base import parsing_packages
from puzzlemark.progress import Progress, no_progress
from puzzlemark.provenance import versions
from puzzlemark.staging import staged_file
from puzzlemark.stores import (
    Location,
    fetched,
    local_path,
    local_place,
    locate,
    locate_output,
)

__all__ = ["Detected", "Truth", "detect", "load_suspicion", "read_suspicion"]

ROW_GROUP = 50_000
METADATA = b"puzzlemark"  # key of the file's metadata


@dataclass(frozen=True, slots=True)
class Detected:
    """What a run of a detector found."""

    input: str
    output: str
    method: str
    settings: dict[str, Any]
    records: int
    judged: int
    flagged: int
    skipped: dict[str, int]  # records that could not be judged, by reason
    digest: str
    clean_digest: str | None
    accuracy: Accuracy | None  # None: no truth was given
    details: Mapping[str, Any]
    suspicion: Suspicion = field(repr=False)

    @property
    def rate(self) -> float:
        """The share of records that are flagged."""
        return self.flagged / self.records if self.records else 0.0

    def to_json(self) -> dict[str, Any]:
        """Plain data for a JSON object."""
        names = (name for name in self.__slots__ if name != "suspicion")
        payload = {name: getattr(self, name) for name in names}
        return {**payload, "rate": self.rate, "accuracy": self.accuracy and self.accuracy.to_json()}


def detect(
    path: Location | str,
    output: Location | str,
    *,
    method: str | Detector,
    settings: Mapping[str, Any] | None = None,
    clean: Location | str | None = None,
    truth: Truth | None = None,
    language: str | None = None,
    code_column: str | None = None,
    id_column: str | None = None,
    language_column: str | None = None,
    split: str | None = None,
    cache: Path | str | None = None,
    workers: int | None = 1,
    engine: str | Engine | None = None,
    overwrite: bool = False,
    progress: Progress = no_progress,
) -> Detected:
    """Look for marks: `detect("train.jsonl.gz", "suspicion.parquet", method="concat").flagged`.

    What is computed on the way is kept in `cache` for a run that is interrupted. By default that is
    a folder beside the output, which goes when all is done.
    """
    detector = load_detector(method, settings) if isinstance(method, str) else method
    output = locate_output(output)
    columns = {
        "code_column": code_column,
        "id_column": id_column,
        "language_column": language_column,
        "split": split,
        "language": language,
    }
    corpus = open_corpus(path, **columns)
    reference = None if clean is None else open_corpus(clean, **columns)
    if detector.needs_clean and reference is None:
        raise UsageError(f"{detector.name} compares with clean records; pass --clean")
    if reference is not None and not detector.takes_clean:
        raise UsageError(f"{detector.name} uses no clean records as it is set; leave out --clean")
    root = cache_of(output) if cache is None else local_path(cache, "the cache")
    check_output(output, root, corpus, reference)
    with staged_file(output, overwrite=overwrite) as written:
        digest = _digest(corpus, progress)
        if truth is not None and truth.digest != digest:
            raise UsageError(
                f"{corpus.path}: the truth is about another dataset; pass the manifest of this"
            )
        clean_digest = None if reference is None else _digest(reference, progress, "clean digest")
        place = root / f"{detector.name}-{_key(detector, digest, clean_digest)}"
        _make(place)
        with open_engine(engine, workers) as opened:
            suspicion = detector.suspect(
                corpus, clean=reference, engine=opened, progress=progress, cache=place
            )
        accuracy = None if truth is None else judge(suspicion, truth)
        found = _summarise(corpus, output, detector, suspicion, digest, clean_digest, accuracy)
        write_suspicion(found, written, progress)
    if cache is None:
        _forget(root, place)
    return found


def cache_of(output: Location) -> Path:
    """The folder for results on the way, where none was asked for; see `local_place`."""
    place = local_place(output)
    return place.with_name(f"{place.name}.cache")


def check_output(output: Location, cache: Path, corpus: Corpus, clean: Corpus | None) -> None:
    """Refuse what could not be written, before any work is done."""
    if output.suffix.lower() != ".parquet":
        raise UsageError(f"{output}: suspicion is written as Parquet; end the name in .parquet")
    refuse_folder(output)
    keep_apart(
        {"--output": output, "--cache": cache},
        {"INPUT": corpus.paths, "--clean": None if clean is None else clean.paths},
    )


def write_suspicion(found: Detected, place: Path, progress: Progress = no_progress) -> None:
    """Write id, row, flagged, score, reason and suspect names of every record."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema(
        [
            ("id", pa.string()),
            ("row", pa.int64()),
            ("flagged", pa.bool_()),
            ("score", pa.float64()),  # null: not judged
            ("reason", pa.string()),
            ("names", pa.list_(pa.string())),  # null: the detector names none
        ],
        metadata={METADATA: _metadata(found)},
    )
    said = found.suspicion
    columns: tuple[Any, ...] = (
        said.ids,
        said.rows,
        said.flagged,
        said.scores,
        said.reasons,
        [None] * len(said) if said.names is None else said.names,
    )
    with pq.ParquetWriter(place, schema, compression="zstd") as writer:
        for start in range(0, max(1, len(said)), ROW_GROUP):
            arrays = [
                pa.array(column[start : start + ROW_GROUP], kind, from_pandas=True)
                for column, kind in zip(columns, schema.types, strict=True)
            ]
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema))
            progress("writing", min(len(said), start + ROW_GROUP), len(said))


def load_suspicion(path: Location | str) -> Suspicion:
    """What `detect` wrote."""
    return read_suspicion(path)[0]


def read_suspicion(path: Location | str) -> tuple[Suspicion, str]:
    """What `detect` wrote, and the digest of the dataset that it is about."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = locate(path)
    try:
        with fetched(path) as file:
            table = pq.read_table(file)
        payload = orjson.loads((table.schema.metadata or {})[METADATA])
        suspicion = Suspicion(
            table["id"].to_pylist(),
            table["flagged"].to_numpy(),
            table["score"].to_numpy().astype(np.float64),
            table["reason"].to_pylist(),
            payload["details"],
            _names_in(table),
        )
        return suspicion, str(payload["digest"])
    except (OSError, KeyError, ValueError, pa.ArrowException) as exc:
        raise CorpusError(f"{path}: no suspicion that `puzzlemark detect` wrote: {exc}") from exc


def _names_in(table: Any) -> list[tuple[str, ...]] | None:
    """The suspect names of each record; files of before they were written have none."""
    if "names" not in table.column_names or table["names"].null_count == len(table):
        return None
    return [tuple(each or ()) for each in table["names"].to_pylist()]


def _digest(corpus: Corpus, progress: Progress, stage: str = "digest") -> str:
    def records() -> Iterator[bytes]:
        done = 0
        for batch in corpus.batches():
            for entry in batch.entries():
                yield record_digest(entry.id, entry.code)
            done += len(batch.rows)
            progress(stage, done, None)

    return corpus_digest(records())


def _key(detector: Detector, digest: str, clean_digest: str | None) -> str:
    facts = (_settings(detector), digest, clean_digest, _versions())
    return hashlib.sha256(orjson.dumps(facts, option=orjson.OPT_SORT_KEYS)).hexdigest()[:16]


def _settings(detector: Detector) -> dict[str, Any]:
    return asdict(detector)  # type: ignore[call-overload, no-any-return]


def _make(place: Path) -> None:
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as exc:
        raise CorpusError(
            f"{place}: cannot be made: {exc.strerror or exc}; choose another --cache"
        ) from exc


def _forget(root: Path, place: Path) -> None:
    """Remove what this run kept; another's, say of a run with other settings, stays."""
    shutil.rmtree(place, ignore_errors=True)
    if not any(root.iterdir()):
        root.rmdir()


def _summarise(
    corpus: Corpus,
    output: Location,
    detector: Detector,
    suspicion: Suspicion,
    digest: str,
    clean_digest: str | None,
    accuracy: Accuracy | None,
) -> Detected:
    return Detected(
        str(corpus.path),
        str(output),
        detector.name,
        _settings(detector),
        len(suspicion),
        int(np.count_nonzero(suspicion.judged)),
        int(np.count_nonzero(suspicion.flagged)),
        dict(suspicion.skipped.most_common()),
        digest,
        clean_digest,
        accuracy,
        suspicion.details,
        suspicion,
    )


def _metadata(found: Detected) -> bytes:
    paths = ("input", "output")  # where a file once lay is nobody's business
    facts = {name: value for name, value in found.to_json().items() if name not in paths}
    return orjson.dumps({**facts, "versions": _versions()}, default=str)


def _versions() -> dict[str, str]:
    return versions(*parsing_packages(), "numpy")
