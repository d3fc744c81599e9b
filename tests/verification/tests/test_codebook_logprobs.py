"""Bets on log-probabilities: counted by hand, exact over all keys, and beside a reference."""

import math
from collections.abc import Mapping
from fractions import Fraction
from itertools import product
from random import Random

import pytest

from puzzlemark.statistics.evalues import (
    POWERS,
    TILTS,
    bet_on_difference,
    bet_on_logprobs,
    calibrate,
    gather,
)
from puzzlemark.statistics.exact import EVEN
from puzzlemark.verification.tests._codebooks import LOST
from puzzlemark.verification.tests.base import Finding, Outcome, Trial, count, load_test
from puzzlemark.verification.tests.codebook_logprobs import CodebookLogprobs, told
from puzzlemark.watermarks.base import designs
from tests.verification.drawn_names import KEY, WEIGHTS, drawn, probe

NAMES = [name for name, _ in WEIGHTS]
PRIOR = {"val": 0.5, "value": 0.25, "v": 0.25}


def outcome(
    number: int, chances: Mapping[str, float], reference: Mapping[str, float] | None = None
) -> Outcome:
    logs = {"armed": {name: math.log(p) for name, p in chances.items()}}
    beside = {"armed": {name: math.log(p) for name, p in (reference or {}).items()}}
    return Outcome({"armed": None}, probe(number), {}, logs, beside if reference else {})


def judge(outcomes: list[Outcome], key: bytes | None = KEY) -> tuple[Finding, ...]:
    return CodebookLogprobs().judge(Trial(count(outcomes, None), outcomes, 1e-6, EVEN, key))


def sure(name: str, chance: float = 0.9) -> dict[str, float]:
    rest = (1 - chance) / 2
    return {each: chance if each == name else rest for each in NAMES}


def made_up(seed: int, number: int) -> list[dict[str, float]]:
    """Chances that need not add up to 1: a model knows other words, too."""
    rng = Random(seed)
    return [{name: rng.uniform(0.001, 0.3) for name in NAMES} for _ in range(number)]


def test_it_is_found_by_its_name_and_decides_in_the_mode_logprobs() -> None:
    assert isinstance(load_test("codebook_logprobs"), CodebookLogprobs)
    assert designs()["synonyms"].decision("logprobs").test == "codebook_logprobs"


def test_a_hand_counted_value() -> None:
    # with beta = 1/2, p = (1/2, 1/4, 1/4) and pi = (1/8, 1/4, 1/16), the roots of p pi are
    # (1/4, 1/4, 1/8): q = (2/5, 2/5, 1/5), and the factors q / p are 4/5, 8/5, 4/5
    logprobs = {"val": math.log(1 / 8), "value": math.log(1 / 4), "v": math.log(1 / 16)}
    (half,) = bet_on_logprobs(logprobs, PRIOR, (0.5,)).stakes
    assert [half[name] / PRIOR[name] for name in NAMES] == pytest.approx([4 / 5, 8 / 5, 4 / 5])
    # and all four powers, written out
    name = drawn(probe(1))
    factors = []
    for beta in (0.1, 0.25, 0.5, 0.75):
        raised = {s: PRIOR[s] ** (1 - beta) * math.exp(logprobs[s]) ** beta for s in NAMES}
        factors.append(raised[name] / sum(raised.values()) / PRIOR[name])
    found, _ = judge([outcome(1, {s: math.exp(v) for s, v in logprobs.items()})])
    assert found.statistic["log10_e"] == pytest.approx(math.log10(sum(factors) / 4))
    assert found.statistic["carriers"] == 1


