import math
import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate

from puzzlemark.statistics.rates import estimate
from puzzlemark.verification.tests.sequential import EProcess, boundary, follow

COUNT = st.integers(0, 300)
RATIOS = st.sampled_from([Fraction(1), Fraction("2.6"), Fraction(5), Fraction("1.25")])
PAIRS = st.lists(st.tuples(st.booleans(), st.booleans()), max_size=60)


@given(st.integers(0, 40), st.integers(0, 40), RATIOS)
def test_the_closed_form_is_the_integral(
    armed_only: int, control_only: int, ratio: Fraction
) -> None:
    null = float(ratio / (1 + ratio))
    value, _ = integrate.quad(
        lambda theta: (
            (theta / null) ** armed_only * ((1 - theta) / (1 - null)) ** control_only / (1 - null)
        ),
        null,
        1.0,
        epsabs=0,
        epsrel=1e-10,
        limit=200,
    )
    log10_e = EProcess(armed_only, control_only, ratio).log10_e
    assert log10_e == pytest.approx(math.log10(value), abs=1e-8)


def test_evidence_by_hand() -> None:
    assert EProcess().log10_e == 0.0
    assert 10 ** EProcess(1, 0).log10_e == pytest.approx(3 / 2)
    assert 10 ** EProcess(0, 1).log10_e == pytest.approx(1 / 2)
    assert 10 ** EProcess(13, 0).log10_e == pytest.approx((2**14 - 1) / 14)


@given(COUNT, COUNT, RATIOS)
def test_the_evidence_is_a_fair_bet_at_the_ratio_of_the_null(a: int, c: int, r: Fraction) -> None:
    now, better, worse = EProcess(a, c, r), EProcess(a + 1, c, r), EProcess(a, c + 1, r)
    armed = float(r / (1 + r))
    gain, loss = (10 ** (each.log10_e - now.log10_e) for each in (better, worse))
    mean = armed * gain + (1 - armed) * loss
    assert mean == pytest.approx(1.0, rel=1e-9)
    assert worse.log10_e < now.log10_e < better.log10_e


@given(PAIRS, st.randoms(use_true_random=False))
def test_the_order_of_the_pairs_does_not_change_the_evidence(
    pairs: list[tuple[bool, bool]], shuffler: random.Random
) -> None:
    shuffled = list(pairs)
    shuffler.shuffle(shuffled)
    never = 1e-300
    assert follow(pairs, never).evidence == follow(shuffled, never).evidence


@given(PAIRS, st.sampled_from([0.3, 0.05, 0.01]))
def test_following_stops_at_the_first_pair_that_suffices(
    pairs: list[tuple[bool, bool]], alpha: float
) -> None:
    course = follow(pairs, alpha)
    evidence = EProcess()
    reached = [(evidence := evidence.observe(*pair)).suffices(alpha) for pair in pairs]
    assert course.stopped == any(reached)
    assert course.pairs == (reached.index(True) + 1 if any(reached) else len(pairs))


def test_concordant_pairs_say_nothing() -> None:
    assert EProcess(3, 1).observe(True, True) == EProcess(3, 1).observe(False, False)
    assert EProcess(3, 1).observe(True, False) == EProcess(4, 1)
    assert EProcess(3, 1).observe(False, True) == EProcess(3, 2)


def test_evidence_beyond_the_range_of_floats_has_a_logarithm() -> None:
    process = EProcess(3000, 0)
    assert process.log10_e == pytest.approx(math.log10((2**3001 - 1) // 3001), rel=1e-12)
    assert process.significance.p == 0.0
    assert EProcess(0, 9).significance.p == 1.0


@pytest.mark.parametrize("ratio", [Fraction(1), Fraction("2.6")])
@pytest.mark.parametrize("alpha", [0.05, 0.5, 1e-6])
def test_the_boundary_is_where_the_evidence_suffices(alpha: float, ratio: Fraction) -> None:
    for n, fewest in enumerate(boundary(120, alpha, ratio)):
        assert fewest == n + 1 or EProcess(fewest, n - fewest, ratio).suffices(alpha)
        assert not EProcess(fewest - 1, n - fewest + 1, ratio).suffices(alpha)


@pytest.mark.parametrize("ratio", [Fraction(1), Fraction("2.6")])
@pytest.mark.parametrize("alpha", [0.05, 0.2])
def test_innocent_models_cross_the_line_no_more_often_than_alpha(
    alpha: float, ratio: Fraction
) -> None:
    models, most = 10_000, 500
    rng = np.random.default_rng(1)
    armed_only = (rng.random((models, most)) < float(ratio / (1 + ratio))).cumsum(axis=1)
    crossed = (armed_only >= np.array(boundary(most, alpha, ratio)[1:])).any(axis=1)
    # no more than Ville's bound, as far as so many models can tell, and the test is not idle
    assert estimate(int(crossed.sum()), models, confidence=0.999).low <= alpha
    assert crossed.mean() > alpha / 5
