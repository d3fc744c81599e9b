"""Whole runs that ask for log-probabilities: judged, resumed, tampered with, and replayed."""

import json
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import puzzlemark as pm
from benchmarks.keyed_false_alarms import ALPHAS, accuse, is_above, real_bets
from puzzlemark.cli.__main__ import application
from puzzlemark.errors import UsageError
from puzzlemark.models.base import BudgetEnded, ChoiceRequest, Failure, LogProbs, ModelError
from puzzlemark.models.scripted import Scripted, ScriptedScores
from puzzlemark.pages.report import report_page
from puzzlemark.statistics.evalues import gather
from puzzlemark.verification import wording
from puzzlemark.verification.probes import save_probes
from puzzlemark.verification.report import build
from puzzlemark.verification.run import Run, RunError, dry_run, judge, load_run, query, verify
from puzzlemark.verification.terms import Terms, terms_for
from puzzlemark.verification.transcript import TranscriptError
from puzzlemark.watermarks.base import designs
from tests.verification.drawn_names import (
    KEY,
    SECRET,
    known_names,
    knows,
    probe_set,
    says_nothing,
    scoring,
)

CARRIERS = 40
PROBES = probe_set(CARRIERS)
KNOWN = known_names(PROBES)
FEW = sorted(KNOWN)[:5]
DESIGN = PROBES.design
TERMS = terms_for(logprobs=True, samples=1, sampling=DESIGN.sampling, usual_alpha=DESIGN.alpha)
TRAINED, INNOCENT = scoring("trained", knows(KNOWN)), scoring("innocent", knows({}))


def run(model: ScriptedScores, folder: Path, **more: object) -> Run:
    return verify(PROBES, model, folder, TERMS, secret=SECRET, **more)  # type: ignore[arg-type]


def lines_of(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def log10_e(found: Run) -> float:
    return float(found.verdict.decisive[0].statistic["log10_e"] or 0)


def test_a_model_that_knows_the_names_is_shown_and_one_that_does_not_is_not(
    tmp_path: Path,
) -> None:
    trained, innocent = run(TRAINED, tmp_path / "trained"), run(INNOCENT, tmp_path / "innocent")
    assert trained.verdict.word == "detected"
    assert innocent.verdict.word == "not detected"
    assert log10_e(trained) > 6 > 1 > log10_e(innocent)
    (decisive,) = trained.verdict.decisive
    assert decisive.test == "codebook logprobs"
    # what a sentence counts is what was counted: no completion chose a name
    assert f"{CARRIERS} of {CARRIERS} scores favoured most" in trained.verdict.sentence
    assert "completions" not in trained.verdict.sentence
    page = report_page(build(trained))
    assert "The dot is the share of scores that favoured most" in page
    assert "Log-probabilities and the key" in page
    # the answers themselves held no name: the labels beside show nothing
    labels = next(each for each in trained.verdict.beside if each.test == "codebook")
    assert labels.statistic["answers"] == 0
    assert trained.answers.requests == 2 * CARRIERS  # a completion and a question of each prompt
    assert load_run(tmp_path / "trained", secret=SECRET).verdict == trained.verdict


def test_every_name_of_the_set_is_asked_about_and_what_was_drawn_is_not_told(
    tmp_path: Path,
) -> None:
    asked: list[ChoiceRequest] = []

    def score(request: ChoiceRequest) -> LogProbs:
        asked.append(request)
        return LogProbs((-1.0,) * len(request.names))

    query(PROBES, scoring("m", score), tmp_path / "run", TERMS)
    assert {each.names for each in asked} == {("val", "value", "v")}
    assert sorted(each.prompt for each in asked) == sorted(KNOWN)


def test_a_model_without_log_probabilities_is_refused_before_the_first_question(
    tmp_path: Path,
) -> None:
    for model, reference in ((Scripted("m", says_nothing), None), (TRAINED, Scripted("r", str))):
        with pytest.raises(UsageError, match="tells no log-probabilities; leave out --logprobs"):
            query(PROBES, model, tmp_path / "run", TERMS, reference=reference)
    assert not (tmp_path / "run").exists()


def test_a_server_that_refuses_is_found_out_before_any_completion(tmp_path: Path) -> None:
    def refuse(_request: ChoiceRequest) -> LogProbs:
        raise ModelError("a chat cannot be asked how it would go on")

    with pytest.raises(ModelError, match="a chat cannot"):
        query(PROBES, scoring("chat", refuse), tmp_path / "run", TERMS)
    assert not any("completion" in line for line in lines_of(tmp_path / "run" / "transcript.jsonl"))


@dataclass
class Stops:
    """Scores so many questions, then the budget is spent."""

    left: int
    asked: int = 0

    def __call__(self, request: ChoiceRequest) -> LogProbs:
        if self.asked >= self.left:
            raise BudgetEnded("no more", {})
        self.asked += 1
        return knows(KNOWN)(request)


def test_a_run_that_was_cut_resumes_and_asks_nothing_twice(tmp_path: Path) -> None:
    whole = run(TRAINED, tmp_path / "whole")
    first = replace(scoring("trained", Stops(15)), batch_size=5)
    query(PROBES, first, tmp_path / "cut", TERMS)
    answered = [line for line in lines_of(tmp_path / "cut" / "transcript.jsonl") if "key" in line]
    assert sum("logprobs" in line for line in answered) == 15
    assert judge(tmp_path / "cut", secret=SECRET).verdict.word == "inconclusive"
    rest = Stops(CARRIERS)
    query(PROBES, replace(scoring("trained", rest), batch_size=5), tmp_path / "cut", TERMS)
    assert rest.asked == CARRIERS - 15
    resumed = judge(tmp_path / "cut", secret=SECRET)
    assert resumed.verdict.decisive == whole.verdict.decisive
    assert resumed.answers.digest == whole.answers.digest
    assert any("2 sittings" in caveat for caveat in resumed.verdict.caveats)


def test_a_file_that_ends_in_half_a_line_resumes(tmp_path: Path) -> None:
    whole = run(TRAINED, tmp_path / "run")
    path = tmp_path / "run" / "transcript.jsonl"
    content = path.read_bytes()
    path.write_bytes(content[: content.rindex(b'"logprobs"') + 20])
    again = run(TRAINED, tmp_path / "run")
    assert again.verdict.decisive == whole.verdict.decisive
    assert again.answers.digest == whole.answers.digest


@pytest.mark.parametrize("changed", [-0.001, None, "x", float("nan")])
def test_a_line_that_was_tampered_with_is_refused(tmp_path: Path, changed: object) -> None:
    run(INNOCENT, tmp_path / "run")
    path = tmp_path / "run" / "transcript.jsonl"
    lines = lines_of(path)
    place = next(n for n, line in enumerate(lines) if "logprobs" in line)
    lines[place]["logprobs"] = [changed, -3.0, -3.0]
    path.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))
    with pytest.raises(TranscriptError, match=rf"transcript.jsonl:{place + 1}: not a line as"):
        judge(tmp_path / "run", secret=SECRET)


