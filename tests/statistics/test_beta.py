import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from puzzlemark.statistics.beta import beta_quantile, log_beta_tail, log_t_tail, t_quantile
from tests.quality.slow import log_tail_by_quadrature

DEGREES = (1, 2, 3.7, 10, 99.5, 1999, 50_000)


# scipy loses digits at subnormal x: I_5e-324(0.1, 10) is ours by mpmath with 40 digits
@given(st.floats(-1, 4), st.floats(-1, 4), st.floats(0, 1, allow_subnormal=False))
def test_the_incomplete_beta_function_is_that_of_scipy(a: float, b: float, x: float) -> None:
    a, b = 10**a, 10**b
    expected = special.betainc(a, b, x)
    ours = log_beta_tail(a, b, x)
    if expected > 1e-290:
        assert ours == pytest.approx(math.log(expected), rel=1e-8, abs=1e-8)
    else:
        assert ours < math.log(1e-289)


def test_whole_parameters_are_a_binomial_sum() -> None:
    # I_x(k, n - k + 1) = P[Bin(n, x) >= k], summed slowly
    for n, k, x in ((5, 2, 0.3), (12, 12, 0.5), (30, 7, 0.1)):
        slow = sum(math.comb(n, i) * x**i * (1 - x) ** (n - i) for i in range(k, n + 1))
        assert math.exp(log_beta_tail(k, n - k + 1, x)) == pytest.approx(slow, rel=1e-12)


@pytest.mark.parametrize("df", DEGREES)
@pytest.mark.parametrize("t", [0, 1e-12, 1e-6, 0.01, 0.5, 0.999, 1, 2, 5, 20, 100, 1000, 1e8])
def test_the_tail_of_t_is_that_of_scipy(t: float, df: float) -> None:
    tail = 2 * stats.t.sf(t, df)
    if tail > 1e-290:
        assert log_t_tail(t, df) == pytest.approx(math.log(tail), rel=1e-8, abs=1e-8)
    else:
        assert log_t_tail(t, df) < math.log(1e-289)
    assert log_t_tail(-t, df) == log_t_tail(t, df)


@pytest.mark.parametrize("df", [10, 99.5, 1999, 50_000])
@pytest.mark.parametrize("t", [2, 20, 100, 1000])
def test_a_tail_far_below_the_smallest_float_keeps_its_digits(t: float, df: float) -> None:
    assert log_t_tail(t, df) == pytest.approx(log_tail_by_quadrature(t, df), rel=1e-8)


@pytest.mark.parametrize("df", DEGREES)
@pytest.mark.parametrize("confidence", [0.1, 0.5, 0.9, 0.95, 0.9999])
def test_the_quantiles_of_t_are_those_of_scipy(df: float, confidence: float) -> None:
    expected = stats.t.ppf((1 + confidence) / 2, df)
    assert t_quantile(confidence, df) == pytest.approx(expected, rel=1e-8)


def test_a_quantile_undoes_the_tail() -> None:
    rng = np.random.default_rng(0)
    for a, b, x in zip(*(10 ** rng.uniform(-0.5, 3, (2, 50))), rng.uniform(0, 1, 50), strict=True):
        found = beta_quantile(a, b, x)
        assert found == pytest.approx(special.betaincinv(a, b, x), rel=1e-8)
