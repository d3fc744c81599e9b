"""A whole run of `detect`, from path to path: judge every record, write the suspicion."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from puzzlemark.corpora.base import Corpus, open_corpus
from puzzlemark.detectors._accuracy import Accuracy, Truth, judge
from puzzlemark.detectors.base import Detector, Suspicion, load_detector
from puzzlemark.engines.base import Engine, open_engine
from puzzlemark.errors import CorpusError, UsageError
from puzzlemark.files import keep_apart, refuse_folder
from puzzlemark.languages.base import parsing_packages
from puzzlemark.models.base import ModelError
from puzzlemark.progress import Progress, no_progress
from puzzlemark.provenance import versions
from puzzlemark.resuming import resumable
from puzzlemark.staging import staged_file
from puzzlemark.stores import (
    Location,
    fetched,
    local_path,
    locate,
    locate_output,
)

__all__ = ["Detected", "Truth", "detect", "load_suspicion", "read_suspicion"]

ROW_GROUP = 50_000
METADATA = b"puzzlemark"  # key of the file's metadata
FOUND = "found"  # in the hidden folder of a run: what it computes on the way


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

    A run that is interrupted goes on when it is called again: what it found waits in a hidden
    folder beside the output, or in `cache`, which stays when all is done.
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
    root = None if cache is None else local_path(cache, "the cache")
    check_output(output, root, corpus, reference)
    with (
        staged_file(output, overwrite=overwrite) as written,
        # the truth is no part of what is kept
        resumable(output, _facts(detector, corpus, reference), spared=(ModelError,)) as work,
        open_engine(engine, workers) as opened,
    ):
        digest = corpus.digest(opened, work=work, progress=_counting(progress, "digest"))
        if truth is not None and truth.digest != digest:
            raise UsageError(
                f"{corpus.path}: the truth is about another dataset; pass the manifest of this"
            )
        clean_digest = None
        if reference is not None:
            told = _counting(progress, "clean digest")
            clean_digest = reference.digest(opened, work=work, name="clean", progress=told)
        place = work.folder / FOUND
        if root is not None:
            place = root / f"{detector.name}-{_key(detector, digest, clean_digest)}"
        make_cache(place)
        suspicion = detector.suspect(
            corpus, clean=reference, engine=opened, progress=progress, cache=place
        )
        accuracy = None if truth is None else judge(suspicion, truth)
        found = _summarise(corpus, output, detector, suspicion, digest, clean_digest, accuracy)
        write_suspicion(found, written, progress)
    return found


def _facts(detector: Detector, corpus: Corpus, clean: Corpus | None) -> dict[str, Any]:
    return {
        "method": detector.name,
        "settings": _settings(detector),
        **facts_of_inputs(corpus, {} if clean is None else {"--clean": clean}),
    }


def facts_of_inputs(corpus: Corpus, others: Mapping[str, Corpus]) -> dict[str, Any]:
    """All that decides what is read: `others` are further datasets, as the user calls them."""
    stamps = dict(corpus.stamps)
    for name, other in others.items():
        stamps |= {f"{name} {shard}": stamp for shard, stamp in other.stamps.items()}
    return {
        "columns": corpus.columns.to_json(),
        "language of records": corpus.language,
        "versions": _versions(),
        "input": stamps,
    }


def check_output(
    output: Location, cache: Path | None, corpus: Corpus, clean: Corpus | None
) -> None:
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


def _counting(progress: Progress, stage: str) -> Callable[[int], None]:
    done = 0

    def advance(more: int) -> None:
        nonlocal done
        done += more
        progress(stage, done, None)

    return advance


def _key(detector: Detector, digest: str, clean_digest: str | None) -> str:
    facts = (_settings(detector), digest, clean_digest, _versions())
    return hashlib.sha256(orjson.dumps(facts, option=orjson.OPT_SORT_KEYS)).hexdigest()[:16]


def _settings(detector: Detector) -> dict[str, Any]:
    return asdict(detector)  # type: ignore[call-overload, no-any-return]


def make_cache(place: Path) -> None:
    """Make the folder of a run's results on the way."""
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as exc:
        raise CorpusError(
            f"{place}: cannot be made: {exc.strerror or exc}; choose another --cache"
        ) from exc


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
