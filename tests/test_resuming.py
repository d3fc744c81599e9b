"""Parts of an interrupted run: kept, found again, and never taken for those of another run."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from puzzlemark.errors import CorpusError, UsageError
from puzzlemark.resuming import DIGESTS, Kept, Work, forget, resumable, work_folder
from puzzlemark.staging import staged

FACTS = {"max_rate": 0.05, "input": {"a.jsonl": [812, 1763], "b.jsonl": [7, 8]}}


@pytest.fixture
def output(tmp_path: Path) -> Path:
    return tmp_path / "marked"


def interrupt(output: Path, facts: dict[str, Any] = FACTS) -> None:
    """A run that keeps a part, and is ended with Ctrl-C."""

    def run() -> None:
        with resumable(output, facts) as work:
            work.keep("survey/0-9", b"ten records")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run()


def test_the_same_run_finds_what_an_interrupted_one_kept(output: Path) -> None:
    interrupt(output)
    with resumable(output, FACTS) as work:
        assert work.find("survey/0-9") == b"ten records"
        assert work.find("survey/10-19") is None


def test_a_run_that_ends_well_leaves_nothing(output: Path) -> None:
    interrupt(output)
    with staged(output) as place, resumable(output, FACTS) as work:
        assert work.find("survey/0-9") == b"ten records"
        place.write_text("marked", encoding="utf-8")
    assert list(output.parent.iterdir()) == [output]


def test_a_run_whose_output_cannot_get_its_name_goes_on(output: Path) -> None:
    with pytest.raises(CorpusError), staged(output), resumable(output, FACTS) as work:
        work.keep("survey/0-9", b"ten records")  # and nothing is written
    with staged(output) as place, resumable(output, FACTS) as work:
        assert work.find("survey/0-9") == b"ten records"
        place.write_text("marked", encoding="utf-8")


def test_an_error_that_says_nothing_against_the_work_leaves_it(output: Path) -> None:
    def run() -> None:
        with resumable(output, FACTS, spared=(ConnectionError,)) as work:
            work.keep("answers/0", b"paid for")
            raise ConnectionError

    with pytest.raises(ConnectionError):
        run()
    with resumable(output, FACTS) as work:
        assert work.find("answers/0") == b"paid for"


def test_digests_alone_are_nothing_to_go_on_with(output: Path) -> None:
    def run() -> None:
        with resumable(output, FACTS) as work:
            work.below(DIGESTS).keep("input/0-9", b"ten digests")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run()
    assert list(output.parent.iterdir()) == []


def test_a_run_that_fails_leaves_nothing(output: Path) -> None:
    interrupt(output)
    with pytest.raises(CorpusError), resumable(output, FACTS):
        raise CorpusError("a.jsonl:3: not a JSON object")
    assert list(output.parent.iterdir()) == []


@pytest.mark.parametrize(
    ("facts", "told"),
    [
        ({**FACTS, "max_rate": 0.02}, r"max_rate was 0\.05 then, and is 0\.02 now"),
        (
            {**FACTS, "input": {"a.jsonl": [812, 1764], "b.jsonl": [7, 8]}},
            r"a\.jsonl was another file then",
        ),
        ({**FACTS, "input": {"a.jsonl": [812, 1763]}}, r"b\.jsonl was another file then"),
        ({**FACTS, "tau": 0.1}, r"tau was none then, and is 0\.1 now"),
    ],
)
def test_another_run_is_refused_by_what_differs(
    output: Path, facts: dict[str, Any], told: str
) -> None:
    interrupt(output)
    with pytest.raises(UsageError, match=told) as raised, resumable(output, facts):
        raise AssertionError("begun")
    assert str(work_folder(output)) in str(raised.value)
    with resumable(output, FACTS) as work:  # nothing was lost by it
        assert work.find("survey/0-9") == b"ten records"


@pytest.mark.parametrize("damage", [b"", b"short", b"x" * 60])
def test_a_damaged_part_is_none(output: Path, damage: bytes) -> None:
    interrupt(output)
    (work_folder(output) / "survey" / "0-9").write_bytes(damage)
    with resumable(output, FACTS) as work:
        assert work.find("survey/0-9") is None


def test_a_folder_that_does_not_say_what_it_is_about_is_begun_anew(output: Path) -> None:
    interrupt(output)
    (work_folder(output) / "facts.json").write_bytes(b'{"max_ra')
    with resumable(output, FACTS) as work:
        assert work.find("survey/0-9") is None


@pytest.mark.skipif(os.name == "nt", reason="there are no such modes")
def test_nobody_else_can_read_the_parts(output: Path) -> None:
    interrupt(output)
    assert work_folder(output).stat().st_mode & 0o077 == 0


def test_a_link_in_its_place_is_refused(output: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    work_folder(output).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageError, match="is not yours"), resumable(output, FACTS):
        raise AssertionError("begun")
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_folder_that_no_run_has_made_is_left_alone(output: Path) -> None:
    folder = work_folder(output)
    folder.mkdir()
    (folder / "letter.txt").write_text("to somebody")
    with pytest.raises(UsageError, match="no run has made it"), resumable(output, {}):
        raise AssertionError("begun")
    forget(output)
    assert (folder / "letter.txt").read_text() == "to somebody"


def test_results_are_kept_as_they_were(tmp_path: Path) -> None:
    def pack(numbers: list[int]) -> bytes:
        return bytes(numbers)

    kept = Kept(Work(tmp_path), "squares", pack, list)
    assert not kept.has("a")
    kept.keep("a", [1, 4, 9])
    assert kept.has("a")
    assert kept.find("a") == [1, 4, 9]
    assert kept.find("b") is None


def kill(folder: Path, *words: str) -> dict[str, dict[str, int]]:
    """In a process of its own, which has one thread and forks: see tests/killing_anywhere.py."""
    command = [sys.executable, "-m", "tests.killing", "anywhere", str(folder), *words]
    root = Path(__file__).parents[1]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=root)
    assert done.returncode == 0, done.stdout + done.stderr
    seen: dict[str, dict[str, int]] = json.loads(done.stdout)
    return seen


def test_commands_that_are_killed_anywhere_go_on_to_the_same_bytes(tmp_path: Path) -> None:
    seen = kill(tmp_path, "1", "14")  # seven commands, each before a change and before a task
    assert seen["all"]["kills"] == 14
    assert seen["all"]["parts to go on from"] > 6
    assert seen["all"]["tasks begun twice"] <= 14


def test_workers_that_are_killed_anywhere_leave_what_they_did(tmp_path: Path) -> None:
    seen = kill(tmp_path, "2", "3", "attack")
    assert seen["attack"]["by time"] == 1
