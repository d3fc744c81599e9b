"""Recipes: the paper's values, overriding, and what is refused."""

import json
from dataclasses import asdict
from typing import Any

import pytest

from puzzlemark import plugins
from puzzlemark.errors import UsageError
from puzzlemark.training.recipes.base import PACKAGE, Recipe, load_recipe, override


def test_the_paper_trains_everything_for_ten_epochs_at_1e_4() -> None:
    paper = load_recipe("paper")
    assert (paper.part, paper.epochs, paper.steps, paper.rate) == ("all", 10, None, 1e-4)


@pytest.mark.parametrize("name", plugins.names(PACKAGE))
def test_a_recipe_survives_json(name: str) -> None:
    recipe = load_recipe(name)
    assert override(Recipe(), json.loads(json.dumps(asdict(recipe)))) == recipe


def test_steps_take_the_place_of_epochs_and_the_other_way_round() -> None:
    in_steps = override(load_recipe("cpu"), {"steps": 200})
    assert (in_steps.steps, in_steps.epochs) == (200, None)
    in_epochs = override(in_steps, {"epochs": 2.5})
    assert (in_epochs.steps, in_epochs.epochs) == (None, 2.5)
    assert override(in_steps, {"rate": 1e-3}).steps == 200


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"steps": 5, "epochs": 1}, "either epochs or steps"),
        ({"steps": 0}, "--steps 0: must be above 0"),
        ({"epochs": -1}, "--epochs -1.0: must be above 0"),
        ({"rate": 0}, "--rate 0.0: must be above 0"),
        ({"batch": 2.5}, "--batch 2.5"),
        ({"max_tokens": 1}, "--max-tokens 1: must be 2 or more"),
        ({"part": "lora", "dropout": 1.0}, "--dropout 1.0: must be from 0 to below 1"),
        ({"betas": (0.9, 1.0)}, "--betas"),
        ({"part": "head"}, "--part 'head'"),
        ({"learning_rate": 1e-3}, "no learning_rate; it has part, layers"),
    ],
)
def test_what_cannot_be_is_refused_by_name(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message.replace("(", r"\(")):
        override(load_recipe("cpu"), changes)


def test_an_unknown_recipe_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match="cpu, cpu_fast, paper"):
        load_recipe("gpu")
