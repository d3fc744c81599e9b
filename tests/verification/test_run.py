"""Whole runs: the right verdict about each kind of model, stopped, resumed and checked again."""

import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

import puzzlemark as pm
from puzzlemark.errors import PuzzleMarkError, UsageError
from puzzlemark.models.base import Answer, BudgetEnded, Failure, Model, Request
from puzzlemark.models.scripted import Scripted, innocent
from puzzlemark.models.scripted import learnt as habit
from puzzlemark.verification.probes import ProbeSet, save_probes
from puzzlemark.verification.questions import outcome_of, questions_of
from puzzlemark.verification.run import (
    RunError,
    dry_run,
    judge,
    load_run,
    query,
)
from puzzlemark.verification.terms import Terms, read_terms, terms_for
from puzzlemark.verification.tests.base import Outcome
from puzzlemark.watermarks.base import Sampling


def learnt(name: str) -> Model:
    prefix = {"prefix": "name"} if name == "fixed" else {}
    return pm.open_model("scripted", {"habit": "learnt", **prefix})


def word(run: pm.Run) -> str:
    return run.verdict.word


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
    assert run.answers.requests <= 40


def test_the_verdict_can_be_computed_again_from_the_folder(
    probe_sets: dict[str, ProbeSet], tmp_path: Path
) -> None:
    run = pm.verify(probe_sets["fixed"], learnt("fixed"), tmp_path / "run")
    before = (tmp_path / "run" / "verdict.json").read_bytes()
    (tmp_path / "run" / "verdict.json").unlink()
    assert judge(tmp_path / "run") == run
    assert (tmp_path / "run" / "verdict.json").read_bytes() == before
    assert load_run(tmp_path / "run") == run


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
        "probes.jsonl": text.replace('"prompt":"def ', '"prompt":"def x', 1),
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


def test_answers_that_are_deleted_and_asked_again_are_refused(
    probe_sets: dict[str, ProbeSet], tmp_path: Path
) -> None:
    """An owner who likes 24 hits better than 5: away with the armed misses, and once more."""
    folder, probes = tmp_path / "run", probe_sets["fixed"]
    pm.verify(probes, Scripted("m", innocent), folder)
    path = folder / "transcript.jsonl"
    armed = {questions["armed"][0].key for questions in questions_of(probes, Terms())}
    lines = path.read_bytes().splitlines(keepends=True)
    kept = [line for line in lines if json.loads(line).get("key") not in armed]
    assert len(kept) == len(lines) - len(armed)
    path.write_bytes(b"".join(kept))
    with pytest.raises(PuzzleMarkError, match="does not follow from the lines before it"):
        pm.verify(probes, learnt("fixed"), folder)


def test_alpha_cannot_be_changed_after_the_answers(
    probe_sets: dict[str, ProbeSet], tmp_path: Path
) -> None:
    folder, model = tmp_path / "run", Scripted("m", innocent)
    pm.verify(probe_sets["fixed"], model, folder)
    with pytest.raises(PuzzleMarkError, match=r"settings\.alpha was 0\.05, is 0\.5"):
        pm.verify(probe_sets["fixed"], model, folder, terms_for(alpha=0.5))
    path = folder / "transcript.jsonl"
    path.write_text(path.read_text().replace('"alpha":0.05', '"alpha":0.5'))
    with pytest.raises(PuzzleMarkError, match="the file was changed afterwards"):
        judge(folder)


def test_the_ratio_that_is_tested_is_fixed_before_the_first_question(
    probe_sets: dict[str, ProbeSet], tmp_path: Path
) -> None:
    run = pm.verify(probe_sets["universal"], Scripted("m", innocent), tmp_path / "run")
    assert run.terms.ratio == run.to_json()["settings"]["ratio"] == 2.9
    with pytest.raises(PuzzleMarkError, match=r"settings\.ratio was 2\.9, is 1"):
        pm.verify(
            probe_sets["universal"], Scripted("m", innocent), tmp_path / "run", terms_for(ratio=1)
        )


@pytest.mark.parametrize("mode", ["default", "sequential"])
def test_the_arms_of_a_probe_are_not_asked_side_by_side(
    probe_sets: dict[str, ProbeSet], tmp_path: Path, mode: str
) -> None:
    asked: list[str] = []

    def watch(request: Request) -> Answer:
        asked.append(request.key)
        return innocent(request)

    terms = terms_for(sequential=mode == "sequential")
    pm.verify(probe_sets["fixed"], Scripted("m", watch), tmp_path / "run", terms)
    questions = questions_of(probe_sets["fixed"], terms)
    twins = [{r.key for (r,) in arms.values()} for arms in questions]
    together = sum({a, b} in twins for a, b in pairwise(asked))
    assert len(asked) == 200
    assert together < 25  # in the order of the file: 100
    again = tmp_path / "again"
    first, asked = asked, []
    pm.verify(probe_sets["fixed"], Scripted("m", watch), again, terms)
    assert asked == first  # the order is part of the run, not of the day


