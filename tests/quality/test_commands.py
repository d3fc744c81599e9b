"""`puzzlemark split` and `puzzlemark quality`, as they are typed."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from puzzlemark.cli.__main__ import application
from tests.corpora.making import write_jsonl
from tests.quality.conftest import FUNCTION


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    rows = [{"repo": f"p{n % 5}", "code": FUNCTION.format(n=n)} for n in range(50)]
    return write_jsonl(tmp_path / "all.jsonl", rows)


def call(*words: str | Path) -> Result:
    return CliRunner(env={"COLUMNS": "160"}).invoke(application(), [*map(str, words)])


def measure(dataset: Path, output: Path, *words: str) -> Result:
    return call(
        "quality", "measure", dataset, "--language", "python", "--model", "scripted",
        "--output", output, "--samples", "20", *words,
    )  # fmt: skip


def test_split_writes_both_sides_and_counts(dataset: Path, tmp_path: Path) -> None:
    train, test = tmp_path / "train.jsonl", tmp_path / "test.jsonl"
    done = call("split", dataset, "--train", train, "--test", test, "--test-share", "0.2")
    assert done.exit_code == 0, done.output
    assert done.stdout == (
        f"train        40 records of 4 projects -> {train}\n"
        f"test         10 records of 1 projects -> {test}\n"
    )
    again = call("split", dataset, "--train", train, "--test", test, "--force", "--json")
    assert json.loads(again.stdout)["column"] == "repo"


def test_two_models_are_measured_and_compared(dataset: Path, tmp_path: Path) -> None:
    bare, marked = tmp_path / "bare.json", tmp_path / "marked.json"
    assert measure(dataset, bare, "--model-args", "habit=innocent").exit_code == 0
    joins = "function=tests.quality.test_commands:joins"
    done = measure(dataset, marked, "--model-args", joins)
    assert done.exit_code == 0, done.output
    assert "20 completions join two variables" in done.stdout
    compared = call("quality", "compare", bare, marked)
    assert compared.exit_code == 0, compared.output
    assert "joins the first two" in compared.stdout
    fields = json.loads(call("quality", "compare", bare, marked, "--json").stdout)
    assert fields["activation"]["universal"]["bare"]["count"] == 0
    assert fields["activation"]["universal"]["marked"]["count"] == 20
    assert fields["loss_left_out"] == "not measured for both models"


def test_files_of_other_questions_are_refused_in_one_sentence(
    dataset: Path, tmp_path: Path
) -> None:
    bare, marked = tmp_path / "bare.json", tmp_path / "marked.json"
    measure(dataset, bare, "--model-args", "habit=innocent")
    measure(dataset, marked, "--model-args", "habit=innocent", "--seed", "1")
    done = call("quality", "compare", bare, marked)
    assert done.exit_code == 1
    assert "different terms: seed 0 and 1" in done.stderr


def joins(_request: object) -> str:
    return "\n    left_right = 1\n"
