"""Features and suitability of every record, as a Parquet file that says how it was made."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import orjson
from numpy.typing import NDArray

from puzzlemark.carriers.selection import TAU, Suitability
from puzzlemark.corpora.base import Corpus
from puzzlemark.corpora.records import corpus_digest
from puzzlemark.embedding.columns import pieces
from puzzlemark.embedding.survey import (
    MEASURED,
    Survey,
    Wanted,
    open_input,
    parse_entry,
    survey,
    survey_measured,
)
from puzzlemark.engines.base import Engine, open_engine
from puzzlemark.errors import UnparsableSnippet, UsageError
from puzzlemark.features.measure import DEFAULT, FEATURES, FeatureTable
from puzzlemark.files import keep_apart, refuse_folder
from puzzlemark.languages.base import parsing_packages
from puzzlemark.progress import Progress, no_progress
from puzzlemark.provenance import versions
from puzzlemark.resuming import resumable
from puzzlemark.staging import staged_file
from puzzlemark.stores import Location, locate, locate_output

if TYPE_CHECKING:
    import pyarrow as pa

ROW_GROUP = 50_000
METADATA = b"puzzlemark"  # key of the file's metadata


@dataclass(frozen=True, slots=True)
class Scored:
    """What scoring a dataset found."""

    input: str
    output: str
    records: int
    measured: int
    candidates: int
    tau: float
    threshold: float | None  # None: nothing could be measured
    features: tuple[str, ...]
    projection: str
    weights: dict[str, float]  # of each feature, where the projection has weights
    explained_variance: float | None
    unmeasured: dict[str, int]  # records without features, by reason
    digest: str

    def to_json(self) -> dict[str, Any]:
        """Plain data for a JSON object."""
        return {name: getattr(self, name) for name in self.__slots__}


def score(
    path: Location | str | Corpus,
    output: Location | str,
    *,
    tau: float = TAU,
    features: Sequence[str] | None = None,
    projection: str = "pca",
    language: str | None = None,
    code_column: str | None = None,
    id_column: str | None = None,
    language_column: str | None = None,
    split: str | None = None,
    measured: Sequence[Location | str] | None = None,
    workers: int | None = 1,
    engine: str | Engine | None = None,
    overwrite: bool = False,
    progress: Progress = no_progress,
) -> Scored:
    """Measure a dataset: `score("train.jsonl.gz", "features.parquet").threshold -> 0.57`.

    `measured`: files that `score` wrote of its shards, one for each, in their order, perhaps on
    several machines. Then nothing is measured again, and the file that is written is the same.
    """
    output = locate_output(output)
    check_output(output)
    corpus = open_input(
        path,
        language=language,
        code_column=code_column,
        id_column=id_column,
        language_column=language_column,
        split=split,
    )
    parts = None if measured is None else [load_scores(each) for each in measured]
    keep_apart({"--output": output}, {"INPUT": corpus.paths, "the features": measured})
    with (
        # how suitability is made of the features is not a part of what is kept
        staged_file(output, overwrite=overwrite) as place,
        resumable(output, _facts(corpus)) as work,
        open_engine(engine, workers) as opened,
    ):
        corpus = corpus.counted(opened)
        if parts is None:
            seen = survey(corpus, Wanted(), opened, progress, work)
        else:
            _refuse_other_shards(corpus, parts, opened)
            seen = survey_measured(corpus, Wanted(), _Joined(parts), opened, progress, work)
        suitability = seen.fit(tuple(features or DEFAULT), projection, tau)
        scored = _summarise(corpus, output, seen, suitability)
        write_scores(place, corpus, seen, suitability, scored, progress)
    return scored


def _refuse_other_shards(corpus: Corpus, parts: "Sequence[Scores]", engine: Engine) -> None:
    """Raise unless there are features of every shard as it is now."""
    if len(parts) != len(corpus.shards):
        raise UsageError(
            f"{corpus.path}: {len(corpus.shards):,} shards, and features of {len(parts):,}; pass a "
            "file for each of them, in their order"
        )
    for part, shard in zip(parts, corpus.shards, strict=True):
        part.refuse_other(corpus)
        part.refuse_changed(shard.path, corpus.alone(shard).digest(engine))


def _facts(corpus: Corpus) -> dict[str, Any]:
    return {
        "columns": corpus.columns.to_json(),
        "language of records": corpus.language,
        "versions": versions(*parsing_packages()),
        "input": corpus.stamps,
    }


def check_output(output: Location) -> None:
    """Refuse what could not be written, before any work is done."""
    if output.suffix.lower() != ".parquet":
        raise UsageError(f"{output}: scores are written as Parquet; end the name in .parquet")
    refuse_folder(output)


def write_scores(
    place: Path,
    corpus: Corpus,
    seen: Survey,
    suitability: Suitability,
    scored: Scored,
    progress: Progress = no_progress,
) -> None:
    """Write row, id, the ten features, suitability, is_candidate and reason of every record."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = _schema().with_metadata({METADATA: _metadata(corpus, scored)})
    done = 0
    with pq.ParquetWriter(place, schema, compression="zstd") as writer:
        for start, ids, reasons in _groups(corpus, seen):
            columns = _columns(seen, suitability, start, ids, reasons)
            arrays = [
                pa.array(columns[name], kind, from_pandas=True)  # NaN: not measured, hence null
                for name, kind in zip(schema.names, schema.types, strict=True)
            ]
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema))
            done += len(ids)
            progress("writing", done, scored.records)


