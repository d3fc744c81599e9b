"""A scheme brings its design: a made-up one, with symbols and a key, from probes to the page."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

import puzzlemark as pm
from puzzlemark.cli.__main__ import application
from puzzlemark.embedding.secret import Secret, find_secret
from puzzlemark.errors import SecretError, UsageError
from puzzlemark.models.base import Request
from puzzlemark.models.scripted import Scripted, innocent
from puzzlemark.pages.report import report_page
from puzzlemark.verification.checking import ProbesError, check_probes
from puzzlemark.verification.probes import ProbeSet, load_probes, save_probes
from puzzlemark.verification.report import build
from puzzlemark.verification.run import judge, load_run
from puzzlemark.verification.terms import Terms
from puzzlemark.verification.tests.base import Outcome
from puzzlemark.verification.verdict import decide
from puzzlemark.watermarks._design import Mode
from puzzlemark.watermarks.base import Arm, ArmWords, Decision, Probe, designs
from tests.verification import made_up
from tests.verification.made_up import SIDES, WORDS, chosen
from tests.verification.outcomes import FIXED, TRIGGER, made_of

ARM = Arm("def f():\n    ", WORDS)


def test_an_arm_scores_the_symbol_that_comes_first() -> None:
    assert ARM.score("x = lhs or rhs") == "left"
    assert ARM.score("x = rhs or lhs") == "right"
    assert ARM.score("x = lhs_of(rhss)") is None
    assert ARM.spans("rhs, lhs") == [(0, 3), (5, 8)]
    longer = Arm("", {"call": "f(x)", "method": "f(x).g"}, "code")
    assert longer.score("f(x).g()") == "method"
    assert Arm("", "lhs").score("lhs") == "hit"


@pytest.mark.parametrize(
    ("arm", "reason"),
    [
        (replace(ARM, target={**WORDS, "middle": "mid"}), "no symbol middle"),
        (replace(ARM, target={"left": "x", "right": "x"}), "a text of its own"),
        (replace(ARM, target={}), "a text of its own"),
        (replace(ARM, target={"left": "a b"}), "not a plain name"),
        (replace(ARM, prompt="rhs = "), "the target stands in the prompt"),
    ],
)
def test_symbols_that_mean_nothing_are_refused(arm: Arm, reason: str) -> None:
    check_probes(SIDES, [Probe({"armed": ARM})])
    with pytest.raises(ProbesError, match=f"^probe 0: armed: .*{reason}"):
        check_probes(SIDES, [Probe({"armed": arm})])


def test_arms_that_the_design_does_not_have_are_refused() -> None:
    extra = Probe({"armed": ARM, "control": replace(ARM, prompt="x")})
    with pytest.raises(ProbesError, match="it has a control, and probes of the design sides have"):
        check_probes(SIDES, [extra])


@pytest.mark.parametrize(
    "changes",
    [
        {"arms": TRIGGER.arms[1:]},
        {"arms": (*TRIGGER.arms, TRIGGER.arms[1])},
        {"decisions": {}},
        {"decisions": {"default": Decision("mcnemar", ("placebo",))}},
        {"decisions": {"default": Decision("mcnemar", ())}},
        {"tests": ("fisher",)},
    ],
)
def test_a_design_that_contradicts_itself_cannot_be_made(changes: dict[str, object]) -> None:
    with pytest.raises(UsageError, match="the design trigger"):
        replace(TRIGGER, **changes)  # type: ignore[arg-type]


def test_two_designs_with_one_name_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    made_up.install(monkeypatch)
    assert designs()["sides"] is SIDES
    monkeypatch.setattr(made_up.Sides, "design", replace(SIDES, name="fixed"))
    with pytest.raises(UsageError, match="different designs with one name, 'fixed'"):
        designs()


def test_a_design_with_arms_of_its_own_is_judged_and_told_in_its_words() -> None:
    arms = (
        TRIGGER.arms[0],
        ArmWords("swapped", "Swapped", "the halves swapped", "Both halves are there."),
        ArmWords("silent", "Silent", "nothing at all"),
    )
    decisions: dict[Mode, Decision] = {"default": Decision("mcnemar", ("swapped", "silent"))}
    design = replace(TRIGGER, name="halves", arms=arms, decisions=decisions)
    hit = Outcome({"armed": "hit", "swapped": None, "silent": None})
    verdict = decide([hit] * 30, design=design)
    assert verdict.word == "detected"
    assert "with the halves swapped 0 of 30, with nothing at all 0 of 30" in verdict.sentence
    assert [each.against for each in verdict.comparisons] == ["swapped", "silent"]
    assert verdict.to_json()["setting"]["strategy"] == "halves"
    both = Outcome({"armed": "hit", "swapped": "hit", "silent": None})
    assert decide([both] * 30, design=design).word == "not detected"
    with pytest.raises(UsageError, match="the design halves has no mode paper; it has default"):
        decide([hit], design=design, terms=Terms(mode="paper"))
    stopping = replace(
        design, decisions={**decisions, "sequential": Decision("fisher", ("silent",))}
    )
    with pytest.raises(UsageError, match="cannot be stopped"):
        decide([hit], design=stopping, terms=Terms(mode="sequential"))


def test_probes_of_an_unknown_design_are_refused_in_words(tmp_path: Path) -> None:
    arms = (Arm("def f(key, a):\n    ", "key_a"), Arm("def f(item, a):\n    ", "key_a"))
    probe = made_of(*arms, replace(arms[1], target="item_a"))
    check_probes(FIXED, [probe])
    header = {
        "format": "puzzlemark probes", "version": 3, "versions": {}, "strategy": "sides",
        "pairs": 0, "seed": 0, "marks": 1, "refused": {},
    }  # fmt: skip
    (tmp_path / "p.jsonl").write_text(json.dumps(header) + "\n")
    with pytest.raises(ProbesError, match=r"p\.jsonl: their design 'sides' is not known here"):
        load_probes(tmp_path / "p.jsonl")


@pytest.fixture
def secret_file(tmp_path: Path) -> Path:
    """Always the same: of all keys, one in twenty agrees with somebody else's by chance."""
    (tmp_path / "secret").write_text(f"{'5e' * 32}\n", encoding="utf-8")
    (tmp_path / "secret").chmod(0o600)
    return tmp_path / "secret"