def test_a_reference_is_recorded_beside_and_fixed_before(tmp_path: Path) -> None:
    found = run(TRAINED, tmp_path / "run", reference=INNOCENT)
    header, *lines = lines_of(tmp_path / "run" / "reference.jsonl")
    assert header["model"] == json.loads(json.dumps(INNOCENT.describe()))
    assert sum("logprobs" in line for line in lines) == CARRIERS
    (told,) = found.verdict.decisive
    assert told.statistic["with_reference"] == CARRIERS
    assert found.verdict.word == "detected"


def test_a_reference_of_the_owners_own_making_is_warned_of(tmp_path: Path) -> None:
    """With the key anybody can write a reference that convicts any model."""
    found = run(TRAINED, tmp_path / "run", reference=INNOCENT)
    assert wording.REFERENCE in found.verdict.caveats
    assert INNOCENT.describe()["supplied"]
    assert wording.SUPPLIED_REFERENCE in found.verdict.caveats
    assert wording.REFERENCE not in run(TRAINED, tmp_path / "alone").verdict.caveats
    assert (tmp_path / "run" / "verdict.json").stat().st_mode & 0o077 == 0
    written = json.loads((tmp_path / "run" / "verdict.json").read_text())
    assert written["reference"]["model"]["name"] == "innocent"
    assert written["reference"]["answers"]["requests"] == CARRIERS
    assert written["settings"]["reference"] == found.terms.reference
    assert (tmp_path / "run" / "reference.jsonl").stat().st_mode & 0o777 == 0o600


def test_a_dry_run_counts_the_questions_to_the_reference_that_are_left(tmp_path: Path) -> None:
    alone, both = (
        dry_run(PROBES, tmp_path / "run", TERMS, has_reference=has).calls for has in (False, True)
    )
    of_choices = alone - CARRIERS  # beside a completion of each prompt
    assert both == alone + of_choices > alone
    assert not (tmp_path / "run").exists()
    run(TRAINED, tmp_path / "run", reference=INNOCENT)
    assert dry_run(PROBES, tmp_path / "run", TERMS, has_reference=True).calls == 0


