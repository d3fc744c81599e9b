"""The engine `ray` beyond the contract: workers that die, clusters that are not there."""

import subprocess
import sys
from pathlib import Path

import pytest

from puzzlemark.corpora.base import open_corpus
from puzzlemark.corpora.writing import ATTEMPT
from puzzlemark.engines.base import make
from puzzlemark.errors import PuzzleMarkError, UsageError
from tests.engines.poison import die_of_seven
from tests.engines.test_contract import double

pytest.importorskip("ray")
pytestmark = pytest.mark.slow  # a cluster's processor time is told too late to be measured


def test_the_one_record_that_ends_a_worker_is_named() -> None:
    engine = make(2, "ray:retries=0")
    batches = [[1, 2, 3], [77, 7, 8], [9, 10]]
    with pytest.raises(PuzzleMarkError, match=r"^7: the worker process that reads this dies"):
        list(engine.map(die_of_seven, batches))
    engine.close()


def test_a_cluster_that_is_not_there_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:1")
    with pytest.raises(PuzzleMarkError, match=r"cannot reach the cluster at RAY_ADDRESS"):
        make(2, "ray")


def test_a_cluster_that_runs_here_already_is_left_alone() -> None:
    """Of somebody else's `ray start`, say; Ray by itself would join it."""
    code = (
        "from ray.cluster_utils import Cluster\n"
        "cluster = Cluster(initialize_head=True, head_node_args={'num_cpus': 1})\n"
        "print('up', flush=True)\n"
        "input()\n"
        "cluster.shutdown()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as other:
        assert other.stdout is not None
        assert "up\n" in iter(other.stdout.readline, "")
        try:
            engine = make(2, "ray")
            assert list(engine.map(double, [1, 2])) == [2, 4]
            engine.close()
        finally:
            other.communicate("\n")


def test_a_task_needs_some_part_of_a_core() -> None:
    with pytest.raises(UsageError, match="cpus must be above 0"):
        make(2, "ray:cpus=0")


def test_what_a_dead_worker_left_is_not_published(tmp_path: Path) -> None:
    folder = tmp_path / "shards"
    folder.mkdir()
    for number in range(2):
        (folder / f"{number}.jsonl").write_text(
            '{"code": "a = 1", "language": "python"}\n', encoding="utf-8"
        )
    place = tmp_path / "out"
    left = place / f"{ATTEMPT}dead"
    left.mkdir(parents=True)
    (left / "0.jsonl").write_text("half a line", encoding="utf-8")
    open_corpus(folder).write(place, engine=make(1))
    assert sorted(path.name for path in place.iterdir()) == ["0.jsonl", "1.jsonl"]


def test_errors_with_tasks_in_flight_do_not_end_the_program() -> None:
    """Tasks that were cancelled while their results were on the way did, now and then."""
    code = (
        "from puzzlemark.engines.base import make\n"
        "from tests.engines.test_contract import double, fail_on_seven\n"
        "from puzzlemark.errors import CorpusError\n"
        "engine = make(2, 'ray')\n"
        "for _ in range(300):\n"
        "    try:\n"
        "        list(engine.map(fail_on_seven, range(20)))\n"
        "    except CorpusError:\n"
        "        pass\n"
        "print(list(engine.map(double, [1, 2])))\n"
        "engine.close()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.splitlines()[-1] == "[2, 4]"
