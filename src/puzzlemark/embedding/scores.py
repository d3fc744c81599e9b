"""Features and suitability of every record, as a Parquet file that says how it was made."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import orjson

from puzzlemark.carriers.selection import TAU, Selection, select
from puzzlemark.corpora.base import Corpus
from puzzlemark.corpora.records import corpus_digest
from puzzlemark.embedding.survey import (
    Measured,
    Survey,
    Wanted,
    open_input,
    parse_entry,
    survey,
)
from puzzlemark.engines.base import Engine, open_engine
from puzzlemark.errors import UnparsableSnippet, UsageError
from puzzlemark.features.measure import DEFAULT, FEATURES, FeatureTable
from puzzlemark.files import keep_apart, refuse_folder
from puzzlemark.languages.base import parsing_packages
from puzzlemark.progress import Progress, no_progress
from puzzlemark.provenance import versions
from puzzlemark.staging import staged

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
    selection: Selection = field(repr=False)

    def to_json(self) -> dict[str, Any]:
        """Plain data for a JSON object."""
        return {name: getattr(self, name) for name in self.__slots__ if name != "selection"}


def score(
    path: Path | str | Corpus,
    output: Path | str,
    *,
    tau: float = TAU,
    features: Sequence[str] | None = None,
    projection: str = "pca",
    language: str | None = None,
    code_column: str | None = None,
    id_column: str | None = None,
    language_column: str | None = None,
    workers: int | None = 1,
    engine: str | Engine | None = None,
    overwrite: bool = False,
    progress: Progress = no_progress,
) -> Scored:
    """Measure a dataset: `score("train.jsonl.gz", "features.parquet").threshold -> 0.57`."""
    output = Path(output)
    check_output(output)
    corpus = open_input(
        path,
        language=language,
        code_column=code_column,
        id_column=id_column,
        language_column=language_column,
    )
    keep_apart({"--output": output}, {"INPUT": corpus.paths})
    with staged(output, overwrite=overwrite) as place:
        with open_engine(engine, workers) as opened:
            seen = survey(corpus, Wanted(), opened, progress)
        selection = select(
            seen.table, features=tuple(features or DEFAULT), projection=projection, tau=tau
        )
        scored = _summarise(corpus, output, seen, selection)
        write_scores(place, corpus, seen, scored, progress)
    return scored


def check_output(output: Path) -> None:
    """Refuse what could not be written, before any work is done."""
    if output.suffix.lower() != ".parquet":
        raise UsageError(f"{output}: scores are written as Parquet; end the name in .parquet")
    refuse_folder(output)


def write_scores(
    place: Path, corpus: Corpus, seen: Survey, scored: Scored, progress: Progress = no_progress
) -> None:
    """Write row, id, the ten features, suitability, is_candidate and reason of every record."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = _schema().with_metadata({METADATA: _metadata(corpus, scored)})
    done = 0
    with pq.ParquetWriter(place, schema, compression="zstd") as writer:
        for start, ids, reasons in _groups(corpus, seen):
            columns = _columns(seen, scored.selection, start, ids, reasons)
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
            if not seen.table.measured[entry.row]:
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
    seen: Survey, selection: Selection, start: int, ids: list[str], reasons: list[str | None]
) -> dict[str, Any]:
    rows = slice(start, start + len(ids))
    missing = ~seen.table.measured[rows]
    features = {
        name: np.ma.masked_array(seen.table.values[rows, place], missing)
        for place, name in enumerate(FEATURES)
    }
    return {
        "row": np.arange(rows.start, rows.stop),
        "id": ids,
        **features,
        "suitability": selection.scores[rows],
        "is_candidate": selection.is_candidate[rows],
        "reason": reasons,
    }


def _summarise(corpus: Corpus, output: Path, seen: Survey, selection: Selection) -> Scored:
    weights = selection.details.get("weights")
    share = selection.details.get("explained_variance")
    return Scored(
        str(corpus.path),
        str(output),
        len(seen),
        int(np.count_nonzero(seen.table.measured)),
        int(np.count_nonzero(selection.is_candidate)),
        selection.tau,
        None if math.isnan(selection.threshold) else selection.threshold,
        selection.features,
        selection.projection,
        dict(zip(selection.features, weights, strict=True)) if isinstance(weights, list) else {},
        share if isinstance(share, float) else None,
        dict(seen.unmeasured.most_common()),
        corpus_digest(seen.digests.tobytes()),
        selection,
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

    path: Path
    features: tuple[str, ...]  # those that its suitability is made of
    digest: str  # of the dataset
    about: Mapping[str, Any]
    measured: Measured

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
        if language != corpus.language and (language or "no language" in self.measured.reasons):
            raise UsageError(
                f"{self.path}: records that do not say their language were measured as "
                f"{language or 'of none'}; run `puzzlemark score` again with --language"
            )

    def refuse_changed(self, path: Path, digest: str) -> None:
        """Raise when the features are of another dataset."""
        if digest != self.digest:
            raise UsageError(
                f"{self.path}: the features of another dataset than {path}, or of an earlier "
                "state of it; run `puzzlemark score` again"
            )


def load_scores(path: Path | str) -> Scores:
    """Read the features that `score` wrote."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = Path(path)
    try:
        table = pq.read_table(path, columns=[*FEATURES, "reason"])
        about = orjson.loads((table.schema.metadata or {})[METADATA])
        features, digest = tuple(about["features"]), str(about["digest"])
    except (OSError, pa.ArrowException, KeyError, TypeError, orjson.JSONDecodeError) as exc:
        raise UsageError(
            f"{path}: cannot be read as features; pass a file that `puzzlemark score` wrote"
        ) from exc
    columns = [table.column(name).fill_null(0).to_numpy().astype(np.int32) for name in FEATURES]
    valid = table.column(FEATURES[0]).is_valid().to_numpy()
    values = np.column_stack(columns) if len(table) else np.zeros((0, len(FEATURES)), np.int32)
    reasons = table.column("reason").to_pylist()
    measured = Measured(FeatureTable(values, valid.astype(np.bool_)), reasons)
    return Scores(path, features, digest, about, measured)