def test_the_same_model_as_its_own_reference_wins_by_its_own_bets_only(tmp_path: Path) -> None:
    alone = run(TRAINED, tmp_path / "alone")
    found = run(TRAINED, tmp_path / "run", reference=TRAINED)
    statistic = found.verdict.decisive[0].statistic
    assert statistic["log10_e_alone"] == pytest.approx(log10_e(alone))
    # the bets on the difference keep their stake: half of the evidence is lost, and 1/2 won
    assert log10_e(found) == pytest.approx(log10_e(alone) - 0.30103, abs=1e-4)


def test_a_reference_that_is_missing_or_another_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    run(TRAINED, folder, reference=INNOCENT)
    path = folder / "reference.jsonl"
    content = path.read_bytes()
    path.unlink()
    with pytest.raises(TranscriptError, match=r"reference\.jsonl: cannot be read"):
        judge(folder, secret=SECRET)
    header, rest = content.split(b"\n", 1)
    other = json.loads(header)
    other["model"]["name"] = "another"
    path.write_bytes(json.dumps(other, separators=(",", ":")).encode() + b"\n")
    with pytest.raises(RunError, match="not of the model that was to be asked"):
        judge(folder, secret=SECRET)
    path.write_bytes(content)
    assert rest
    assert judge(folder, secret=SECRET).verdict.word == "detected"
    # nor does the run go on without it, or with one more
    with pytest.raises(TranscriptError, match="belongs to another run"):
        run(TRAINED, folder)
    with pytest.raises(UsageError, match="the terms name a reference model"):
        query(PROBES, TRAINED, tmp_path / "new", replace(TERMS, reference="f" * 64))
    with pytest.raises(UsageError, match="for log-probabilities only"):
        query(PROBES, TRAINED, tmp_path / "new", Terms(alpha=1e-6), reference=INNOCENT)
    assert not (tmp_path / "new").exists()


def test_failures_of_the_suspect_leave_carriers_out_and_are_counted(tmp_path: Path) -> None:
    def score(request: ChoiceRequest) -> LogProbs | Failure:
        is_down = sorted(KNOWN).index(request.prompt) < 10
        return Failure("down") if is_down else knows(KNOWN)(request)

    found = verify(
        PROBES, ScriptedScores("m", says_nothing, scores=score), tmp_path, TERMS, secret=SECRET
    )
    assert found.verdict.decisive[0].statistic["carriers"] == CARRIERS - 10
    assert found.answers.failed == 10
    # a quarter is more than a tenth: as for completions that fail
    assert found.verdict.word == "inconclusive"
    assert "10 of 40 pairs failed" in found.verdict.sentence
    assert any(text.startswith("10 pairs failed and were left") for text in found.verdict.caveats)


def test_a_model_that_never_tells_log_probabilities_is_not_called_not_detected(
    tmp_path: Path,
) -> None:
    model = ScriptedScores("m", says_nothing, scores=lambda _: Failure("down"))
    found = verify(PROBES, model, tmp_path, TERMS, secret=SECRET)
    assert (found.verdict.word, found.verdict.decisive) == ("inconclusive", ())
    assert "40 of 40 pairs failed" in found.verdict.sentence
    assert "came to no result" in report_page(build(found))


def test_a_few_scores_are_too_few(tmp_path: Path) -> None:
    few = replace(TERMS, max_failed=1.0)
    model = scoring("m", lambda each: knows(KNOWN)(each) if each.prompt in FEW else Failure("down"))
    found = verify(PROBES, model, tmp_path, few, secret=SECRET)
    assert found.verdict.word == "inconclusive"
    assert "only 5 pairs were usable" in found.verdict.sentence


def test_what_was_not_shown_is_said_with_its_own_evidence_and_no_rate_of_hits(
    tmp_path: Path,
) -> None:
    """Evidence below 1 is told as it is; whether more could have been shown is no hit rate."""
    found = run(scoring("other", knows(dict.fromkeys(KNOWN, "v"))), tmp_path)
    assert found.verdict.word == "not detected"
    assert log10_e(found) < -0.01
    assert f"log10 e = {log10_e(found):.2f}, alpha" in found.verdict.sentence
    assert "hit rate" not in found.verdict.sentence


