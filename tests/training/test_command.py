"""`puzzlemark train` as a user meets it."""

import json
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from puzzlemark.cli.__main__ import application

SMALL = ("--recipe", "cpu", "--part", "all", "--epochs", "2")


def command(*words: object) -> Result:
    return CliRunner().invoke(application(), ["train", *map(str, words)])


def test_without_torch_it_says_what_to_install(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    result = command(corpus, "--base", "model", "-o", tmp_path / "out")
    assert result.exit_code == 1
    assert result.stderr.count("\n") == 1
    assert "torch is not installed" in result.stderr
    assert "pip install 'puzzlemark[train]'" in result.stderr
    assert not (tmp_path / "out").exists()


def test_a_training_ends_in_words_and_logs_as_it_goes(
    tiny_model: Path, corpus: Path, tmp_path: Path
) -> None:
    result = command(corpus, "--base", tiny_model, "-o", tmp_path / "out", *SMALL)
    assert result.exit_code == 0, result.output
    assert "trained on 24 of 24 records, 12 steps" in result.stdout
    lines = result.stderr.splitlines()
    assert lines[0].startswith("step 1 of 12, loss ")
    assert lines[-1].startswith("step 12 of 12, loss ")
    again = command(corpus, "--base", tiny_model, "-o", tmp_path / "out", *SMALL)
    assert again.exit_code == 0
    assert "was trained before" in again.stdout


def test_json_is_the_record_and_nothing_else(
    tiny_model: Path, corpus: Path, tmp_path: Path
) -> None:
    options = (*SMALL, "--betas", "0.8", "0.9", "--rate", "0.002", "--json")
    result = command(corpus, "--base", tiny_model, "-o", tmp_path / "out", *options)
    printed: dict[str, Any] = json.loads(result.stdout)
    assert printed.pop("output") == str(tmp_path / "out")
    assert printed == json.loads((tmp_path / "out" / "training.json").read_text())
    assert (printed["recipe"]["betas"], printed["recipe"]["rate"]) == ([0.8, 0.9], 0.002)
    assert result.stderr == ""


def test_a_wrong_setting_is_a_usage_error(tiny_model: Path, corpus: Path, tmp_path: Path) -> None:
    result = command(corpus, "--base", tiny_model, "-o", tmp_path / "out", "--batch", "0")
    assert result.exit_code == 2
    assert "--batch 0: must be above 0" in result.stderr


def test_ctrl_c_says_that_the_same_command_goes_on(
    tiny_model: Path, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = (corpus, "--base", tiny_model, "-o", tmp_path / "out", *SMALL)
    with monkeypatch.context() as patched:
        patched.setattr("puzzlemark.cli.train._log", lambda _: signal.raise_signal(signal.SIGINT))
        result = command(*words)
    assert result.exit_code == 130
    assert "the same command goes on from the last checkpoint" in result.stderr
    finished = command(*words, "--json")
    assert json.loads(finished.stdout)["times"]["starts"] == 2
