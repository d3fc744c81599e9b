"""Workers that run tests in parallel must find the same ones, whenever and wherever they look."""

import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent
SURROUNDINGS = (
    {"TZ": "UTC", "LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "1", "COLUMNS": "80"},
    {"TZ": "Asia/Kathmandu", "LC_ALL": "C", "PYTHONHASHSEED": "2", "COLUMNS": "200"},
)


def test_the_same_tests_are_found_at_another_time_and_place(tmp_path: Path) -> None:
    collections = []
    for number, surroundings in enumerate(SURROUNDINGS):
        home = tmp_path / str(number)
        home.mkdir()
        places = {"HOME": str(home), "TMPDIR": str(home), "PUZZLEMARK_DATA": str(home / "data")}
        collections.append(collecting(surroundings | places))
        time.sleep(1.1)  # a second is what a gzip header counts in
    first, second = (found.communicate()[0].splitlines() for found in collections)
    assert [found.returncode for found in collections] == [0, 0], (first[-20:], second[-20:])
    assert ids(first) == ids(second)
    assert len(ids(first)) > 3000


def collecting(surroundings: dict[str, str]) -> subprocess.Popen[str]:
    """`pytest --collect-only` without what the pytest around it has put into the environment."""
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")
    }
    return subprocess.Popen(
        [sys.executable, "-m", "pytest", "--collect-only", "-p", "no:cacheprovider"],
        cwd=ROOT,
        env=environment | surroundings,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
    )


def ids(lines: list[str]) -> list[str]:
    return [line for line in lines if line.startswith("tests/") and "::" in line]