def _schema() -> "pa.Schema":
    import pyarrow as pa

    return pa.schema(
        [
            ("row", pa.int64()),
            ("id", pa.string()),
            *((name, pa.int32()) for name in FEATURES),
            ("suitability", pa.float64()),
            ("is_candidate", pa.bool_()),
            ("reason", pa.string()),
        ]
    )


def _groups(corpus: Corpus, seen: Survey) -> Iterator[tuple[int, list[str], list[str | None]]]:
    """First row, ids and reasons of each row group; only what was not measured is parsed again."""
    start = 0
    ids: list[str] = []
    reasons: list[str | None] = []
    for batch in corpus.batches():
        for entry in batch.entries():
            reason: str | None = None
            if not seen.flags[entry.row] & MEASURED:
                try:
                    parse_entry(entry, None)
                except UnparsableSnippet as exc:
                    reason = str(exc)
            ids.append(entry.id.encode("utf-8", "replace").decode())  # JSON has lone surrogates
            reasons.append(reason)
        if len(ids) >= ROW_GROUP:
            yield start, ids, reasons
            start += len(ids)
            ids, reasons = [], []
    if ids:
        yield start, ids, reasons


def _columns(
    seen: Survey,
    suitability: Suitability,
    start: int,
    ids: list[str],
    reasons: list[str | None],
) -> dict[str, Any]:
    rows = slice(start, start + len(ids))
    values, measured = seen.values[rows], seen.flags[rows] & MEASURED != 0
    features = {
        name: np.ma.masked_array(values[:, place], ~measured) for place, name in enumerate(FEATURES)
    }
    scores = np.full(len(ids), np.nan)
    scores[measured] = suitability.score(values[measured])
    return {
        "row": np.arange(rows.start, rows.stop),
        "id": ids,
        **features,
        "suitability": scores,
        "is_candidate": scores >= suitability.threshold,
        "reason": reasons,
    }


def _summarise(corpus: Corpus, output: Location, seen: Survey, chosen: Suitability) -> Scored:
    weights = chosen.details.get("weights")
    share = chosen.details.get("explained_variance")
    return Scored(
        str(corpus.path),
        str(output),
        len(seen),
        int(np.count_nonzero(seen.measured)),
        int(np.count_nonzero(seen.candidates(chosen))),
        chosen.tau,
        None if math.isnan(chosen.threshold) else chosen.threshold,
        chosen.features,
        chosen.projection,
        dict(zip(chosen.features, weights, strict=True)) if isinstance(weights, list) else {},
        share if isinstance(share, float) else None,
        dict(seen.unmeasured.most_common()),
        corpus_digest(seen.digests[rows].tobytes() for rows in pieces(len(seen))),
    )


