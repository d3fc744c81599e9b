import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from puzzlemark.errors import UsageError
from puzzlemark.statistics.rates import binomial, estimate, upper_bound

HITS = st.integers(1, 2000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(HITS, st.sampled_from([0.8, 0.95, 0.999]))
def test_intervals_are_scipys_clopper_pearson(hits: tuple[int, int], confidence: float) -> None:
    rate = estimate(*hits, confidence=confidence)
    expected = stats.binomtest(*hits).proportion_ci(confidence)
    assert rate.low == pytest.approx(expected.low, rel=1e-8, abs=1e-12)
    assert rate.high == pytest.approx(expected.high, rel=1e-8, abs=1e-12)
    assert rate.low <= rate.rate <= rate.high


@given(HITS)
def test_the_upper_bound_is_a_quantile_of_the_beta_distribution(hits: tuple[int, int]) -> None:
    k, n = hits
    expected = stats.beta.ppf(0.95, k + 1, n - k) if k < n else 1.0
    assert upper_bound(k, n) == pytest.approx(expected, rel=1e-8)


def test_no_hit_in_n_bounds_the_rate_below_three_by_n() -> None:
    assert upper_bound(0, 18) == pytest.approx(0.153, abs=0.0005)
    assert upper_bound(0, 299) < 0.01 <= upper_bound(0, 298)
    for n in (30, 100, 500, 10_000):
        assert 0.9 * 3 / n < upper_bound(0, n) < 3 / n


@pytest.mark.parametrize("rate", [0.0, 1e-4, 0.3, 1.0])
def test_chances_are_those_of_scipys_binomial(rate: float) -> None:
    expected = stats.binom.pmf(np.arange(501), 500, rate)
    np.testing.assert_allclose(binomial(500, rate), expected, rtol=1e-9, atol=1e-300)


def test_no_trials_have_no_rate() -> None:
    with pytest.raises(UsageError, match="ask at least one probe"):
        estimate(0, 0)
    with pytest.raises(UsageError, match="ask at least one probe"):
        upper_bound(3, 2)
