"""The mathematics of the bets, exactly: every draw of every small codebook is enumerated."""

import math
from collections.abc import Mapping
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from puzzlemark.statistics.evalues import (
    SMOOTHINGS,
    Bet,
    Evidence,
    bet_on_counts,
    bet_on_difference,
    bet_on_logprobs,
    calibrate,
    follow,
    gather,
    log_mean,
    rank,
    sample_log10_e,
    smoothed,
)

Prior = Mapping[str, Fraction]
HALF = {"a": Fraction(1, 2), "b": Fraction(1, 2)}
SKEWED = {"a": Fraction(7, 10), "b": Fraction(1, 5), "c": Fraction(1, 10)}
IMPOSSIBLE = {"a": Fraction(2, 3), "b": Fraction(1, 3), "never": Fraction(0)}
# what an innocent model may answer: nothing, always the same, what is frequent, what is rare
ANSWERS: tuple[Mapping[str, int], ...] = ({}, {"a": 5}, {"b": 1, "a": 1}, {"c": 3, "never": 2})
CODEBOOKS = (
    [(HALF, ANSWERS[1]), (SKEWED, ANSWERS[3]), (IMPOSSIBLE, ANSWERS[2])],
    [(SKEWED, ANSWERS[1]), (SKEWED, ANSWERS[2]), (HALF, ANSWERS[0]), (IMPOSSIBLE, ANSWERS[3])],
    [(HALF, ANSWERS[1])] * 6,
)
chances = st.lists(st.integers(1, 50), min_size=2, max_size=5)


def draws(priors: list[Prior]) -> list[tuple[tuple[str, ...], Fraction]]:
    """What every key may draw for some units, with its chance."""
    possible = [[s for s, p in prior.items() if p] for prior in priors]
    return [
        (drawn, Fraction(math.prod(p[s] for p, s in zip(priors, drawn, strict=True))))
        for drawn in product(*possible)
    ]


def exact_e(codebook: list[tuple[Prior, Mapping[str, int]]], drawn: tuple[str, ...]) -> Fraction:
    """The e-value by its definition, in fractions."""
    each = [
        math.prod(
            smoothed(counts, prior, weight)[symbol] / prior[symbol]
            for (prior, counts), symbol in zip(codebook, drawn, strict=True)
        )
        for weight in SMOOTHINGS
    ]
    return Fraction(sum(each), len(each))


@pytest.mark.parametrize("codebook", CODEBOOKS)
def test_the_mean_of_e_over_all_keys_is_exactly_one(
    codebook: list[tuple[Prior, Mapping[str, int]]],
) -> None:
    mean = sum(
        chance * exact_e(codebook, drawn) for drawn, chance in draws([p for p, _ in codebook])
    )
    assert mean == 1


@pytest.mark.parametrize("codebook", CODEBOOKS)
def test_so_it_reaches_one_by_alpha_no_more_often_than_alpha(
    codebook: list[tuple[Prior, Mapping[str, int]]],
) -> None:
    found = [(exact_e(codebook, d), chance) for d, chance in draws([p for p, _ in codebook])]
    for threshold in {e for e, _ in found}:
        assert sum(chance for e, chance in found if e >= threshold) <= 1 / threshold


@pytest.mark.parametrize("codebook", CODEBOOKS)
def test_floats_say_the_same_as_fractions(
    codebook: list[tuple[Prior, Mapping[str, int]]],
) -> None:
    bets = [bet_on_counts(c, {s: float(p) for s, p in prior.items()}) for prior, c in codebook]
    for drawn, _ in draws([p for p, _ in codebook]):
        evidence = gather(zip(bets, drawn, strict=True))
        assert 10**evidence.log10_e == pytest.approx(float(exact_e(codebook, drawn)))


def test_a_hand_counted_bet() -> None:
    # three answers, all a, and the prior as one answer more: (3 + 1/2) / 4 against 1/2
    assert smoothed({"a": 3}, HALF, 1) == {"a": Fraction(7, 8), "b": Fraction(1, 8)}
    assert Bet({"a": 0.5, "b": 0.5}, ({"a": 0.875, "b": 0.125},)).factors("a") == (1.75,)


def test_without_answers_nothing_is_won_or_lost() -> None:
    assert gather([(bet_on_counts({}, {"a": 0.3, "b": 0.7}), "b")]).log10_e == pytest.approx(0)
    assert gather([]).log10_e == 0.0


def test_an_answer_that_cannot_be_drawn_is_none() -> None:
    prior = {"a": 0.5, "b": 0.5, "never": 0.0}
    assert bet_on_counts({"never": 9}, prior) == bet_on_counts({}, prior)


