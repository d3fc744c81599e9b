"""Innocent models of `benchmarks/false_alarms.py`: judged as by a verdict, and not accused."""

from collections.abc import Mapping

import numpy as np
import pytest

from benchmarks.false_alarms import HABITS, WHY, Prompt, accused, alarms_of, chances_of, simulate
from puzzlemark.statistics.rates import estimate
from puzzlemark.verification.terms import Terms
from puzzlemark.verification.verdict import decide
from puzzlemark.watermarks._design import Mode
from puzzlemark.watermarks.base import Arm, Probe, named
from tests.verification.outcomes import DESIGNS, made_of, outcome

MODES: tuple[Mode, ...] = ("default", "paper", "sequential")
# of hits in two arms; what a key draws is judged in benchmarks/keyed_false_alarms.py
STRATEGIES = [name for name, design in DESIGNS.items() if "control" in design.others]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_fast_rules_accuse_whom_a_verdict_accuses(mode: Mode, strategy: str) -> None:
    rng = np.random.default_rng(7)
    models, pairs = 30, 60
    rates = np.linspace(0.05, 0.6, models)[:, None]  # from innocent to sure
    hits = {
        "armed": rng.random((models, pairs)) < rates,
        "control": rng.random((models, pairs)) < 0.1,
        "placebo": rng.random((models, pairs)) < 0.05,
    }
    design, terms = DESIGNS[strategy], Terms(mode=mode)
    found = accused(hits, mode, design).tolist()
    for model in range(models):
        arms = {name: each[model].tolist() for name, each in hits.items()}
        outcomes = [outcome(*row) for row in zip(*arms.values(), strict=True)]
        assert found[model] == (decide(outcomes, design=design, terms=terms).word == "detected")
    assert 0 < sum(found) < models


FIXED = made_of(
    Arm("def f(self, key, path, node):\n    ", "key_path"),
    Arm("def f(self, item, path, node):\n    ", "key_path"),
    Arm("def f(self, item, path, node):\n    ", "item_path"),
)
UNIVERSAL = made_of(
    Arm("def f(text, path, node, size):\n    ", "text_path"),
    Arm("def f(node, text, path, size):\n    ", "text_path"),
)
EXPECTED: dict[str, Mapping[str, list[float]]] = {
    "joins the first two names": {"fixed": [1, 0, 1], "universal": [1, 0]},
    "joins two names at random": {"fixed": [1 / 6, 0, 1 / 6], "universal": [1 / 12, 1 / 12]},
    "joins two neighbours at random": {"fixed": [1 / 2, 0, 1 / 2], "universal": [1 / 3, 1 / 3]},
    "joins the first name with any other": {
        "fixed": [1 / 2, 0, 1 / 2],
        "universal": [1 / 3, 0],
    },
    "joins neighbours, prefers early ones": {
        "fixed": [4 / 5, 0, 4 / 5],
        "universal": [36 / 49, 9 / 49],
    },
    "joins the name before the suffix": {"fixed": [1, 0, 1], "universal": [1, 1]},
    "always writes the target": {"fixed": [1, 1, 0], "universal": [1, 1]},
    "echoes the last name": {"fixed": [0, 0, 0], "universal": [0, 0]},
    "copies the last compound": {"fixed": [0, 0, 0], "universal": [0, 0]},
}


@pytest.mark.parametrize("habit", HABITS)
def test_a_habit_hits_where_a_hand_count_says(habit: str) -> None:
    for name, probe in (("fixed", FIXED), ("universal", UNIVERSAL)):
        chances = chances_of(HABITS[habit], [probe], "python")
        assert [float(each[0]) for each in chances.values()] == pytest.approx(EXPECTED[habit][name])


def test_a_habit_sees_names_only() -> None:
    prompt = Prompt(("a", "b"), "camel", None, "x")
    assert HABITS["joins the first two names"](prompt) == {"aB": 1.0}
    assert HABITS["joins the first two names"](Prompt((), "snake", None, "x")) == {}


def test_control_and_placebo_read_one_completion() -> None:
    chances = {"armed": np.ones(50), "control": np.full(50, 0.5), "placebo": np.full(50, 0.5)}
    hits = simulate(chances, 1.0, 20, np.random.default_rng(1))
    assert not (hits["control"] & hits["placebo"]).any()
    assert (hits["control"] | hits["placebo"]).all()


@pytest.mark.parametrize(("preset", "probe"), [("P1", FIXED), ("U1", UNIVERSAL)])
def test_innocent_habits_are_accused_no_more_often_than_alpha(preset: str, probe: Probe) -> None:
    models = 400
    alarms = alarms_of(named()[preset], [probe], 100, models, np.random.default_rng(3))
    above = {
        (habit, mode)
        for (habit, mode, _), count in alarms.items()
        if mode != "paper" and estimate(count, models, confidence=0.999).low > 0.05
    }
    own = {habit for strategy, _, habit in WHY if strategy == "universal"}
    assert {habit for habit, _ in above} == (own if preset == "U1" else set())
