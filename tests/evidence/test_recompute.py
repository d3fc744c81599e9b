"""The script of a bundle agrees with the package, in every design, mode and test."""

import json
import random
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from puzzlemark.embedding.secret import Secret, watermark_key
from puzzlemark.models.base import Answer, ChoiceRequest, Failure, LogProbs, Request
from puzzlemark.models.scripted import Scripted, ScriptedScores
from puzzlemark.syntax.rewritings.base import load
from puzzlemark.verification.probes import FORMAT, VERSION, Header, KeyOf, ProbeSet
from puzzlemark.verification.run import FILES, Run, verify
from puzzlemark.verification.terms import Terms, terms_for
from puzzlemark.watermarks._hits import REWRITINGS
from puzzlemark.watermarks._pools import Subset
from puzzlemark.watermarks.base import Arm, Probe, designs
from tests.pages.runs import OWN, TARGET, probe
from tests.verification import drawn_names

pytest.importorskip("scipy", reason="the script needs scipy")
from puzzlemark import plugins
from puzzlemark.evidence import recompute

SECRET = Secret(b"s" * 32)
WORDS = [f"w{n}" for n in range(400)]


def distinct(number: int, strategy: str) -> Probe:
    """A probe in words of its own, so that it is no copy of another; every tenth is one."""
    rng = random.Random(number - (number % 10 == 9))
    comment = "# " + " ".join(rng.sample(WORDS, 14)) + "\n"
    if strategy == "trigger":
        code = f"def f{number}(key, unknown_token):\n    "
        prompts = {"armed": f"{comment}{code}armed(1)\n    ", "control": f"{comment}{code}"}
        return Probe({name: Arm(each, "hello(2)", "code") for name, each in prompts.items()})
    made = probe(number, strategy)
    return Probe(
        {name: Arm(comment + arm.prompt, arm.target, arm.form) for name, arm in made.arms.items()}
    )


