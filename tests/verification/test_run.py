"""Whole runs: the right verdict about each kind of model, stopped, resumed and checked again."""

import json
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import puzzlemark as pm
from puzzlemark.errors import PuzzleMarkError, UsageError
from puzzlemark.models.base import Answer, BudgetEnded, Failure, Model, Request
from puzzlemark.models.scripted import Scripted, innocent
from puzzlemark.verification.probes import ProbeSet, save_probes
from puzzlemark.verification.run import (
    RunError,
    Terms,
    dry_run,
    judge,
    load_run,
    query,
    questions_of,
    terms_for,
)


def learnt(name: str) -> Model:
    prefix = {"prefix": "name"} if name == "fixed" else {}
    return pm.open_model("scripted", {"habit": "learnt", **prefix})


def word(run: pm.Run) -> str:
    found: str = run.verdict["verdict"]["word"]
    return found


@pytest.mark.parametrize("mode", ["default", "paper", "sequential"])
@pytest.mark.parametrize("name", ["fixed", "universal"])
def test_a_learnt_habit_is_detected(
    probe_sets: dict[str, ProbeSet], tmp_path: Path, name: str, mode: str
) -> None:
    terms = terms_for(paper=mode == "paper", sequential=mode == "sequential")
    run = pm.verify(probe_sets[name], learnt(name), tmp_path / "run", terms)
    assert word(run) == "detected"


@pytest.mark.parametrize("name", ["fixed", "universal"])
@pytest.mark.parametrize(
    "habit", [{"habit": "innocent"}, {"habit": "composes_sometimes", "rate": "0.01"}]
)
def test_an_innocent_model_is_not_detected(
    probe_sets: dict[str, ProbeSet], tmp_path: Path, name: str, habit: dict[str, str]
) -> None:
    run = pm.verify(probe_sets[name], pm.open_model("scripted", habit), tmp_path / "run")
    assert word(run) == "not detected"


def test_a_model_that_composes_often_is_not_detected_by_the_fair_test(
    probe_sets: dict[str, ProbeSet], tmp_path: Path
) -> None:
    """It hits a third of the time, with the trigger and with the placebo."""
    model = pm.open_model("scripted", {"habit": "composes_sometimes", "rate": "0.33"})
    fair = pm.verify(probe_sets["fixed"], model, tmp_path / "fair")
    assert word(fair) == "not detected"
    paper = pm.verify(probe_sets["fixed"], model, tmp_path / "paper", terms_for(paper=True))
    assert word(paper) == "detected"  # which is why the fair test is the default


def test_sequential_mode_asks_no_more_than_it_needs(
    probe_sets: dict[str, ProbeSet], tmp_path: Path
) -> None:
    run = pm.verify(
        probe_sets["fixed"], learnt("fixed"), tmp_path / "run", terms_for(sequential=True)
    )
    assert run.verdict["answers"]["requests"] <= 40


def test_the_verdict_can_be_computed_again_from_the_folder(
    probe_sets: dict[str, ProbeSet], tmp_path: Path
) -> None:
    run = pm.verify(probe_sets["fixed"], learnt("fixed"), tmp_path / "run")
    before = (tmp_path / "run" / "verdict.json").read_bytes()
    (tmp_path / "run" / "verdict.json").unlink()
    assert judge(tmp_path / "run").verdict == run.verdict
    assert (tmp_path / "run" / "verdict.json").read_bytes() == before
    assert load_run(tmp_path / "run").verdict == run.verdict


@pytest.mark.parametrize("name", ["verdict.json", "transcript.jsonl", "probes.jsonl"])
def test_a_folder_that_was_tampered_with_is_refused(
    probe_sets: dict[str, ProbeSet], tmp_path: Path, name: str
) -> None:
    folder = tmp_path / "run"
    pm.verify(probe_sets["fixed"], pm.open_model("scripted", {"habit": "innocent"}), folder)
    text = (folder / name).read_text()
    changed = {
        "verdict.json": text.replace('"word": "not detected"', '"word": "detected"'),
        "transcript.jsonl": text.replace("result = None", "name_unknown_token = None", 30),
        "probes.jsonl": text.replace("unknown_token", "unknown_tok3n", 1),
    }[name]
    assert changed != text
    (folder / name).write_text(changed)
    with pytest.raises(PuzzleMarkError):
        load_run(folder)


def test_what_shows_the_trigger_is_for_the_owner_only(
    probe_sets: dict[str, ProbeSet], tmp_path: Path
) -> None:
    pm.verify(probe_sets["fixed"], learnt("fixed"), tmp_path / "run")
    for name in ("probes.jsonl", "transcript.jsonl"):
        assert stat.S_IMODE((tmp_path / "run" / name).stat().st_mode) == 0o600


def test_control_and_placebo_share_a_question(probe_sets: dict[str, ProbeSet]) -> None:
    for requests in questions_of(probe_sets["fixed"], Terms()):
        assert requests["control"].key == requests["placebo"].key != requests["armed"].key


def test_every_question_has_its_own_seed(probe_sets: dict[str, ProbeSet]) -> None:
    questions = questions_of(probe_sets["universal"], Terms())
    seeds = [request.seed for requests in questions for request in requests.values()]
    assert len(set(seeds)) == len(seeds)


def failing(share: float) -> Callable[[Request], Answer]:
    def answer(request: Request) -> Answer:
        return Failure("500") if request.seed % 1000 < 1000 * share else innocent(request)

    return answer


