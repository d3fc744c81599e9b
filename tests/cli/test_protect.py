"""`puzzlemark protect` as its user types it."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from puzzlemark.cli.__main__ import application
from tests.protecting.project import SECRET, TEST, contents, make_project

SHOW = ("show", "shelves", "--manifest", "shelves.manifest.jsonl.gz")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PUZZLEMARK_SECRET", SECRET)
    monkeypatch.chdir(tmp_path)
    return make_project(tmp_path / "shelves")


def run(*words: str) -> Result:
    return CliRunner().invoke(application(), ["protect", "shelves", *words])


def test_capacity_comes_first_and_then_what_was_done() -> None:
    done = run("--in-place", "--test", TEST)
    assert done.exit_code == 0, done.output
    lines = done.output.splitlines()
    assert lines[0].startswith("10 functions in 4 files can carry 6 marks")
    assert "Not worth it" in lines[2]
    assert "5 marks in 10 functions" in done.output
    assert "shelves/named.py::plan: refused, the tests fail with its mark" in done.output
    assert "they pass" in done.output


def test_json_is_one_object_and_a_dry_run_writes_nothing(folder: Path) -> None:
    before = contents(folder.parent)
    done = run("--dry-run", "--json")
    assert json.loads(done.stdout)["counts"]["new"] == 6
    assert contents(folder.parent) == before


def test_update_and_revert_from_the_command_line(folder: Path) -> None:
    before = contents(folder)
    run("--in-place")
    assert "6  kept as they stood" in run("--update", "--in-place").output
    shown = CliRunner().invoke(application(), [*SHOW])
    assert "+    optionalReleaseMandatoryRelease = list(optionalRelease)" in shown.output
    listed = CliRunner().invoke(application(), [*SHOW, "--json"])
    assert len(json.loads(listed.stdout)["files"]) == 3
    one = CliRunner().invoke(
        application(),
        [*SHOW, "--id", "shelves/shelf.py::spread"],
    )
    assert "start + stop -> start_stop" in one.output
    assert "6 marks taken out" in run("--revert", "--in-place").output
    assert contents(folder) == before


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("", "where shall the marks go?"),
        ("--in-place --message x", "--message has no effect here"),
        ("--dry-run --test x", "--test has no effect here"),
        ("--in-place --revert --rate 0.5", "--rate has no effect here"),
        ("--in-place --revert --update", "either --update or --revert"),
        ("--in-place --test-timeout 5", "--test-timeout has no effect without --test"),
    ],
)
def test_a_wrong_call_exits_with_2(words: str, message: str) -> None:
    done = run(*words.split())
    assert done.exit_code == 2
    assert message in done.output