def test_ordinary_prompts_are_asked_among_the_others_and_never_judged(
    probe_sets: dict[str, ProbeSet], tmp_path: Path
) -> None:
    asked: list[str] = []

    def watch(request: Request) -> Answer:
        asked.append(request.prompt)
        return habit(request, prefix="name")

    ordinary = tuple(f"def ordinary_{n}(" for n in range(50))
    header = probe_sets["fixed"].header.model_copy(update={"ordinary": len(ordinary)})
    probes = replace(probe_sets["fixed"], header=header, ordinary=ordinary)
    run = pm.verify(probes, Scripted("m", watch), tmp_path / "run")
    assert set(ordinary) < set(asked)
    assert len(asked) == 250
    assert set(asked[:125]) & set(ordinary)
    assert set(asked[125:]) & set(ordinary)
    assert run.answers.requests == 200
    assert dry_run(probes, tmp_path / "other").calls == 250


def test_control_and_placebo_share_a_question(probe_sets: dict[str, ProbeSet]) -> None:
    for requests in questions_of(probe_sets["fixed"], Terms()):
        assert requests["control"] == requests["placebo"] != requests["armed"]


def test_every_question_has_its_own_seed(probe_sets: dict[str, ProbeSet]) -> None:
    questions = questions_of(probe_sets["universal"], Terms(samples=3))
    seeds = [r.seed for arms in questions for samples in arms.values() for r in samples]
    assert len(set(seeds)) == len(seeds) == 2 * 3 * len(questions)


def test_the_first_sample_is_the_one_that_is_asked_for_when_there_is_no_other(
    probe_sets: dict[str, ProbeSet],
) -> None:
    alone, several = (questions_of(probe_sets["fixed"], Terms(samples=k)) for k in (1, 4))
    for one, four in zip(alone, several, strict=True):
        assert {name: samples[:1] for name, samples in four.items()} == one
    assert "samples" not in Terms().to_json()  # bytes of earlier transcripts
    assert read_terms(Terms(samples=4).to_json()) == Terms(samples=4)


def test_an_outcome_has_all_samples_and_scores_the_first_that_was_answered(
    probe_sets: dict[str, ProbeSet],
) -> None:
    probe = probe_sets["fixed"].probes[0]
    (questions,) = questions_of(replace(probe_sets["fixed"], probes=(probe,)), Terms(samples=3))
    keys = [request.key for request in questions["armed"]]
    target = probe.armed.targets["hit"]
    answers: dict[str, Answer] = dict(
        zip(keys, (Failure("busy"), f"{target} = 1", "x"), strict=True)
    )
    outcome = outcome_of(probe, questions, answers)
    assert outcome.scores == {"armed": "hit"}
    assert outcome.samples == {"armed": ("hit", None)}
    assert outcome.sampled("armed") == ("hit", None)
    assert outcome.sampled("control") == ()
    del answers[keys[2]]  # never asked: the arm does not count before all of its samples do
    assert outcome_of(probe, questions, answers).scores == {}
    everything = dict.fromkeys(keys, Failure("busy"))
    assert outcome_of(probe, questions, everything) == Outcome({}, samples={})


def test_several_samples_are_asked_resumed_and_judged(
    probe_sets: dict[str, ProbeSet], tmp_path: Path
) -> None:
    asked: list[Request] = []

    def watch(request: Request) -> Answer:
        asked.append(request)
        if len(asked) == 250:
            raise KeyboardInterrupt
        return habit(request, prefix="name")

    probes, terms = probe_sets["fixed"], Terms(samples=3)
    assert dry_run(probes, tmp_path / "run", terms).calls == 600
    with pytest.raises(KeyboardInterrupt):
        pm.verify(probes, Scripted("m", watch), tmp_path / "run", terms)
    run = pm.verify(probes, Scripted("m", watch), tmp_path / "run", terms)
    assert run.answers.requests == 600
    assert {len(outcome.samples["armed"]) for outcome in run.outcomes} == {3}
    assert run.verdict.word == "detected"
    once = pm.verify(probes, Scripted("m", watch), tmp_path / "once", Terms())
    assert run.verdict.comparisons == once.verdict.comparisons
    assert pm.load_run(tmp_path / "run").verdict == run.verdict


def test_a_run_that_ended_among_the_samples_is_no_result(
    probe_sets: dict[str, ProbeSet], tmp_path: Path
) -> None:
    calls: list[Request] = []

    def ends(request: Request) -> Answer:
        calls.append(request)
        if len(calls) > 480:
            raise BudgetEnded("spent")
        return habit(request, prefix="name")

    model = Scripted("m", ends, batch_size=1)
    run = pm.verify(probe_sets["fixed"], model, tmp_path / "run", Terms(samples=3))
    assert run.verdict.word == "inconclusive"
    assert run.verdict.unasked > 0


