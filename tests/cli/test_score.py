"""`puzzlemark score`, as it is typed."""

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from puzzlemark.cli.__main__ import application


def test_score_writes_a_table_and_its_picture(corpus_path: Path, tmp_path: Path) -> None:
    output = tmp_path / "features.parquet"
    done = CliRunner().invoke(
        application(), ["score", str(corpus_path), "--output", str(output), "--workers", "1"]
    )
    assert done.exit_code == 0, done.output
    assert "may carry a mark" in done.stdout
    assert "threshold 0." in done.stdout
    assert "cc 0." in done.stdout
    assert pq.read_table(output).num_rows > 100
    assert ET.parse(tmp_path / "features.svg").getroot().tag.endswith("svg")  # noqa: S314


def test_score_speaks_json(corpus_path: Path, tmp_path: Path) -> None:
    picture = tmp_path / "else.svg"
    arguments = ["--output", str(tmp_path / "f.parquet"), "--picture", str(picture)]
    options = ["--tau", "0.5", "--features", "cc,nloc", "--workers", "1", "--json"]
    done = CliRunner().invoke(application(), ["score", str(corpus_path), *arguments, *options])
    told = json.loads(done.stdout)
    assert told["features"] == ["cc", "nloc"]
    assert told["picture"] == str(picture)
    assert abs(told["candidates"] / told["records"] - 0.5) < 0.1
    assert picture.exists()


def test_score_refuses_to_replace_a_picture_and_writes_nothing(
    corpus_path: Path, tmp_path: Path
) -> None:
    (tmp_path / "f.svg").write_text("precious")
    output = tmp_path / "f.parquet"
    done = CliRunner().invoke(application(), ["score", str(corpus_path), "-o", str(output)])
    assert done.exit_code == 2
    assert "--force" in done.output
    assert not output.exists()


def test_score_names_the_known_features(corpus_path: Path, tmp_path: Path) -> None:
    output = tmp_path / "f.parquet"
    done = CliRunner().invoke(
        application(),
        ["score", str(corpus_path), "-o", str(output), "--features", "lines", "--workers", "1"],
    )
    assert done.exit_code == 2
    assert "no feature 'lines'; known: cc, nloc" in done.output.replace("\n", " ")


def test_score_prints_weights_of_a_projection_that_explains_no_variance(
    corpus_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from puzzlemark.carriers.projections import pca

    explain = pca.explain
    monkeypatch.setattr(pca, "explain", lambda z: {"weights": explain(z)["weights"]})
    words = ["score", str(corpus_path), "-o", str(tmp_path / "f.parquet"), "--workers", "1"]
    done = CliRunner().invoke(application(), words)
    assert done.exit_code == 0, done.output
    assert "(pca)" in done.stdout
    assert "of the variance" not in done.stdout
