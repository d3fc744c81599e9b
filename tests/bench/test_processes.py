import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from puzzlemark.bench.processes import side_by_side

PATIENCE = 120.0  # seconds; a busy machine is slow, and a process that stays, stays for ten minutes

PARENT = """
import sys
from tests.bench.test_processes import sleep_long
from puzzlemark.bench.processes import side_by_side

if __name__ == "__main__":
    list(side_by_side(sleep_long, [sys.argv[1]], 1))
"""


def half(number: int) -> float:
    return number / 2


def refuse(number: int) -> float:
    raise ValueError(f"not {number}")


def refuse_the_first(note: Path) -> None:
    if note.name == "0":
        raise ValueError("not this one")
    time.sleep(0.5)  # so that some are still waiting when the failure is known
    note.touch()


def sleep_long(note: str) -> None:
    Path(note).write_text(str(os.getpid()))
    time.sleep(600)


def test_every_job_comes_back_with_its_result() -> None:
    assert dict(side_by_side(half, [1, 2, 3], 2)) == {1: 0.5, 2: 1.0, 3: 1.5}


def test_what_a_job_raises_is_raised_here() -> None:
    with pytest.raises(ValueError, match="not 7"):
        list(side_by_side(refuse, [7], 1))


def test_after_a_failure_no_further_job_is_begun(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not this one"):
        list(side_by_side(refuse_the_first, [tmp_path / str(n) for n in range(20)], 1))
    assert len(list(tmp_path.iterdir())) < 19


def test_a_job_does_not_outlive_a_killed_command(tmp_path: Path) -> None:
    if not Path("/proc").exists():
        pytest.skip("processes are looked up in /proc")
    note, program = tmp_path / "pid", tmp_path / "parent.py"
    program.write_text(PARENT)
    root = Path(__file__).parents[2]
    env = os.environ | {"PYTHONPATH": f"{root}:{os.environ.get('PYTHONPATH', '')}"}
    parent = subprocess.Popen([sys.executable, str(program), str(note)], cwd=root, env=env)
    _wait(lambda: note.exists() and note.read_text() != "")
    child = int(note.read_text())
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    _wait(lambda: not _is_running(child))


def _wait(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.1)


def _is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"