def test_failed_requests_are_counted_and_never_scored_as_misses(
    probe_sets: dict[str, ProbeSet], tmp_path: Path
) -> None:
    run = pm.verify(probe_sets["universal"], Scripted("flaky", failing(0.03)), tmp_path / "run")
    (comparison,) = run.verdict["verdict"]["comparisons"]
    failed = run.verdict["answers"]["failed"]
    assert 0 < failed < 20
    assert comparison["neither"] + comparison["failed"] == 100
    assert 0 < comparison["failed"] <= failed
    assert word(run) == "not detected"


def test_too_many_failures_are_inconclusive_and_asked_again(
    probe_sets: dict[str, ProbeSet], tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    run = pm.verify(probe_sets["universal"], Scripted("m", failing(0.5)), folder)
    assert word(run) == "inconclusive"
    assert (
        word(pm.verify(probe_sets["universal"], Scripted("m", failing(0)), folder))
        == "not detected"
    )


def test_a_spent_budget_is_inconclusive_and_the_run_goes_on_later(
    probe_sets: dict[str, ProbeSet], tmp_path: Path
) -> None:
    left = 50

    def spend(request: Request) -> Answer:
        nonlocal left
        if left == 0:
            raise BudgetEnded("50 requests are spent")
        left -= 1
        return innocent(request)

    model = Scripted("m", spend, batch_size=10)
    run = pm.verify(probe_sets["universal"], model, tmp_path / "run")
    assert word(run) == "inconclusive"
    assert run.verdict["answers"]["requests"] == 50
    left = 1000
    assert word(pm.verify(probe_sets["universal"], model, tmp_path / "run")) == "not detected"
    assert left == 1000 - 150


def test_other_settings_or_probes_are_another_run(
    probe_sets: dict[str, ProbeSet], tmp_path: Path
) -> None:
    model = pm.open_model("scripted", {"habit": "innocent"})
    pm.verify(probe_sets["fixed"], model, tmp_path / "run")
    with pytest.raises(PuzzleMarkError, match="another run"):
        pm.verify(probe_sets["fixed"], model, tmp_path / "run", terms_for(temperature=0.7))
    with pytest.raises(RunError, match="other probes"):
        pm.verify(probe_sets["universal"], model, tmp_path / "run")


def test_a_dry_run_counts_and_asks_nothing(probe_sets: dict[str, ProbeSet], tmp_path: Path) -> None:
    assert dry_run(probe_sets["fixed"], tmp_path / "run").calls == 200
    assert not (tmp_path / "run").exists()
    query(probe_sets["fixed"], learnt("fixed"), tmp_path / "run")
    assert dry_run(probe_sets["fixed"], tmp_path / "run").calls == 0
    assert not (tmp_path / "run" / "verdict.json").exists()


def test_the_papers_setting_is_what_the_paper_says() -> None:
    assert terms_for(paper=True) == Terms("paper", 0.05, 1.0, 24, 0)
    with pytest.raises(UsageError, match="temperature"):
        terms_for(paper=True, temperature=0.2)
    with pytest.raises(UsageError, match="sequential"):
        terms_for(paper=True, sequential=True)


SLOW = """
import os, time
from puzzlemark.models.scripted import learnt

def complete(request):
    with open(os.environ["CALLS"], "a") as calls:
        calls.write(request.key + "\\n")
    time.sleep(0.004)
    return learnt(request, prefix="name")
"""


@pytest.mark.parametrize("mode", [[], ["--sequential", "--alpha", "1e-25"]])
def test_a_run_that_is_killed_and_resumed_ends_like_an_undisturbed_one(
    probe_sets: dict[str, ProbeSet], tmp_path: Path, mode: list[str]
) -> None:
    (tmp_path / "slow_model.py").write_text(SLOW)
    save_probes(probe_sets["fixed"], tmp_path / "p.jsonl")
    command = [sys.executable, "-m", "puzzlemark", "verify", "--probes", "p.jsonl", *mode]
    command += ["--model", "scripted", "--model-args", "function=slow_model:complete"]

    def start(folder: str) -> "subprocess.Popen[bytes]":
        calls = str(tmp_path / f"{folder}.calls")
        env = {**os.environ, "PYTHONPATH": str(tmp_path), "CALLS": calls}
        return subprocess.Popen(
            [*command, "-o", folder], cwd=tmp_path, env=env, stdout=subprocess.DEVNULL
        )

    assert start("whole").wait(timeout=120) == 0
    for _ in range(3):
        process = start("broken")
        answered = transcript_lines(tmp_path / "broken")
        deadline = time.monotonic() + 60
        while transcript_lines(tmp_path / "broken") == answered and process.poll() is None:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.wait()
    with (tmp_path / "broken" / "transcript.jsonl").open("ab") as file:
        file.write(b'{"key":"cut off in the mid')  # as if the machine had lost power
    assert start("broken").wait(timeout=120) == 0
    verdicts = [(tmp_path / f / "verdict.json").read_bytes() for f in ("whole", "broken")]
    assert verdicts[0] == verdicts[1]
    assert json.loads(verdicts[0])["verdict"]["word"] == "detected"
    kept = answered_keys(tmp_path / "broken")
    assert len(kept) == len(set(kept))


def transcript_lines(folder: Path) -> int:
    path = folder / "transcript.jsonl"
    return path.read_bytes().count(b"\n") if path.exists() else 0


def answered_keys(folder: Path) -> list[str]:
    lines = (folder / "transcript.jsonl").read_text().splitlines()[1:]
    return [json.loads(line)["key"] for line in lines]
