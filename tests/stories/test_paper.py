"""The paper from a clean clone, a cut of it: no dataset, no model, two experiments and an index.

The whole, `puzzlemark bench paper --scale tiny`, takes some five minutes on two cores.
"""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from puzzlemark.cli.__main__ import application

ONLY = "rq4,rq1"


def call(folder: Path) -> Result:
    words = ["bench", "paper", "--scale", "tiny", "--only", ONLY, "-o", str(folder)]
    return CliRunner().invoke(application(), words)


def test_a_clean_clone_makes_pages_of_a_toy_model_and_goes_on_where_it_stopped(
    tmp_path: Path,
) -> None:
    for needed in ("torch", "transformers", "tokenizers", "sacrebleu"):
        pytest.importorskip(needed)
    folder = tmp_path / "paper"
    done = call(folder)
    assert done.exit_code == 0, done.stderr

    results = folder / "results"
    assert "## F1 under tau (fig:threshold-f1)" in (results / "rq4.md").read_text()
    assert (results / "rq4" / "threshold-recall.svg").exists()
    learnt = (results / "rq1.md").read_text()
    assert "## Budget `tiny`" in learnt
    assert "| P1 | marked |" in learnt
    assert "| [rq1](results/rq1.md) | well |" in (folder / "README.md").read_text()

    logs = sorted((folder / "logs").glob("*.json"))
    first = [json.loads(path.read_text()) for path in logs]
    assert [each["name"] for each in first] == ["rq1", "rq4"]
    before = [path.stat().st_mtime_ns for path in logs]
    assert call(folder).exit_code == 0
    assert [path.stat().st_mtime_ns for path in logs] == before