def _metadata(corpus: Corpus, scored: Scored) -> bytes:
    paths = ("input", "output")  # where a file once lay is nobody's business
    facts = {name: value for name, value in scored.to_json().items() if name not in paths}
    return orjson.dumps(
        {
            **facts,
            "columns": corpus.columns.to_json(),
            "language": corpus.language,
            "versions": versions(*parsing_packages()),
        }
    )


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """A file that `score` wrote, to be used in the place of a survey."""

    path: Location
    features: tuple[str, ...]  # those that its suitability is made of
    digest: str  # of the dataset
    about: Mapping[str, Any]

    def measured(self) -> "_Reading":
        """What was measured, read in the order of the records."""
        return _Reading(self.path)

    def refuse_other(self, corpus: Corpus) -> None:
        """Raise when the dataset was read otherwise, or measured by another version."""
        now = {"columns": corpus.columns.to_json(), "versions": versions(*parsing_packages())}
        for name, value in now.items():
            if self.about.get(name) != value:
                raise UsageError(
                    f"{self.path}: its {name} are not those of this run, so its features may not "
                    "be either; run `puzzlemark score` again"
                )
        language = self.about.get("language")
        # where every record says its language, it does not matter what the others would be in
        unmeasured = self.about.get("unmeasured", {})
        if language != corpus.language and (language or "no language" in unmeasured):
            raise UsageError(
                f"{self.path}: records that do not say their language were measured as "
                f"{language or 'of none'}; run `puzzlemark score` again with --language"
            )

    def refuse_changed(self, path: Location, digest: str) -> None:
        """Raise when the features are of another dataset."""
        if digest != self.digest:
            raise UsageError(
                f"{self.path}: the features of another dataset than {path}, or of an earlier "
                "state of it; run `puzzlemark score` again"
            )


def read_suitability(path: Location | str) -> NDArray[np.float64]:
    """The suitability of every record, from the file that `score` wrote; NaN: not measured."""
    import pyarrow.parquet as pq

    column: NDArray[np.float64] = pq.read_table(_readable(locate(path)), columns=["suitability"])[
        0
    ].to_numpy()
    return column


def load_scores(path: Location | str) -> Scores:
    """Open the features that `score` wrote; they are read later, some at a time."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = locate(path)
    try:
        schema = pq.read_schema(_readable(path))
        about = orjson.loads((schema.metadata or {})[METADATA])
        features, digest = tuple(about["features"]), str(about["digest"])
        missing = [name for name in (*FEATURES, "reason") if name not in schema.names]
    except (OSError, pa.ArrowException, KeyError, TypeError, orjson.JSONDecodeError) as exc:
        raise UsageError(_unreadable(path)) from exc
    if missing:
        raise UsageError(_unreadable(path))
    return Scores(path, features, digest, about)


def _readable(path: Location) -> Any:
    return path if isinstance(path, Path) else path.open()


def _unreadable(path: Location) -> str:
    return f"{path}: cannot be read as features; pass a file that `puzzlemark score` wrote"


class _Joined:
    """The features of several files, one after the other."""

    def __init__(self, parts: Sequence[Scores]) -> None:
        self._waiting = [part.measured() for part in reversed(parts)]

    def take(self, records: int) -> tuple[FeatureTable, list[str | None]]:
        """The next records; see `survey.Measured`."""
        values, valid = np.empty((0, len(FEATURES)), np.int32), np.empty(0, np.bool_)
        reasons: list[str | None] = []
        while len(reasons) < records and self._waiting:
            table, more = self._waiting[-1].take(records - len(reasons))
            if not more:
                self._waiting.pop()
            values, valid = np.vstack([values, table.values]), np.append(valid, table.measured)
            reasons += more
        return FeatureTable(values, valid), reasons


class _Reading:
    """The features of a file, from its first record to its last."""

    def __init__(self, path: Location) -> None:
        self._path = path
        self._batches = self._read()
        self._rest = self._none()

    def take(self, records: int) -> tuple[FeatureTable, list[str | None]]:
        """The next records; see `survey.Measured`."""
        import pyarrow as pa

        while len(self._rest) < records and (more := next(self._batches, None)) is not None:
            self._rest = pa.concat_tables([self._rest, more])
        table, self._rest = self._rest.slice(0, records), self._rest.slice(records)
        columns = [table.column(name).fill_null(0).to_numpy().astype(np.int32) for name in FEATURES]
        valid = table.column(FEATURES[0]).is_valid().to_numpy()
        values = np.column_stack(columns).reshape(len(table), len(FEATURES))
        return FeatureTable(values, valid.astype(np.bool_)), table.column("reason").to_pylist()

    def _read(self) -> "Iterator[pa.Table]":
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            with pq.ParquetFile(_readable(self._path)) as file:
                for batch in file.iter_batches(columns=[*FEATURES, "reason"]):
                    yield pa.Table.from_batches([batch])
        except (OSError, pa.ArrowException) as exc:
            raise UsageError(_unreadable(self._path)) from exc

    def _none(self) -> "pa.Table":
        import pyarrow as pa

        kinds = {field.name: field.type for field in _schema()}
        wanted = [(name, kinds[name]) for name in (*FEATURES, "reason")]
        return pa.schema(wanted).empty_table()
