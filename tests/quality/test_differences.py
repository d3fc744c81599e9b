import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from puzzlemark.errors import UsageError
from puzzlemark.quality.differences import compare_means, compare_shares, share
from tests.quality.slow import log_tail_by_quadrature

NUMBERS = st.floats(-100, 100).map(lambda value: round(value, 3))
PAIRS = st.lists(st.tuples(NUMBERS, NUMBERS), min_size=2, max_size=40)


def test_four_samples_as_computed_by_hand() -> None:
    found = compare_means([1, 2, 3, 4], [2, 2, 5, 3])
    # differences 1, 0, 2, -1: mean 1/2, variance 5/3; variances 5/3 and 2
    assert (found.bare, found.marked, found.difference) == (2.5, 3.0, 0.5)
    assert found.paired.t == pytest.approx(0.5 / math.sqrt(5 / 3 / 4))
    assert found.paired.df == 3
    assert found.welch.t == pytest.approx(0.5 / math.sqrt((5 / 3 + 2) / 4))
    assert found.cohens_d == pytest.approx(0.5 / math.sqrt((5 / 3 + 2) / 2))


@given(PAIRS)
def test_the_tests_and_their_intervals_are_those_of_scipy(
    pairs: list[tuple[float, float]],
) -> None:
    bare, marked = (np.array(side) for side in zip(*pairs, strict=True))
    inner = marked - bare
    if min(bare.std(), marked.std(), inner.std()) < 1e-3:
        return  # nothing varies: decided below
    found = compare_means(bare.tolist(), marked.tolist())
    for ours, theirs in (
        (found.welch, stats.ttest_ind(marked, bare, equal_var=False)),
        (found.paired, stats.ttest_rel(marked, bare)),
    ):
        interval = theirs.confidence_interval(0.95)
        assert ours.t == pytest.approx(theirs.statistic, rel=1e-6, abs=1e-9)
        assert ours.df == pytest.approx(theirs.df)
        assert ours.p == pytest.approx(theirs.pvalue, rel=1e-6)
        assert (ours.low, ours.high) == pytest.approx((interval.low, interval.high), rel=1e-6)


def test_a_large_effect_keeps_its_digits_where_p_is_zero() -> None:
    rng = np.random.default_rng(0)
    bare = rng.normal(0, 1, 3000)
    found = compare_means(bare.tolist(), (bare + rng.normal(2, 0.5, 3000)).tolist())
    assert found.paired.p == 0.0
    expected = log_tail_by_quadrature(found.paired.t, found.paired.df) / math.log(10)
    assert found.paired.log10_p == pytest.approx(expected, rel=1e-8)
    assert found.paired.log10_p < -308


def test_the_paired_test_sees_what_the_independent_one_cannot() -> None:
    rng = np.random.default_rng(1)
    bare = rng.uniform(0, 100, 200)
    found = compare_means(bare.tolist(), (bare + rng.normal(1, 1, 200)).tolist())
    assert found.paired.p < 1e-9
    assert found.welch.p > 0.5
    assert found.is_negligible


def test_equal_models_do_not_differ() -> None:
    found = compare_means([1, 2, 3], [1, 2, 3])
    assert (found.paired.t, found.paired.p, found.cohens_d) == (0, 1, 0)
    found = compare_means([5, 5], [5, 5])
    assert (found.welch.p, found.paired.p, found.cohens_d) == (1, 1, 0)


def test_a_shift_of_every_sample_alike_is_certain() -> None:
    found = compare_means([1, 2, 4], [2, 3, 5])
    assert (found.paired.t, found.paired.p) == (math.inf, 0)
    assert (found.paired.low, found.paired.high) == (1, 1)


@pytest.mark.parametrize("sizes", [(0, 0), (1, 1), (3, 2)])
def test_too_few_or_unequal_samples_are_refused(sizes: tuple[int, int]) -> None:
    with pytest.raises(UsageError, match="two or more"):
        compare_means([1.0] * sizes[0], [2.0] * sizes[1])


@given(st.integers(0, 400), st.integers(0, 400))
def test_intervals_of_shares_are_the_exact_ones_of_scipy(count: int, rest: int) -> None:
    if count + rest:
        theirs = stats.binomtest(count, count + rest).proportion_ci(method="exact")
        ours = share(count, count + rest)
        assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), rel=1e-8)


@given(st.integers(0, 300), st.integers(0, 300))
def test_mcnemars_test_is_the_binomial_one(one: int, other: int) -> None:
    expected = stats.binomtest(one, one + other).pvalue if one + other else 1.0
    bare, marked = [True] * one + [False] * other, [False] * one + [True] * other
    assert compare_shares(bare, marked).p == pytest.approx(expected, rel=1e-8)


def test_shares_are_compared_by_the_samples_that_differ() -> None:
    bare = [True] * 3 + [False] * 7
    marked = [False, True, True] + [True] * 6 + [False]
    found = compare_shares(bare, marked)
    assert (found.bare.count, found.marked.count, found.bare.of) == (3, 8, 10)
    assert (found.bare_only, found.marked_only) == (1, 6)
    assert found.p == pytest.approx(2 * (7 + 1) / 2**7)


def test_more_than_all_is_refused() -> None:
    with pytest.raises(UsageError, match="5 of 4"):
        share(5, 4)
