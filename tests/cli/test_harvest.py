"""`puzzlemark harvest`, as it is typed."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from puzzlemark.cli.__main__ import application


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "shelf"
    root.mkdir()
    (root / "a.py").write_text("def a(): pass\ndef b():\n    return 1\n")
    (root / "test_a.py").write_text("def test(): pass\n")
    (root / "bad.py").write_text("def (:\n")
    return root


def harvest(*arguments: str | Path) -> Result:
    words = [*map(str, arguments), "--language", "python", "--workers", "1"]
    return CliRunner().invoke(application(), ["harvest", *words])


def test_harvest_writes_a_dataset_and_says_what_it_left_out(tree: Path, tmp_path: Path) -> None:
    output = tmp_path / "functions.jsonl"
    done = harvest(tree, "--output", output, "--exclude", "test_*", "--min-lines", "2")
    assert done.exit_code == 0, done.output
    assert done.stdout == (
        f"1 functions of 2 files -> {output}\n"
        "  left out       1 files: syntax errors\n"
        "  left out       1 functions: fewer than 2 lines\n"
    )
    assert json.loads(output.read_text())["func_name"] == "b"


def test_harvest_speaks_json(tree: Path, tmp_path: Path) -> None:
    done = harvest(tree, "--output", tmp_path / "f.jsonl.gz", "--json")
    told = json.loads(done.stdout)
    assert (told["records"], told["files"]) == (3, 3)
    assert told["skipped_files"] == {"syntax errors": 1}


def test_harvest_replaces_only_by_force(tree: Path, tmp_path: Path) -> None:
    output = tmp_path / "f.jsonl"
    assert harvest(tree, "--output", output).exit_code == 0
    again = harvest(tree, "--output", output)
    assert again.exit_code == 2
    assert "--force" in again.output
    assert harvest(tree, "--output", output, "--force").exit_code == 0


def test_harvest_of_nothing_fails_with_a_reason(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    done = harvest(tmp_path / "empty", "--output", tmp_path / "f.jsonl")
    assert done.exit_code == 1
    assert "no Python functions in it" in done.output
    assert harvest(tmp_path / "none", "--output", tmp_path / "f.jsonl").exit_code == 1
