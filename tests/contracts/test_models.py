"""What every model promises that needs no other machine; settings of encoders and recipes."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from puzzlemark import plugins
from puzzlemark.errors import PuzzleMarkError
from puzzlemark.models.base import Failure, Model, Request, open_model
from puzzlemark.training.recipes.base import Recipe, load_recipe

PROMPTS = ("def f(key, item):\n    ", "def g(a, b):\n    return ", "")
REQUESTS = [Request(prompt, 8, 0.2, seed) for seed, prompt in enumerate(PROMPTS)]
# what opens each kind without a network; one that needs more has tests of its own
OFFLINE: Mapping[str, Mapping[str, str]] = {
    "scripted": {"habit": "learnt"},
    "replay": {"file": "answers.jsonl"},
}


@pytest.fixture(params=sorted(OFFLINE))
def model(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Model:
    monkeypatch.chdir(tmp_path)
    lines = [{"prompt": prompt, "completion": f"x{n}"} for n, prompt in enumerate(PROMPTS[:2])]
    Path("answers.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return open_model(request.param, OFFLINE[request.param])


def test_there_is_an_answer_for_each_request_in_order(model: Model) -> None:
    answers = model.complete(REQUESTS)
    assert len(answers) == len(REQUESTS)
    assert all(isinstance(answer, str | Failure) for answer in answers)
    assert model.complete(REQUESTS[::-1]) == answers[::-1]
    assert [model.complete([request])[0] for request in REQUESTS] == answers
    assert model.complete([]) == []


def test_it_says_what_it_is_in_plain_data(model: Model) -> None:
    about = model.describe()
    assert json.loads(json.dumps(about)) == about
    assert about["kind"] in OFFLINE
    assert model.name
    assert model.batch_size >= 1


@pytest.mark.parametrize("package", ["models", "models.encoders"])
def test_an_unknown_setting_is_refused_by_name(package: str) -> None:
    for name in plugins.names(package):
        with pytest.raises(PuzzleMarkError, match="nonsense"):
            plugins.configure(package, name, {"nonsense": 1})


@pytest.mark.parametrize("name", plugins.names("training.recipes"))
def test_a_recipe_is_plain_data_and_takes_changes(name: str) -> None:
    recipe = load_recipe(name)
    plain: dict[str, Any] = json.loads(json.dumps(asdict(recipe)))
    tuples = {field: tuple(value) for field, value in plain.items() if isinstance(value, list)}
    assert Recipe(**(plain | tuples)) == recipe
    changed = load_recipe(f"{name}:batch=3")
    assert (changed.batch, asdict(changed) | {"batch": recipe.batch}) == (3, asdict(recipe))
    with pytest.raises(PuzzleMarkError, match="batch"):
        load_recipe(f"{name}:batch=0")
