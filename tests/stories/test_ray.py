"""A dataset marked by a Ray cluster of three machines, one of which dies in the middle."""

import subprocess
import sys
from pathlib import Path

import orjson
import pytest

import puzzlemark as pm
from tests.stories.ray_cluster import KILLED

pytest.importorskip("ray")
pytestmark = pytest.mark.slow  # a cluster's processor time is told too late to be measured


@pytest.fixture
def shards(corpus_path: Path, tmp_path: Path) -> Path:
    """The corpus of the tests in six files."""
    folder = tmp_path / "shards"
    folder.mkdir()
    lines = corpus_path.read_bytes().splitlines(keepends=True)
    assert len(lines) > 300
    for number in range(6):
        (folder / f"part-{number}.jsonl").write_bytes(b"".join(lines[number::6]))
    return folder


def test_a_machine_that_dies_changes_no_byte(shards: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    here = pm.embed(shards, tmp_path / "here", tmp_path / "here.jsonl", secret_file=secret)
    there, marks = tmp_path / "there", tmp_path / "there.jsonl"
    # in a process of its own: Ray starts threads and processes, and keeps handlers of signals
    command = [sys.executable, "-m", "tests.stories.ray_cluster", shards, there, marks, secret]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert KILLED in done.stdout, "no machine was killed while the work went on"
    names = sorted(path.name for path in there.iterdir())
    assert names == sorted(path.name for path in (tmp_path / "here").iterdir())
    for name in names:
        assert (there / name).read_bytes() == (tmp_path / "here" / name).read_bytes(), name
    assert marks.read_bytes() == (tmp_path / "here.jsonl").read_bytes()
    assert orjson.loads(done.stdout.splitlines()[-1]) == here.marked > 0
