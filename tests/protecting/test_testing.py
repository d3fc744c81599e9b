import time
from collections.abc import Collection
from itertools import combinations
from pathlib import Path

import pytest

from puzzlemark.protecting.testing import Suite, sift

IDS = [f"m{number}" for number in range(13)]


@pytest.mark.parametrize(
    "bad", [{"m3"}, {"m0", "m12"}, {"m5", "m6", "m7"}, set(IDS), {"m12"}], ids=len
)
def test_halving_finds_just_the_marks_to_blame(bad: set[str]) -> None:
    asked: list[Collection[str]] = []

    def passes(ids: Collection[str]) -> bool:
        asked.append(ids)
        return bad.isdisjoint(ids)

    found = sift(IDS, passes)
    assert set(found.bad) == bad
    assert set(found.good) == set(IDS) - bad
    assert len(asked) <= 2 * len(bad) * 4 + 2


@pytest.mark.parametrize("pair", list(combinations(["m1", "m4", "m11"], 2)))
def test_of_two_that_fail_only_side_by_side_the_later_one_goes(pair: tuple[str, str]) -> None:
    found = sift(IDS, lambda ids: not set(pair) <= set(ids))
    assert found.bad == (pair[1],)
    assert set(found.good) == set(IDS) - {pair[1]}


def test_nothing_to_sift() -> None:
    assert sift([], lambda _: False).good == ()


def test_the_command_runs_in_its_folder_by_the_shell_and_is_logged(tmp_path: Path) -> None:
    tests = Suite('pwd && echo "$((1 + 1))" >&2 && exit $(cat code)', tmp_path / "log")
    (tmp_path / "code").write_text("0")
    assert tests.pass_in(tmp_path)
    (tmp_path / "code").write_text("4")
    assert not tests.pass_in(tmp_path)
    log = (tmp_path / "log").read_text()
    assert str(tmp_path.resolve()) in log
    assert "\n2\n" in log
    assert log.rstrip().endswith("== ended with 4")


def test_a_command_that_is_late_ends_with_all_that_it_started(tmp_path: Path) -> None:
    # late enough for a busy machine to have started the child
    tests = Suite("sleep 600 & echo $! > child; wait", tmp_path / "log", timeout=3)
    assert not tests.pass_in(tmp_path)
    child = int((tmp_path / "child").read_text())
    # it has been told to end; a busy machine takes a moment to do so
    for _ in range(600):
        if _has_ended(child):
            return
        time.sleep(0.05)
    pytest.fail("what the command had started still runs")


def _has_ended(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().split()[2] == "Z"
    except OSError:  # also between being opened and being read
        return True
