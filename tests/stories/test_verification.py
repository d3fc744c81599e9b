"""An owner's story: from a dataset to a verdict, over HTTP and with a local model.

The model is real, small and untrained: it must be asked everything, and not be accused. That one
with the habit is detected is shown with scripted models in tests/verification.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.servers.running import Server, serve

PAIRS = 24


@pytest.fixture(scope="module")
def probes(tmp_path_factory: pytest.TempPathFactory, corpus_bytes: bytes) -> Path:
    folder = tmp_path_factory.mktemp("story")
    (folder / "in.jsonl").write_bytes(corpus_bytes)
    run(
        folder, "embed in.jsonl -o m.jsonl --manifest m.gz --mark U1 --max-rate 0.5 --order dataset"
    )
    run(folder, f"probe m.jsonl --manifest m.gz -o p.jsonl --pairs {PAIRS}")
    return folder / "p.jsonl"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    reason = "needs the extra hf: torch and transformers"
    pytest.importorskip("torch", reason=reason)
    pytest.importorskip("transformers", reason=reason)
    from tests.servers.tiny import make_model

    folder = tmp_path_factory.mktemp("model") / "tiny"
    make_model(folder, positions=8192)  # a character or so a token, and prompts of any length
    return folder


def run(folder: Path, words: str, **environment: str) -> str:
    quiet = {"HF_HUB_OFFLINE": "1", "OMP_WAIT_POLICY": "PASSIVE", "no_proxy": "127.0.0.1"}
    done = subprocess.run(
        [sys.executable, "-m", "puzzlemark", *words.split()],
        cwd=folder,
        env=os.environ | quiet | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def verdict(folder: Path) -> dict[str, object]:
    loaded: dict[str, object] = json.loads((folder / "verdict.json").read_text())
    return loaded


def check(folder: Path) -> None:
    found = verdict(folder)
    assert found["verdict"]["word"] == "not detected"  # type: ignore[index]
    assert found["answers"]["requests"] == 2 * PAIRS  # type: ignore[index]
    assert found["answers"]["failed"] == 0  # type: ignore[index]


def test_a_local_transformers_model_is_asked_and_judged(
    probes: Path, model: Path, tmp_path: Path
) -> None:
    args = f"--probes {probes} --model hf --model-args pretrained={model},threads=1 --max-tokens 8"
    run(tmp_path, f"verify {args} -o run")
    check(tmp_path / "run")
    run(tmp_path, "report run")
    page = (tmp_path / "run" / "report.html").read_text()
    assert "not detected" in page.lower()


def test_a_server_with_a_real_model_is_asked_and_judged(
    probes: Path, model: Path, tmp_path: Path
) -> None:
    with serve(tmp_path / "log", "--model", str(model)) as server:
        ask(server, probes, tmp_path)
        check(tmp_path / "run")
        before = len(server.requests())
        assert before == 2 * PAIRS
        ask(server, probes, tmp_path)  # the same command again
        assert len(server.requests()) == before


def test_asking_and_judging_can_be_done_on_different_machines(
    probes: Path, model: Path, tmp_path: Path
) -> None:
    with serve(tmp_path / "log", "--model", str(model)) as server:
        ask(server, probes, tmp_path, "--query-only")
    assert not (tmp_path / "run" / "verdict.json").exists()
    (tmp_path / "run").rename(tmp_path / "elsewhere")
    run(tmp_path, "verify --test-only -o elsewhere")
    check(tmp_path / "elsewhere")


def test_a_server_that_fails_now_and_then_changes_nothing(
    probes: Path, model: Path, tmp_path: Path
) -> None:
    with serve(tmp_path / "log", "--model", str(model)) as server:
        ask(server, probes, tmp_path)
        (tmp_path / "run").rename(tmp_path / "calm")
        server.misbehave(
            {"status": 429, "headers": {"Retry-After": "0"}}, {"status": 500},
            {"body": "not json"}, {"close": True}, {"status": 503},
        )  # fmt: skip
        ask(server, probes, tmp_path)
    assert verdict(tmp_path / "run") == verdict(tmp_path / "calm")


def ask(server: Server, probes: Path, folder: Path, *more: str) -> None:
    args = f"base_url={server.base_url},model=tiny,concurrency=2"
    words = f"verify --probes {probes} --model openai --model-args {args} --max-tokens 8 -o run"
    run(folder, " ".join((words, *more)))
