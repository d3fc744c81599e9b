"""A slow test is one that was measured to be slow."""

import os
import subprocess
import sys
from pathlib import Path

from tests import slowness

ROOT = Path(__file__).parent.parent
TESTS = """
import pytest

@pytest.fixture(scope="session")
def heavy(): ...

def test_light(): ...

@pytest.mark.parametrize("case", [1, 2])
def test_listed(case): ...

def test_that_needs_what_is_heavy(heavy): ...

@pytest.fixture
def browser(): ...

def test_that_opens_a_page(browser): ...
"""
OWN = """
from pathlib import Path
from tests import slowness
slowness.LIST = Path(__file__).parent / "slow.txt"
slowness.MEASURED = Path(__file__).parent / "times.json"
def pytest_configure(config):
    config.pluginmanager.register(slowness.Timing())
"""


def run(folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    environment = {name: v for name, v in os.environ.items() if not name.startswith("PYTEST_")}
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-c", "pytest.ini", *words],
        cwd=folder,
        env=environment | {"PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_list_decides_what_is_left_out_and_a_run_says_so(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(TESTS)
    (tmp_path / "conftest.py").write_text(OWN)
    (tmp_path / "slow.txt").write_text("# why\n 9.0  test_it.py::test_listed\n8  test_it.py::heavy")
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = slow\n torch\n browser\n data\n")
    fast = run(tmp_path, "-m", "not slow", "-v")
    assert "test_it.py::test_light PASSED" in fast.stdout, fast.stdout + fast.stderr
    assert "1 passed, 4 deselected" in fast.stdout
    assert "4 slow tests were left to `make test-slow`" in fast.stdout
    shared = run(tmp_path, "-m", "not slow", "-n", "2")
    assert "4 slow tests were left to `make test-slow`" in shared.stdout
    slow = run(tmp_path, "-m", "slow")
    assert "4 passed, 1 deselected" in slow.stdout
    assert "were left" not in slow.stdout


def test_cases_count_together_and_what_is_not_listed_is_named() -> None:
    times = {"t.py::a[1]": 3.0, "t.py::a[2]": 2.0, "t.py::b": 3.9, "t.py::known": 90.0}
    assert slowness.above_limit(times, {"t.py::known": 8.0}) == {"t.py::a": 5.0}


def test_the_list_is_renewed_from_what_was_measured() -> None:
    known = {"t.py::slower": 5.0, "t.py::mended": 9.0, "t.py::near": 4.1, "t.py::not_run": 7.0}
    times = {"t.py::slower": 6.0, "t.py::mended": 0.1, "t.py::near": 3.8, "t.py::new": 4.5}
    found = slowness.renewed(times | {"t.py::fast": 3.8}, known)
    assert found == {
        "t.py::slower": 6.0,
        "t.py::near": 3.8,
        "t.py::not_run": 7.0,
        "t.py::new": 4.5,
    }
    assert slowness.listed(slowness.write_list(found)) == found


def test_the_list_names_tests_and_fixtures_that_there_are() -> None:
    for name in slowness.listed(slowness.LIST.read_text(encoding="utf-8")):
        path, _, test = name.partition("::")
        home = ROOT / path
        source = home if home.is_file() else home / "conftest.py"
        assert f"def {test.split('::')[-1]}(" in source.read_text(encoding="utf-8"), name