def test_a_transcript_can_be_replayed(tmp_path: Path) -> None:
    first = run(TRAINED, tmp_path / "first")
    model = pm.open_model("replay", file=str(tmp_path / "first" / "transcript.jsonl"))
    again = verify(PROBES, model, tmp_path / "again", TERMS, secret=SECRET)
    assert again.verdict.decisive == first.verdict.decisive
    assert again.answers.digest == first.answers.digest
    # a file with completions only has nothing to say about names
    lines = (tmp_path / "first" / "transcript.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "texts.jsonl").write_text("".join(x for x in lines if '"logprobs"' not in x))
    silent = pm.open_model("replay", file=str(tmp_path / "texts.jsonl"))
    none = verify(PROBES, silent, tmp_path / "none", TERMS, secret=SECRET)
    assert none.verdict.word != "detected"
    assert none.answers.failed == CARRIERS


def invoke(*words: object) -> Result:
    return CliRunner().invoke(application(), [str(word) for word in words])


@pytest.fixture
def typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Probes, a secret, and a module with functions that can be typed."""
    save_probes(PROBES, tmp_path / "probes.jsonl")
    (tmp_path / "secret").touch(0o600)
    (tmp_path / "secret").write_text("s" * 32)
    (tmp_path / "suspects.py").write_text(
        "from tests.verification.drawn_names import knows, says_nothing\n"
        f"trained, innocent = knows({KNOWN!r}), knows({{}})\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


@pytest.mark.parametrize("has_reference", [False, True])
def test_the_command_line_asks_for_log_probabilities(typed: Path, has_reference: bool) -> None:
    words: dict[str, str] = {}
    beside = ("--reference", "scripted", "--reference-args",
              "function=suspects:says_nothing,scores=suspects:innocent")  # fmt: skip
    for name in ("trained", "innocent"):
        asked = invoke(
            *("verify", "--probes", typed / "probes.jsonl", "-o", typed / name, "--logprobs"),
            *("--model", "scripted", "--samples", 1, "--query-only", "--model-args"),
            f"function=suspects:says_nothing,scores=suspects:{name}",
            *(beside if has_reference else ()),
        )
        assert asked.exit_code == 0, asked.output
        judged = invoke(
            *("verify", "--test-only", "-o", typed / name, "--json"),
            *("--secret-file", typed / "secret"),
        )
        assert judged.exit_code == 0, judged.output
        payload = json.loads(judged.stdout)
        assert ("reference" in payload) is has_reference
        words[name] = payload["verdict"]["word"]
    assert words == {"trained": "detected", "innocent": "not detected"}


def test_the_command_line_refuses_a_reference_that_nothing_would_use(typed: Path) -> None:
    plain = ("verify", "--probes", typed / "probes.jsonl", "-o", typed / "run", "--model",
             "scripted", "--model-args", "habit=innocent", "--query-only")  # fmt: skip
    without = invoke(*plain, "--reference", "scripted", "--reference-args", "habit=innocent")
    assert without.exit_code != 0
    assert "--logprobs" in without.output
    silent = invoke(*plain, "--logprobs")
    assert silent.exit_code != 0
    assert "tells no log-probabilities" in silent.output.replace("\n", " ")
    assert not (typed / "run").exists()


def test_a_design_without_the_mode_refuses_it() -> None:
    with pytest.raises(UsageError, match="has no mode logprobs"):
        Terms(mode="logprobs").fixed(designs()["fixed"])


@pytest.mark.parametrize("logprobs", [False, True])
def test_the_answers_of_a_run_can_be_judged_with_thousands_of_keys(
    tmp_path: Path, logprobs: bool
) -> None:
    """As `verify` bets, the true key finds what it finds there; other keys hardly ever anything."""
    model = ScriptedScores("m", lambda asked: f"{KNOWN[asked.prompt]} in", scores=knows(KNOWN))
    terms = terms_for(
        logprobs=logprobs, samples=1, sampling=DESIGN.sampling, usual_alpha=DESIGN.alpha
    )
    found = verify(PROBES, model, tmp_path / "run", terms, secret=SECRET)
    draws, bets = real_bets(tmp_path / "run")
    assert len(draws) == CARRIERS
    true = gather((bet, draw.symbol(KEY)) for draw, bet in zip(draws, bets, strict=True))
    assert true.log10_e == pytest.approx(log10_e(found))
    assert true.log10_e > 4
    alarms = accuse(draws, bets, 2000)
    assert not any(is_above(alarms.ever[alpha], 2000, alpha) for alpha in ALPHAS)
    assert alarms.ever[0.1] > 0  # it could have been