def test_what_several_samples_must_be() -> None:
    with pytest.raises(UsageError, match="1 to 1,000, not 0"):
        Terms(samples=0)
    with pytest.raises(UsageError, match="all 2 samples of a prompt are the same"):
        Terms(samples=2, temperature=0)
    sampling = Sampling(temperature=0.7, max_tokens=6, samples=5)
    terms = terms_for(sampling=sampling)
    assert (terms.temperature, terms.max_tokens, terms.samples) == (0.7, 6, 5)
    terms = terms_for(sampling=sampling, samples=1, max_tokens=9, temperature=0.0)
    assert (terms.temperature, terms.max_tokens, terms.samples) == (0.0, 9, 1)


def failing(share: float) -> Callable[[Request], Answer]:
    def answer(request: Request) -> Answer:
        return Failure("500") if request.seed % 1000 < 1000 * share else innocent(request)

    return answer


def test_failed_requests_are_counted_and_never_scored_as_misses(
    probe_sets: dict[str, ProbeSet], tmp_path: Path
) -> None:
    run = pm.verify(probe_sets["universal"], Scripted("flaky", failing(0.03)), tmp_path / "run")
    (comparison,) = run.verdict.comparisons
    failed = run.answers.failed
    assert 0 < failed < 20
    assert comparison.neither + comparison.failed == 100
    assert 0 < comparison.failed <= failed
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
    assert run.answers.requests == 50
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
    assert terms_for(ratio=3).ratio == 3
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
        path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
        env = {**os.environ, "PYTHONPATH": path, "CALLS": calls}
        return subprocess.Popen(
            [*command, "-o", folder], cwd=tmp_path, env=env, stdout=subprocess.DEVNULL
        )

    assert start("whole").wait(timeout=120) == 0
    for _ in range(3):
        process = start("broken")
        answered = count_answers(tmp_path / "broken")
        deadline = time.monotonic() + 60
        while count_answers(tmp_path / "broken") == answered and process.poll() is None:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.wait()
    with (tmp_path / "broken" / "transcript.jsonl").open("ab") as file:
        file.write(b'{"key":"cut off in the mid')  # as if the machine had lost power
    assert start("broken").wait(timeout=120) == 0
    whole, broken = (
        json.loads((tmp_path / f / "verdict.json").read_bytes()) for f in ("whole", "broken")
    )
    assert whole["verdict"]["word"] == "detected"
    assert whole["answers"].pop("sittings") == [0]
    assert len(broken["answers"].pop("sittings")) == 4
    *caveats, sittings = broken["verdict"]["caveats"]
    assert "asked in 4 sittings" in sittings
    broken["verdict"]["caveats"] = caveats
    assert whole == broken
    kept = answered_keys(tmp_path / "broken")
    assert len(kept) == len(set(kept))


def count_answers(folder: Path) -> int:
    path = folder / "transcript.jsonl"
    return path.read_bytes().count(b'"completion":') if path.exists() else 0


def answered_keys(folder: Path) -> list[str]:
    lines = (folder / "transcript.jsonl").read_text().splitlines()[1:]
    return [fields["key"] for line in lines if "key" in (fields := json.loads(line))]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *((name, None) for name in ("probes", "settings", "model", "versions")),
        ("model", ["a"]),
        ("settings", {"alpha": "x"}),
        ("settings", {"alpha": None}),
        ("settings", {"ratio": [2.9]}),
        ("settings", {"ratio": True}),
        ("settings", {"mode": "kind"}),
        ("settings", {"temperature": "cold"}),
        ("settings", {"max_tokens": "many"}),
        ("settings", {"seed": {}}),
        ("settings", {"unknown": 1}),
        ("version", True),
    ],
)
def test_the_header_of_a_hostile_transcript_is_refused_in_words(
    innocent_run: Path, name: str, value: object
) -> None:
    path = innocent_run / "transcript.jsonl"
    header = {**json.loads(path.read_bytes().split(b"\n")[0]), name: value}
    path.write_text(json.dumps(header) + "\n")
    with pytest.raises(PuzzleMarkError):
        judge(innocent_run)


def test_the_run_that_is_damaged_here_is_a_sound_one(innocent_run: Path) -> None:
    assert word(judge(innocent_run)) == word(load_run(innocent_run)) == "not detected"


@pytest.fixture(scope="module")
def innocent_folder(
    probe_sets: dict[str, ProbeSet], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    folder = tmp_path_factory.mktemp("innocent") / "run"
    pm.verify(probe_sets["universal"], Scripted("m", innocent), folder)
    return folder


@pytest.fixture
def innocent_run(innocent_folder: Path, tmp_path: Path) -> Path:
    """A copy for each test that damages it."""
    return Path(shutil.copytree(innocent_folder, tmp_path / "run"))


@pytest.mark.parametrize("name", ["transcript.jsonl", "verdict.json"])
def test_deeply_nested_json_in_a_run_is_refused_in_words(innocent_run: Path, name: str) -> None:
    (innocent_run / name).write_text("[" * 100_000 + "\n")
    with pytest.raises(PuzzleMarkError):
        load_run(innocent_run)