def test_a_hand_counted_value_beside_a_reference() -> None:
    # tilt 1: p pi_s / pi_r = (1/2 x 2, 1/4 x 1, 1/4 x 1) = (4, 1, 1) / 4: q = (2/3, 1/6, 1/6)
    suspect = {"val": 0.2, "value": 0.1, "v": 0.1}
    reference = dict.fromkeys(NAMES, 0.1)
    own_logs, other_logs = (
        {s: math.log(p) for s, p in each.items()} for each in (suspect, reference)
    )
    (one,) = bet_on_difference(own_logs, other_logs, PRIOR, (1.0,)).stakes
    assert [one[name] for name in NAMES] == pytest.approx([2 / 3, 1 / 6, 1 / 6])
    # the e-value is the mean of both kinds of bets, and the own ones are told beside
    name = drawn(probe(1))
    found, _ = judge([outcome(1, suspect, reference)])
    own = bet_on_logprobs(own_logs, PRIOR).factors(name)
    apart = bet_on_difference(own_logs, other_logs, PRIOR).factors(name)
    mean = (sum(own) + sum(apart)) / (len(POWERS) + len(TILTS))
    assert found.statistic["log10_e"] == pytest.approx(math.log10(mean))
    assert found.statistic["log10_e_alone"] == pytest.approx(math.log10(sum(own) / 4))
    assert found.statistic["with_reference"] == 1


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("has_reference", [False, True])
def test_the_mean_of_e_over_every_draw_is_one(seed: int, has_reference: bool) -> None:
    references = made_up(seed + 100, 3) if has_reference else [None] * 3
    carriers = list(
        told(
            outcome(n, chances, beside)
            for n, (chances, beside) in enumerate(zip(made_up(seed, 3), references, strict=True))
        )
    )
    mean, values = 0.0, []
    for names in product(NAMES, repeat=3):
        chance = math.prod(each.draw.prior[s] for each, s in zip(carriers, names, strict=True))
        e = 10 ** gather([(c.bet, s) for c, s in zip(carriers, names, strict=True)]).log10_e
        mean += float(chance) * e
        values.append(e)
    assert mean == pytest.approx(1, abs=1e-12)
    assert max(values) > 1.01 > 0.99 > min(values)  # so the mean could have been another one


@pytest.mark.parametrize("power", [0, 1])
def test_the_mean_is_one_exactly_in_fractions(power: int) -> None:
    """Powers 0 and 1 are rational: q is the prior itself, or the model's chances normalised."""
    chances = [
        {"val": Fraction(1, 7), "value": Fraction(2, 9), "v": Fraction(1, 30)},
        {"val": Fraction(1, 2), "value": Fraction(1, 99), "v": Fraction(1, 5)},
    ]
    prior = {name: Fraction(weight, 4) for name, weight in WEIGHTS}
    mean = Fraction(0)
    for names in product(NAMES, repeat=2):
        e, chance = Fraction(1), Fraction(1)
        for each, name in zip(chances, names, strict=True):
            stake = prior if power == 0 else {s: p / sum(each.values()) for s, p in each.items()}
            e *= stake[name] / prior[name]
            chance *= prior[name]
        mean += chance * e
    assert mean == 1
    # and the floats of the product are these fractions
    for each in chances:
        logs = {s: math.log(p) for s, p in each.items()}
        (stake_,) = bet_on_logprobs(logs, PRIOR, (float(power),)).stakes
        exact = prior if power == 0 else {s: p / sum(each.values()) for s, p in each.items()}
        assert {s: stake_[s] for s in NAMES} == pytest.approx({s: float(exact[s]) for s in NAMES})


def test_who_knows_the_names_is_shown_and_by_another_key_is_not() -> None:
    outcomes = [outcome(n, sure(drawn(probe(n)))) for n in range(60)]
    found, ranked = judge(outcomes)
    assert found.is_shown
    assert found.statistic["agreed"] == 60
    assert ranked.p == 1 / 10_000
    assert "place 1 among" in CodebookLogprobs().describe(ranked)
    assert "from 60 carriers; of 60 the drawn name gained most" in CodebookLogprobs().describe(
        found
    )
    other, placed = judge(outcomes, b"another key")
    assert not other.is_shown
    assert other.log10_p == 0
    assert placed.p > 0.01


def test_a_model_that_shares_every_habit_with_the_reference_gains_nothing_by_it() -> None:
    chances = made_up(7, 30)
    both = [outcome(n, each, each) for n, each in enumerate(chances)]
    found, _ = judge(both)
    alone, _ = judge([outcome(n, each) for n, each in enumerate(chances)])
    # where the two agree the bets on their difference are the prior, and win 1
    e_alone = 10 ** float(alone.statistic["log10_e"] or 0)
    assert found.statistic["log10_e"] == pytest.approx(math.log10((e_alone + 1) / 2))
    assert found.statistic["log10_e_alone"] == pytest.approx(alone.statistic["log10_e"])
    assert "held against an innocent model" in CodebookLogprobs().describe(found)