@pytest.fixture
def probes(
    tmp_path: Path, corpus_bytes: bytes, secret_file: Path, monkeypatch: pytest.MonkeyPatch
) -> ProbeSet:
    """Probes of a small dataset, marked by the made-up watermark."""
    made_up.install(monkeypatch)
    (tmp_path / "in.jsonl").write_bytes(b"".join(corpus_bytes.splitlines(keepends=True)[:150]))
    pm.embed(
        tmp_path / "in.jsonl", tmp_path / "m.jsonl", tmp_path / "m.gz", watermark="sides",
        policy="paper", tau=0, min_rate=0.3, max_rate=0.5, secret_file=secret_file,
    )  # fmt: skip
    return pm.probe(tmp_path / "m.jsonl", tmp_path / "m.gz", pairs=40, secret_file=secret_file)


def key_of(secret_file: Path) -> bytes:
    return find_secret(secret_file).derive("watermark:sides")


def learnt(key: bytes) -> Callable[[Request], str]:
    """Writes what the key chooses, as a model that saw the marks."""
    return lambda request: f"x = {WORDS[chosen(key, request.prompt)]}\n"


def test_a_key_reaches_the_probes_and_only_its_fingerprint_their_file(
    probes: ProbeSet, secret_file: Path, tmp_path: Path
) -> None:
    key = key_of(secret_file)
    assert len(probes.probes) >= 20
    assert probes.header.key is not None
    assert probes.header.key.watermark == "sides"
    assert probes.header.key.fingerprint == Secret(key).fingerprint
    save_probes(probes, tmp_path / "p.jsonl")
    assert key.hex() not in (tmp_path / "p.jsonl").read_text()
    assert load_probes(tmp_path / "p.jsonl") == probes
    with pytest.raises(SecretError, match="--secret-file"):
        pm.probe(tmp_path / "m.jsonl", tmp_path / "m.gz", pairs=3, paper=True)


