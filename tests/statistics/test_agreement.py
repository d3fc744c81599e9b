"""Krippendorff's alpha, against its definition, a worked example and a library."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from puzzlemark.statistics.agreement import krippendorff_alpha

units = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=8)


def slow_alpha(found: list[tuple[int, int]]) -> float | None:
    """By the definition: pairs that differ within units, against pairs of all judgements."""
    values = [[1] * yes + [0] * no for yes, no in found if yes + no >= 2]
    pooled = [value for unit in values for value in unit]
    pairs = list(itertools.permutations(pooled, 2))
    expected = sum(a != b for a, b in pairs)
    if not expected:
        return None
    observed = sum(
        sum(a != b for a, b in itertools.permutations(unit, 2)) / (len(unit) - 1) for unit in values
    )
    return 1 - (observed / len(pooled)) / (expected / len(pairs))


@given(units)
def test_it_is_the_definition(found: list[tuple[int, int]]) -> None:
    slow = slow_alpha(found)
    assert krippendorff_alpha(found) == (slow if slow is None else pytest.approx(slow))


def test_a_worked_example() -> None:
    # Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability", A: two observers, ten units
    one = [0, 1, 0, 0, 0, 0, 0, 0, 1, 0]
    two = [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]
    found = [(a + b, 2 - a - b) for a, b in zip(one, two, strict=True)]
    assert krippendorff_alpha(found) == pytest.approx(0.095, abs=5e-4)


def test_agreement_chance_and_nothing_to_compare() -> None:
    assert krippendorff_alpha([(3, 0), (0, 3)]) == 1
    assert krippendorff_alpha([(1, 1), (1, 1)]) == pytest.approx(-0.5)
    assert krippendorff_alpha([(3, 0), (2, 0)]) is None
    assert krippendorff_alpha([(1, 0), (0, 1)]) is None
    assert krippendorff_alpha([]) is None


@given(units)
def test_a_library_agrees(found: list[tuple[int, int]]) -> None:
    library = pytest.importorskip("krippendorff", reason="no krippendorff to compare with")
    ours = krippendorff_alpha(found)
    if ours is not None:
        theirs = library.alpha(value_counts=list(map(list, found)), level_of_measurement="nominal")
        assert ours == pytest.approx(theirs)