def test_a_class_counts_once_and_what_was_not_told_moves_nothing() -> None:
    asked = [outcome(n, sure(drawn(probe(n)))) for n in range(8)]
    assert judge(asked) == judge([*asked, *asked])
    untold = Outcome({"armed": "val"}, probe(99))
    assert judge(asked)[0].statistic == judge([*asked, untold])[0].statistic
    assert judge([untold]) == ()
    assert judge(asked, None) == ()


def test_a_reference_that_failed_for_one_carrier_leaves_its_own_bets() -> None:
    beside = dict.fromkeys(NAMES, 0.1)
    some = [outcome(1, sure(drawn(probe(1))), beside), outcome(2, sure(drawn(probe(2))))]
    first, second = told(some)
    assert second.reference == {}
    assert [dict(s) for s in second.bet.stakes[len(POWERS) :]] == [PRIOR] * len(TILTS)
    assert judge(some)[0].statistic["with_reference"] == 1
    assert first.reference


def test_a_bet_that_lost_everything_is_still_a_number() -> None:
    # e to the power of minus 10,000 is nothing as a float, and at beta = 1/10 minus 1,000 is, too
    wrong = next(name for name in NAMES if name != drawn(probe(1)))
    logs = {name: 0.0 if name == wrong else -10_000.0 for name in NAMES}
    found, ranked = judge([Outcome({"armed": None}, probe(1), {}, {"armed": logs})])
    assert found.statistic["log10_e"] == LOST
    assert found.log10_p == 0
    # three of four keys lose everything alike: a tie counts against the owner
    assert ranked.p == 1


def enumerated(pairs: int, hit_rate: float, alpha: float) -> float:
    chance = 0.0
    for course in product((True, False), repeat=pairs):
        mean = 0.0
        for beta in POWERS:
            # of two equal names the prior cancels: 0.9^b against 0.1^b
            share = 0.9**beta / (0.9**beta + 0.1**beta)
            mean += math.prod(2 * (share if agrees else 1 - share) for agrees in course)
        if mean / len(POWERS) >= 1 / alpha:
            agreed = sum(course)
            chance += hit_rate**agreed * (1 - hit_rate) ** (pairs - agreed)
    return chance


@pytest.mark.parametrize("hit_rate", [0.5, 0.9])
def test_its_power_is_what_all_courses_say(hit_rate: float) -> None:
    for pairs in (1, 6, 9):
        power = CodebookLogprobs().power(
            pairs, hit_rate=hit_rate, control_rate=0, alpha=0.1, ratio=EVEN
        )
        assert power == pytest.approx(enumerated(pairs, hit_rate, 0.1))
    assert 0 < power < 1


def test_a_rank_becomes_evidence_with_mean_one() -> None:
    # over p = 1/n, 2/n, ..., 1, all equally likely, the mean of 1 / (2 sqrt p) is below 1
    ranks = [10 ** calibrate(math.log10(place / 5000)) for place in range(1, 5001)]
    assert 0.97 < sum(ranks) / 5000 <= 1
    assert calibrate(-8.0) == pytest.approx(4 - math.log10(2))


def test_its_table_says_what_was_scored_and_what_the_reference_changed() -> None:
    beside = dict.fromkeys(NAMES, 0.1)
    outcomes = [outcome(n, sure(drawn(probe(n))), beside if n else None) for n in range(5)]
    findings = {each.test: each for each in judge(outcomes)}
    (counted,) = CodebookLogprobs().tables(findings, outcomes)
    cells = [line[0] for line in counted.lines.values()]
    assert cells[:3] == [5, 4, 5]
    statistic = findings["codebook logprobs"].statistic
    assert cells[3:5] == [f"{statistic[name]:.2f}" for name in ("log10_e_alone", "log10_e")]
    assert str(cells[5]).endswith(" of 10,000")
