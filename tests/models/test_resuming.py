"""A run is killed in the middle and started again: the same answers, nothing asked twice."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from puzzlemark.models.base import Request, open_model
from puzzlemark.verification.transcript import read
from tests.servers.running import Server, serve

ROOT = Path(__file__).parent.parent.parent
COUNT = 60
REQUESTS = [Request(f"x{n} = {n}", 6, 0.5, n) for n in range(COUNT)]
PROGRAM = """
import json, sys
from pathlib import Path
from puzzlemark.models.base import open_model
from puzzlemark.verification.transcript import Header
from tests.verification.asking import ask
from tests.models.test_resuming import REQUESTS

model = open_model(sys.argv[1], json.loads(sys.argv[2]))
ask(model, REQUESTS, Path(sys.argv[3]), Header("", {}, model.describe(), {}))
"""


def start(kind: str, args: dict[str, str], path: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", PROGRAM, kind, json.dumps(args), str(path)]
    return subprocess.Popen(command, cwd=ROOT)


def run(kind: str, args: dict[str, str], path: Path) -> None:
    with start(kind, args, path) as process:
        assert process.wait() == 0


def kill_in_the_middle(kind: str, args: dict[str, str], path: Path, answers: int) -> set[str]:
    """Kill the run once it has written so many answers; return the keys of those it has."""
    with start(kind, args, path) as process:
        while not (path.exists() and path.read_bytes().count(b'"completion":') >= answers):
            assert process.poll() is None, "the run ended before it could be killed"
            time.sleep(0.002)
        process.kill()
    time.sleep(0.5)  # the server may still have to note what it was sent
    recorded = set(read(path).answers)
    assert len(recorded) < COUNT, "the run was over before it was killed"
    return recorded


@pytest.fixture
def slow_server(tmp_path: Path) -> Iterator[Server]:
    with serve(tmp_path / "requests.jsonl", "--delay", "0.03") as running:
        yield running


@pytest.mark.parametrize("concurrency", [1, 4])
def test_a_killed_run_over_http_resumes(
    slow_server: Server, tmp_path: Path, concurrency: int
) -> None:
    args = {"base_url": slow_server.base_url, "model": "m", "concurrency": str(concurrency)}
    path = tmp_path / "killed.jsonl"
    recorded: set[str] = set()
    in_flight = 0
    for answers in (1, 20, 40):
        before = len(slow_server.requests())
        now = kill_in_the_middle("openai", args, path, answers)
        assert recorded < now
        asked = slow_server.prompts()[before:]
        assert not {r.prompt for r in REQUESTS if r.key in recorded} & set(asked)
        in_flight += len(asked) - len(now - recorded)
        recorded = now
    before = len(slow_server.requests())
    run("openai", args, path)
    left = sorted(request.prompt for request in REQUESTS if request.key not in recorded)
    assert sorted(slow_server.prompts()[before:]) == left
    # what a killed process had sent and not yet been answered is all that was asked again
    assert 0 <= in_flight <= 3 * concurrency
    assert len(slow_server.requests()) == COUNT + in_flight

    run("openai", args, tmp_path / "undisturbed.jsonl")
    assert read(path).answers == read(tmp_path / "undisturbed.jsonl").answers
    assert set(read(path).answers) == {request.key for request in REQUESTS}


def test_a_run_over_http_with_faults_gives_the_answers_of_one_without(
    server: Server, tmp_path: Path
) -> None:
    args = {"base_url": server.base_url, "model": "m", "timeout": "2"}
    run("openai", args, tmp_path / "good.jsonl")
    busy = {"status": 429, "headers": {"Retry-After": "1"}}
    faults: list[dict[str, Any]] = [
        busy,
        {"status": 500},
        {"body": "{"},
        {"close": True},
        {"cut": True},
        {"sleep": 9},
    ]
    server.misbehave(*faults, *faults)
    run("openai", args, tmp_path / "bad.jsonl")
    assert read(tmp_path / "bad.jsonl").answers == read(tmp_path / "good.jsonl").answers
    assert len(server.requests()) == 2 * COUNT + len(faults) * 2


def test_a_killed_local_model_resumes_to_the_same_answers(tiny_model: Path, tmp_path: Path) -> None:
    args = {"pretrained": str(tiny_model), "batch_size": "1", "threads": "1"}
    path = tmp_path / "killed.jsonl"
    kill_in_the_middle("hf", args, path, 4)
    run("hf", args, path)
    run("hf", args, tmp_path / "undisturbed.jsonl")
    killed, undisturbed = read(path), read(tmp_path / "undisturbed.jsonl")
    assert list(killed.answers.items()) == list(undisturbed.answers.items())
    assert (len(killed.sittings), len(undisturbed.sittings)) == (2, 1)


def test_a_real_model_answers_the_same_over_http_and_in_process(
    tiny_model: Path, tmp_path: Path
) -> None:
    requests = [Request(f"for x{n} in", 8, 0.0, n) for n in range(12)]
    local = open_model("hf", {"pretrained": str(tiny_model), "threads": "1"})
    with serve(tmp_path / "log", "--model", str(tiny_model)) as real:
        remote = open_model("openai", {"base_url": real.base_url, "model": "tiny"})
        real.misbehave({"status": 500}, {"close": True})
        assert remote.complete(requests) == local.complete(requests)
        assert len(real.requests()) == 14


def test_a_killed_run_against_a_served_real_model_resumes(tiny_model: Path, tmp_path: Path) -> None:
    with serve(tmp_path / "log", "--model", str(tiny_model)) as real:
        args = {"base_url": real.base_url, "model": "tiny", "concurrency": "2"}
        path = tmp_path / "killed.jsonl"
        recorded = kill_in_the_middle("openai", args, path, 5)
        before = len(real.requests())
        run("openai", args, path)
        left = sorted(request.prompt for request in REQUESTS if request.key not in recorded)
        assert sorted(real.prompts()[before:]) == left
        run("openai", args, tmp_path / "undisturbed.jsonl")
        assert read(path).answers == read(tmp_path / "undisturbed.jsonl").answers