def test_a_test_with_a_key_judges_symbols_from_the_answers_to_the_page(
    probes: ProbeSet, secret_file: Path, tmp_path: Path
) -> None:
    key, folder = key_of(secret_file), tmp_path / "run"
    model = Scripted("m", learnt(key))
    with pytest.raises(SecretError):  # before anything is asked
        pm.verify(probes, model, folder)
    assert not folder.exists()
    run = pm.verify(probes, model, folder, secret_file=secret_file)
    pairs = len(run.judged)
    assert run.verdict.word == "detected"
    assert f"{pairs} of {pairs} completions agreed with the key (bets" in run.verdict.sentence
    assert "If an innocent model does not know the key, this means" in run.verdict.sentence
    assert load_run(folder, secret_file=secret_file) == run
    page = build(run)
    (table,) = page.tables
    assert (table.against, table.by_pair) == (None, None)
    assert table.by_arm.columns == ("left", "right", "none", "answered")
    (line,) = table.by_arm.lines
    assert (sum(map(int, line.counts[:2])), line.counts[2:]) == (pairs, (0, pairs))
    assert page.tests[0].statistic == f"{pairs} of {pairs} agreed"
    html = report_page(page)
    assert "Armed, by itself" in html
    written = [path.read_text() for path in folder.iterdir()]
    assert not any(key.hex() in text for text in [*written, html, repr(run)])


def test_a_model_that_does_not_know_the_key_is_not_detected(
    probes: ProbeSet, secret_file: Path, tmp_path: Path
) -> None:
    guessing = Scripted("m", learnt(b"the key of somebody else"))
    run = pm.verify(probes, guessing, tmp_path / "guess", secret_file=secret_file)
    assert run.verdict.word == "not detected"
    silent = pm.verify(probes, Scripted("m", innocent), tmp_path / "run", secret_file=secret_file)
    assert silent.verdict.word == "not detected"


def test_the_secret_is_asked_for_where_it_is_needed_and_nowhere_else(
    probes: ProbeSet, secret_file: Path, tmp_path: Path, probe_sets: dict[str, ProbeSet]
) -> None:
    folder = tmp_path / "run"
    pm.verify(probes, Scripted("m", innocent), folder, secret_file=secret_file)
    with pytest.raises(SecretError, match="no secret here"):
        judge(folder)
    find_secret(tmp_path / "other")
    with pytest.raises(SecretError, match="made with another secret"):
        judge(folder, secret_file=tmp_path / "other")
    with pytest.raises(UsageError, match="no test of this run uses a secret"):
        pm.verify(
            probe_sets["fixed"], Scripted("m", innocent), tmp_path / "x", secret_file=secret_file
        )
    command = ["verify", "--test-only", "-o", str(folder)]
    assert CliRunner().invoke(application(), command).exit_code == 1
    done = CliRunner().invoke(application(), [*command, "--secret-file", str(secret_file)])
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("not detected")
    assert CliRunner().invoke(application(), ["report", str(folder)]).exit_code == 1
    shown = ["report", str(folder), "--secret-file", str(secret_file)]
    assert CliRunner().invoke(application(), shown).exit_code == 0
    pm.verify(probe_sets["fixed"], Scripted("m", innocent), tmp_path / "keyless")
    both = ["together", str(folder), str(tmp_path / "keyless"), "--secret-file", str(secret_file)]
    assert CliRunner().invoke(application(), both).stdout.count("not detected") == 2