@given(chances, st.lists(st.floats(-40, 0), min_size=5, max_size=5))
def test_every_bet_is_a_distribution_over_what_can_be_drawn(
    weights: list[int], logs: list[float]
) -> None:
    prior = {str(n): w / sum(weights) for n, w in enumerate(weights)}
    suspect, reference = dict(zip("01234", logs, strict=True)), {"0": -1.0, "1": -3.0}
    bets = (
        bet_on_logprobs(suspect, prior),
        bet_on_logprobs(reference, prior),
        bet_on_difference(suspect, reference, prior),
        bet_on_counts({"0": 2, "1": 1}, prior),
    )
    for bet in bets:
        for stake in bet.stakes:
            assert stake.keys() == prior.keys()
            assert all(share >= 0 for share in stake.values())
            assert sum(stake.values()) == pytest.approx(1)


def test_a_model_that_says_nothing_of_the_symbols_is_bet_on_as_the_prior() -> None:
    prior = {"a": 0.25, "b": 0.75}
    for bet in (
        bet_on_logprobs({}, prior),
        bet_on_logprobs({"a": -math.inf}, prior),
        bet_on_difference({"a": -1.0}, {"b": -1.0}, prior),
    ):
        for stake in bet.stakes:
            assert stake == pytest.approx(prior)


def test_a_symbol_that_a_server_leaves_out_is_as_unlikely_as_the_least_it_names() -> None:
    prior = {"a": 0.25, "b": 0.25, "c": 0.5}
    named = bet_on_logprobs({"a": -1.0, "b": -5.0}, prior)
    assert named == bet_on_logprobs({"a": -1.0, "b": -5.0, "c": -5.0}, prior)


def test_the_geometric_bet_is_what_its_formula_says() -> None:
    (stake,) = bet_on_logprobs(
        {"a": math.log(0.9), "b": math.log(0.1)}, {"a": 0.5, "b": 0.5}, (0.5,)
    ).stakes
    a, b = math.sqrt(0.5 * 0.9), math.sqrt(0.5 * 0.1)
    assert stake["a"] == pytest.approx(a / (a + b))


def test_a_reference_takes_a_common_habit_away() -> None:
    prior = {"a": 0.5, "b": 0.5}
    habit = {"a": -0.1, "b": -3.0}
    for stake in bet_on_difference(habit, habit, prior).stakes:
        assert stake == pytest.approx(prior)


def test_evidence_grows_unit_by_unit_to_the_same_end() -> None:
    prior = {"a": 0.5, "b": 0.5}
    bets = [(bet_on_counts({"a": n}, prior), "ab"[n % 2]) for n in range(6)]
    *_, last = follow(bets)
    assert last == gather(bets)
    assert len(list(follow(bets))) == 6


def test_a_bet_that_lost_everything_stays_lost() -> None:
    bet = Bet({"a": 0.5, "b": 0.5}, ({"a": 1.0, "b": 0.0},))
    assert Evidence().after(bet, "b").after(bet, "a").log10_e == -math.inf
    assert log_mean([-math.inf, 0.0]) == pytest.approx(-math.log(2))


def test_other_keys_draw_by_the_prior() -> None:
    bets = [bet_on_counts({"a": 4}, {"a": 0.9, "b": 0.1})]
    found = sample_log10_e(bets, 20_000, seed=1)
    low, high = (gather([(bets[0], symbol)]).log10_e for symbol in "ba")
    assert set(np.round(found, 9)) == {round(low, 9), round(high, 9)}
    # three standard errors around 0.9
    assert np.mean(found > 0) == pytest.approx(0.9, abs=3 * math.sqrt(0.09 / 20_000))
    # the mean of E over the keys is 1
    assert np.mean(10**found) == pytest.approx(1, abs=0.05)


def test_the_rank_is_one_of_many_for_the_best_key_and_all_for_the_worst() -> None:
    bets = [bet_on_counts({"a": 4}, {"a": 0.5, "b": 0.5})] * 20
    best = gather([(bet, "a") for bet in bets]).log10_e
    worst = gather([(bet, "b") for bet in bets]).log10_e
    assert rank(bets, best, 999, seed=0) == Fraction(1, 1000)
    assert rank(bets, worst, 999, seed=0) == 1


def test_the_rank_is_a_p_value() -> None:
    # a quarter of 400 innocent keys may have a rank below a quarter, and so on
    bets = [bet_on_counts({"a": n % 3, "b": 1}, {"a": 0.6, "b": 0.4}) for n in range(12)]
    keys = sample_log10_e(bets, 400, seed=5)
    ranks = [float(rank(bets, float(e), 199, seed=n)) for n, e in enumerate(keys)]
    for alpha in (0.05, 0.25, 0.5):
        share = sum(each <= alpha for each in ranks) / len(ranks)
        assert share <= alpha + 4 * math.sqrt(alpha * (1 - alpha) / len(ranks))


def test_a_p_value_becomes_an_e_value_with_mean_one() -> None:
    middles = (np.arange(10_000) + 0.5) / 10_000
    found = [10 ** calibrate(math.log10(p)) for p in middles]
    assert np.mean(found) == pytest.approx(1, abs=0.01)
    assert 10 ** calibrate(-8.0) == pytest.approx(5_000)
