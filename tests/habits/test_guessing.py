"""Guesses against hand counts, and that none of them looks at the variable's own fold."""

import random
from collections.abc import Sequence

import numpy as np
import pytest

from puzzlemark.habits.choosing import choose, guess_all
from puzzlemark.habits.guessing import BACKING, guess_by_counts
from puzzlemark.habits.seen import Gathering, Seen, Spot
from puzzlemark.syntax.surroundings import HOLE, Surroundings

NAMES = ("i", "idx", "index")


def surroundings(call: str) -> Surroundings:
    window = (":", "\n", "for", HOLE, "in", call, "(")
    heads, words = (f"{call}()",), (call, "rows")
    return Surroundings("work", "for_statement block", heads, (window,), words, ("rows",), 1, 2)


def gather(found: Sequence[tuple[int, str, str]]) -> Seen:
    """Of each the number of its name, its project, and the function that it is bound to."""
    gathering = Gathering()
    for record, (member, project, call) in enumerate(found):
        gathering.add(Spot("python", NAMES, member, False, surroundings(call)), record, project, "")
    return gathering.seen()


def by_habit(many: int, seed: int = 0) -> list[tuple[int, str, str]]:
    """`i` in nine of ten ranges, `index` in seven of ten searches; projects do not matter."""
    rng = random.Random(seed)
    habits = {"range": (0.9, 0.1, 0.0), "find": (0.0, 0.3, 0.7)}
    calls = [rng.choice(list(habits)) for _ in range(many)]
    return [(rng.choices(range(3), habits[c])[0], rng.choice("pqr"), c) for c in calls]


def test_a_project_backs_off_to_all() -> None:
    seen = gather([(0, "p", "range"), (1, "p", "range"), (2, "q", "range"), (0, "q", "range")])
    guesses = guess_by_counts(seen, np.arange(4))
    wide = np.array([1.5, 1.5, 1.5]) / 4.5  # of the three others each name once, half for none
    assert guesses["everywhere"].chances[0] == pytest.approx(wide)
    assert guesses["project"].chances[0] == pytest.approx(
        (np.array([0, 1, 0]) + BACKING * wide) / 3
    )
    assert guesses["project"].support.tolist() == [1, 1, 1, 1]


def test_no_guess_changes_with_the_name_that_stands_there() -> None:
    found = by_habit(60)
    rows = np.array([7])
    for guesses in zip(
        *(
            guess_all(gather([*found[:7], (member, *found[7][1:]), *found[8:]]), rows).values()
            for member in range(3)
        ),
        strict=True,
    ):
        for other in guesses[1:]:
            assert other.chances == pytest.approx(guesses[0].chances)
            assert other.support == pytest.approx(guesses[0].support)


def test_all_guesses_are_distributions() -> None:
    seen = gather(by_habit(80))
    for guess in guess_all(seen, np.arange(len(seen))).values():
        assert guess.chances.sum(axis=1) == pytest.approx(1)
        assert (guess.chances >= 0).all()


def test_the_chances_are_those_of_nature() -> None:
    found = by_habit(3000)
    seen = gather(found)
    chances = choose(seen, np.arange(len(seen)))
    for call, expected in (("range", (0.9, 0.1, 0.0)), ("find", (0.0, 0.3, 0.7))):
        here = np.array([each[2] == call for each in found])
        assert chances[here].mean(axis=0) == pytest.approx(expected, abs=0.03)
        assert np.abs(chances[here] - expected).mean() < 0.03


def test_chances_are_calibrated_and_the_same_every_time() -> None:
    seen = gather(by_habit(2000, seed=1))
    rows = np.arange(len(seen))
    chances = choose(seen, rows)
    best = chances.argmax(axis=1)
    assert chances.max(axis=1).mean() == pytest.approx((best == seen.members).mean(), abs=0.02)
    np.testing.assert_array_equal(chances, choose(seen, rows))


def test_nothing_and_little_to_learn_from() -> None:
    assert choose(Gathering().seen(), np.arange(0)).shape == (0, 1)
    chances = choose(gather([(0, "p", "range"), (1, "p", "range")]), np.arange(2))
    assert chances.sum(axis=1) == pytest.approx(1)
    assert (chances > 0).all()
