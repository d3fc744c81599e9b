"""Who sees what marked."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from puzzlemark.errors import UsageError
from puzzlemark.studying.design import Design


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_the_defaults_are_the_papers() -> None:
    design = Design()
    assert (design.snippets, design.marked, design.rounds, design.participants) == (20, 5, 2, 10)
    assert design.marked / (design.snippets - design.marked) == 1 / 3
    assert design.divide(2) == [5, 5]


@given(
    snippets=st.integers(2, 24),
    share=st.floats(0, 1),
    participants=st.integers(1, 12),
    seed=st.integers(0, 99),
)
def test_everybody_sees_as_many_marked_and_each_snippet_is_marked_equally_often(
    snippets: int, share: float, participants: int, seed: int
) -> None:
    marked = 1 + int(share * (snippets - 2))
    drawn = Design("balanced", snippets, marked).assign(rng(seed), participants, draws=3)
    assert drawn.shape == (3, participants, snippets)
    assert (drawn.sum(axis=2) == marked).all()
    counts = drawn.sum(axis=1)
    assert (counts.max(axis=1) - counts.min(axis=1) <= 1).all()


def test_every_choice_of_a_participant_is_as_likely_as_any_other() -> None:
    drawn = Design("balanced", 4, 2).assign(rng(), 3, draws=6_000)
    for participant in range(3):
        chosen = [tuple(np.flatnonzero(row).tolist()) for row in drawn[:, participant]]
        for pair in itertools.combinations(range(4), 2):
            # 1,000 expected, with a standard deviation below 30
            assert abs(chosen.count(pair) - 1_000) < 120


def test_in_the_papers_design_the_same_are_marked_for_everybody() -> None:
    drawn = Design("paper", 20, 5).assign(rng(), 5, draws=50)
    assert (drawn == drawn[:, :1]).all()
    assert (drawn.sum(axis=2) == 5).all()
    assert len({row.tobytes() for row in drawn[:, 0]}) > 40


def test_groups_differ_by_one_participant_at_most() -> None:
    assert Design(participants=11).divide(2) == [6, 5]
    with pytest.raises(UsageError, match="1 participants for 2 languages"):
        Design(participants=1).divide(2)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"marked": 20}, "20 of 20 snippets marked"),
        ({"marked": 0}, "0 of 20 snippets marked"),
        ({"rounds": 3}, "3 rounds"),
        ({"participants": 0}, "needs a participant"),
        ({"kind": "other"}, "no design 'other'"),
    ],
)
def test_a_design_that_shows_nothing_is_refused(options: dict[str, int], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        Design(**options)  # type: ignore[arg-type]
