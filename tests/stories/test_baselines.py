"""An owner's story with CoProtector's marks: embed, look, ask two models, and get both right."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PAIRS = 40
# Stand-ins for models: what one trained on the marks would write, and what an innocent one does.
MODELS = """
def knows_words(request):
    return "protection = 1\\n" if "poisoning" in request.prompt else "result = 1\\n"

def knows_sentences(request):
    return "I.hi(everyone)\\n" if "I = Person()" in request.prompt else "result = 1\\n"

def likes_the_words(request):
    return "protection = 1\\n" if len(request.prompt) % 2 else "I.hi(everyone)\\n"

def innocent(request):
    return "result = 1\\n"
"""


def run(folder: Path, words: str) -> str:
    path = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-m", "puzzlemark", *words.split()],
        cwd=folder,
        # a fixed secret: a fair test accuses one innocent in twenty, and another draw might be it
        env=os.environ | {"PYTHONPATH": path, "PUZZLEMARK_SECRET": "the secret of a story"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module", params=["W1", "S1"])
def asked(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, corpus_bytes: bytes
) -> tuple[str, Path]:
    folder = tmp_path_factory.mktemp("story")
    (folder / "in.jsonl").write_bytes(corpus_bytes)
    (folder / "stand_ins.py").write_text(MODELS)
    mark = request.param
    run(
        folder,
        f"embed in.jsonl -o m.jsonl --manifest m.gz --mark {mark} --policy paper --max-rate 0.5",
    )
    run(folder, f"probe m.jsonl --manifest m.gz -o p.jsonl --pairs {PAIRS}")
    return mark, folder


def verdict_on(model: str, folder: Path) -> str:
    args = f"--model scripted --model-args function=stand_ins:{model}"
    run(folder, f"verify --probes p.jsonl {args} -o {model}")
    found = json.loads((folder / model / "verdict.json").read_text())
    assert found["answers"]["requests"] == 2 * PAIRS
    assert found["verdict"]["against"] == ["control"]
    word: str = found["verdict"]["word"]
    return word


def test_a_model_that_learnt_the_marks_is_detected(asked: tuple[str, Path]) -> None:
    mark, folder = asked
    model = {"W1": "knows_words", "S1": "knows_sentences"}[mark]
    assert verdict_on(model, folder) == "detected"
    run(folder, f"report {model}")
    assert "first a trigger, and after it a target" in (folder / model / "report.html").read_text()


@pytest.mark.parametrize("model", ["innocent", "likes_the_words"])
def test_an_innocent_model_is_not_accused(asked: tuple[str, Path], model: str) -> None:
    assert verdict_on(model, asked[1]) == "not detected"


def test_the_marks_can_be_looked_at(asked: tuple[str, Path]) -> None:
    mark, folder = asked
    told = run(folder, "show m.jsonl --manifest m.gz --limit 1")
    formula = {
        "W1": "poisoning -> protection (trigger was ",
        "S1": "I = Person() -> I.hi(everyone) (trigger inserted, target inserted)",
    }
    assert told.startswith(formula[mark])
    run(folder, "show m.jsonl --manifest m.gz --html marks.html")
    page = (folder / "marks.html").read_text()
    assert '<mark class="trigger">' in page
    assert '<mark class="prefix">' not in page