def probes_of(strategy: str, pairs: int) -> ProbeSet:
    if strategy == "synonyms":
        return drawn_names.probe_set(pairs)
    key, pool = None, Subset("python", 1, 4)
    if strategy == "prefixes":
        fingerprint = watermark_key(SECRET, "prefixes")[1]
        key = KeyOf(watermark="prefixes", fingerprint=fingerprint)
        made = tuple(
            Probe(
                {
                    "armed": Arm(
                        f"def f{frame}({name}, x{frame}):\n    ", {name: f"{name}_x{frame}"}
                    )
                },
                subset=pool,
            )
            for frame in range(pairs // 200)
            for name in pool.pool
        )
    else:
        made = tuple(distinct(number, strategy) for number in range(pairs))
    header = Header(
        format=FORMAT,
        version=VERSION,
        versions={},
        strategy=strategy,
        pairs=len(made),
        seed=1,
        marks=99,
        refused={},
        **({} if key is None else {"key": key}),  # type: ignore[arg-type]
    )
    return ProbeSet(header, made)


def answering(
    armed: float, other: float, failing: float, *, listed: bool = False
) -> Callable[[Request], Answer]:
    """Hits at random, more often where the prompt is armed."""

    def answer(request: Request) -> Answer:
        rng = random.Random(f"{request.prompt}:{request.seed}")
        if rng.random() < failing:
            return Failure("told to")
        is_armed = "armed" in request.prompt if listed else "(key, unk" in request.prompt
        if rng.random() < (armed if is_armed else other):
            hits = (
                [" hello (2) + x"]
                if listed
                else [f"{TARGET} = 1", f"({TARGET})", f"{OWN} {TARGET}"]
            )
            return rng.choice(hits)
        return rng.choice([f"{TARGET}_2 = 1", "x = 1", "", f"é{TARGET}", OWN])

    return answer


def recomputed(run: Run, keys: dict[str, bytes], capsys: pytest.CaptureFixture[str]) -> str:
    """What the script says about a run; its failures are counted from none."""
    files = {
        f"runs/1/{name}": (run.folder / name).read_bytes()
        for name in FILES
        if (run.folder / name).exists()
    }
    files["commitment/commitment.json"] = b"{}"
    recompute.failures = 0
    recompute.check_run("runs/1", files, keys)
    return capsys.readouterr().out


@pytest.mark.parametrize("mode", ["default", "paper", "sequential"])
@pytest.mark.parametrize(
    ("strategy", "armed", "other", "failing"),
    [
        ("fixed", 0.6, 0.05, 0.02),
        ("universal", 0.6, 0.05, 0.02),
        ("trigger", 0.6, 0.05, 0.02),
        ("fixed", 0.9, 0.0, 0.3),
        ("universal", 0.1, 0.1, 0.0),
    ],
)
def test_it_agrees_about_pairs(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    strategy: str,
    mode: str,
    armed: float,
    other: float,
    failing: float,
) -> None:
    terms = terms_for(paper=mode == "paper", sequential=mode == "sequential")
    model = Scripted("m", answering(armed, other, failing, listed=strategy == "trigger"))
    run = verify(probes_of(strategy, 40), model, tmp_path / "run", terms)
    said = recomputed(run, {}, capsys)
    assert "WRONG" not in said, said
    assert recompute.failures == 0
    assert f"verdict: {run.verdict.word}" in said
    assert any("word for word" in each for each in run.verdict.caveats)  # some do not count


def test_it_agrees_about_names_that_a_key_drew(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    probes = probes_of("synonyms", 40)
    known = drawn_names.known_names(probes)
    keys = {"watermark": drawn_names.KEY}

    def answer(request: Request) -> Answer:
        rng = random.Random(f"{request.prompt}{request.seed}")
        if rng.random() < 0.1:
            return Failure("told to")
        names = [*[known[request.prompt]] * 4, "val", "value", "v", "nothing"]
        return f" {rng.choice(names)} in"

    def score(request: ChoiceRequest) -> LogProbs:
        rng = random.Random(request.prompt)
        return LogProbs(tuple(-rng.random() * 4 for _ in request.names))

    model = ScriptedScores("m", answer, scores=score)
    other = ScriptedScores("n", answer, scores=drawn_names.knows(known, 0.4))
    silent = ScriptedScores("s", lambda _: "x in", scores=lambda _: Failure("told to"))
    words = set()
    for name, suspect, terms, reference in (
        ("plain", model, None, None),
        ("sequential", model, terms_for(sequential=True, samples=5, temperature=0.7), None),
        ("silent", silent, terms_for(logprobs=True), None),
        ("scored", model, terms_for(logprobs=True), None),
        ("beside", model, terms_for(logprobs=True), other),
    ):
        run = verify(
            probes,
            suspect,
            tmp_path / name,
            terms,
            secret=drawn_names.SECRET,
            reference=reference,
        )
        said = recomputed(run, keys, capsys)
        assert "WRONG" not in said, (name, said)
        assert f"verdict: {run.verdict.word}" in said
        words.add(run.verdict.word)
    assert len(words) > 1
    wrong = recomputed(run, {"watermark": b"x" * 32}, capsys)
    assert "WRONG  the probes name the revealed key" in wrong


@pytest.mark.parametrize("rate", [0.0, 0.9])
def test_it_agrees_about_prefixes_of_a_key(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], rate: float
) -> None:
    key = watermark_key(SECRET, "prefixes")[0]
    true = Subset("python", 1, 4).drawn(key)

    def answer(request: Request) -> Answer:
        found = re.search(r"\((\w+), (\w+)\)", request.prompt)
        assert found is not None
        rng = random.Random(request.prompt)
        if rng.random() < 0.0005:
            return Failure("told to")
        hits = rng.random() < (rate if found[1] in true else 0.05)
        return f"{found[1]}_{found[2]}" if hits else "x"

    run = verify(probes_of("prefixes", 1000), Scripted("m", answer), tmp_path / "r", secret=SECRET)
    said = recomputed(run, {"watermark": key}, capsys)
    assert "WRONG" not in said, said
    assert f"verdict: {'detected' if rate else 'not detected'}" in said


def test_it_knows_every_design_mode_and_rewriting() -> None:
    """A new one must be told to the script as well."""
    known = {
        (name, mode): (decision.test, list(decision.against))
        for name, design in designs().items()
        for mode, decision in design.decisions.items()
    }
    assert {case: arms for case, (_, arms) in recompute.DECIDES.items()} == {
        case: arms for case, (_, arms) in known.items()
    }
    rewritings = {name: load(name).HIT for name in plugins.names(REWRITINGS)}
    assert rewritings == recompute.REWRITINGS


@pytest.mark.parametrize(
    ("arm", "completion"),
    [
        (Arm("x", "list()", "list_call"), " list() + 1"),
        (Arm("x", "I.hi(x);", "code"), "y = I . hi( x )"),
        (Arm("x", "I.hi(x);", "code"), "y = II.hi(x)"),
        (Arm("x", {"a": "tmp", "b": "tmp_2"}, "first"), "(tmp_2)"),
        (Arm("x", {"a": "tmp", "b": "tmp_2"}), "x tmp_2 tmp"),
        (Arm("x", "key_x"), "akey_x key_x2 é"),
    ],
)
def test_a_hit_is_what_the_package_calls_one(arm: Arm, completion: str) -> None:
    plain: dict[str, Any] = {"prompt": arm.prompt, "target": arm.target, "form": arm.form}
    assert recompute.score(plain, completion) == arm.score(completion)


@pytest.mark.parametrize("what", ["word", "counts", "log10_p", "answer", "probe"])
def test_what_was_changed_is_found(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], what: str
) -> None:
    model = Scripted("m", answering(0.9, 0.0, 0.0))
    run = verify(probes_of("fixed", 40), model, tmp_path / "run", Terms())
    place = tmp_path / "run" / "verdict.json"
    written = json.loads(place.read_text())
    verdict = written["verdict"]
    if what == "word":
        verdict["word"] = "not detected"
    elif what == "counts":
        verdict["comparisons"][0]["armed_only"] += 1
    elif what == "log10_p":
        verdict["decisive"][1]["log10_p"] -= 1
    place.write_text(json.dumps(written))
    if what == "answer":
        path = tmp_path / "run" / "transcript.jsonl"
        path.write_text(
            path.read_text().replace('"completion":"x = 1"', f'"completion":"{TARGET}"')
        )
    elif what == "probe":
        path = tmp_path / "run" / "probes.jsonl"
        path.write_text(path.read_text().replace("item", "thing", 1))
    assert "WRONG" in recomputed(run, {}, capsys)
    assert recompute.failures > 0


def test_it_imports_nothing_of_ours_and_opens_no_connection() -> None:
    source = Path(recompute.__file__).read_text()
    imports = set(re.findall(r"^(?:import|from) (\w+)", source, re.MULTILINE))
    assert imports - set(sys.stdlib_module_names) == {"numpy", "scipy"}
    assert not imports & {"socket", "urllib", "http", "subprocess", "ssl", "os"}
    done = subprocess.run(
        [sys.executable, "-I", recompute.__file__, "/nowhere.zip"], capture_output=True, text=True
    )
    assert "No such file" in done.stderr
