"""Scores as Parquet, and what the file says about itself."""

import math
from pathlib import Path
from typing import Any

import orjson
import pyarrow.parquet as pq
import pytest

import puzzlemark as pm
from puzzlemark.carriers.selection import select
from puzzlemark.embedding.scores import METADATA, score
from puzzlemark.errors import UsageError
from puzzlemark.features.measure import FEATURES, FeatureTable
from puzzlemark.snippet import Snippet

ODD: list[dict[str, Any]] = [
    {"id": "bad", "language": "python", "code": "def (:"},
    {"id": "null", "language": "python", "code": None},
    {"id": "cobol", "language": "cobol", "code": "MOVE A TO B"},
]


def add(path: Path, records: list[dict[str, Any]]) -> Path:
    with path.open("ab") as file:
        file.writelines(orjson.dumps(record) + b"\n" for record in records)
    return path


def test_the_file_holds_what_was_measured_of_every_record(
    corpus_path: Path, stdlib_functions: list[tuple[str, str]], tmp_path: Path
) -> None:
    output = tmp_path / "features.parquet"
    scored = score(add(corpus_path, ODD), output)
    table = pq.read_table(output)
    rows = table.to_pylist()
    assert table.column_names == [
        *("row", "id", *FEATURES, "suitability", "is_candidate", "reason"),
    ]
    assert [row["row"] for row in rows] == list(range(len(stdlib_functions) + len(ODD)))
    measured = [pm.measure(pm.parse(Snippet(i, code, "python"))) for i, code in stdlib_functions]
    selection = select(FeatureTable.from_rows([*measured, None, None, None]))
    for row, values, (id_, _) in zip(rows, measured, stdlib_functions, strict=False):
        assert row["id"] == id_
        assert tuple(row[name] for name in FEATURES) == values
        assert row["suitability"] == selection.scores[row["row"]]
        assert row["is_candidate"] == selection.is_candidate[row["row"]]
        assert row["reason"] is None
    assert scored.threshold == selection.threshold
    assert (scored.records, scored.measured) == (len(rows), len(measured))
    assert scored.candidates == sum(row["is_candidate"] for row in rows)


def test_what_was_not_measured_has_a_reason_and_nulls(corpus_path: Path, tmp_path: Path) -> None:
    output = tmp_path / "features.parquet"
    scored = score(add(corpus_path, ODD), output)
    last = pq.read_table(output).to_pylist()[-3:]
    assert [row["reason"] for row in last] == [
        "syntax errors",
        "null code",
        "language 'cobol' is not supported",
    ]
    for row in last:
        assert row["suitability"] is None
        assert not row["is_candidate"]
        assert all(row[name] is None for name in FEATURES)
    assert sum(scored.unmeasured.values()) == 3


def test_the_metadata_says_how_it_was_made(corpus_path: Path, tmp_path: Path) -> None:
    output = tmp_path / "features.parquet"
    score(corpus_path, output, tau=0.5, features=["cc", "nloc"])
    facts = orjson.loads(pq.read_schema(output).metadata[METADATA])
    assert (facts["tau"], facts["features"], facts["projection"]) == (0.5, ["cc", "nloc"], "pca")
    assert facts["digest"] == pm.read(corpus_path).digest()
    assert facts["columns"] == {"code": "code", "id": "id", "language": "language"}
    assert facts["versions"]["puzzlemark"]
    assert math.isclose(sum(weight**2 for weight in facts["weights"].values()), 1)
    assert str(tmp_path) not in str(facts)


@pytest.mark.parametrize("projection", ["topsis", "mahalanobis"])
def test_a_projection_without_weights_has_none(
    corpus_path: Path, tmp_path: Path, projection: str
) -> None:
    scored = score(corpus_path, tmp_path / "features.parquet", projection=projection)
    assert scored.weights == {}
    assert scored.candidates > 0


def test_a_dataset_without_anything_to_measure_has_no_threshold(tmp_path: Path) -> None:
    path = add(tmp_path / "odd.jsonl", ODD)
    scored = score(path, tmp_path / "features.parquet")
    assert scored.threshold is None
    assert scored.weights == {}
    assert pq.read_table(tmp_path / "features.parquet").num_rows == 3


def test_workers_change_nothing(corpus_path: Path, tmp_path: Path) -> None:
    one, two = tmp_path / "one.parquet", tmp_path / "two.parquet"
    score(corpus_path, one)
    score(corpus_path, two, workers=2)
    assert one.read_bytes() == two.read_bytes()


def test_the_output_is_checked_before_any_work(corpus_path: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"\.parquet"):
        score(corpus_path, tmp_path / "features.csv")
    taken = tmp_path / "taken.parquet"
    taken.write_text("precious")
    with pytest.raises(UsageError, match="--force"):
        score(corpus_path, taken)
    assert taken.read_text() == "precious"
    score(corpus_path, taken, overwrite=True)
    with pytest.raises(UsageError, match=r"--output .* is the same as INPUT"):
        score(taken, taken, code_column="id", language="python", overwrite=True)
