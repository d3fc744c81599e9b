"""The codebook test: innocent models of every kind, one that remembers, and what counts once."""

import math
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import product
from random import Random

import pytest

from benchmarks.keyed_false_alarms import ALPHAS, MODELS, accuse, bets_of, codebook, logprob_bets
from puzzlemark.statistics.evalues import SMOOTHINGS, gather, smoothed
from puzzlemark.statistics.exact import EVEN
from puzzlemark.statistics.rates import estimate
from puzzlemark.verification.terms import Terms, usual_terms
from puzzlemark.verification.tests.base import Finding, Outcome, Trial, count, load_test
from puzzlemark.verification.tests.codebook import Codebook, answered
from puzzlemark.verification.verdict import decide
from puzzlemark.watermarks._draws import Draw
from puzzlemark.watermarks.base import Arm, Probe, designs

KEY = b"k" * 32
DESIGN = designs()["synonyms"]
NAMES = ("tmp", "temp")
EVENLY = (("tmp", 1), ("temp", 1))


def probe(unit: str, weights: tuple[tuple[str, int], ...] = EVENLY) -> Probe:
    draw = Draw("python/1/tmp", unit, weights)
    arm = Arm(f"def f{unit}(): for ", {name: name for name, _ in weights}, "first")
    return Probe({"armed": arm}, draw)


def outcome(each: Probe, *answers: str | None) -> Outcome:
    return Outcome({"armed": answers[0]}, each, {"armed": answers})


def judge(outcomes: list[Outcome], alpha: float = 1e-6, key: bytes = KEY) -> tuple[Finding, ...]:
    return Codebook().judge(Trial(count(outcomes, None), outcomes, alpha, EVEN, key))


def remembering(carriers: int, samples: int = 5) -> list[Outcome]:
    probes = [probe(str(n)) for n in range(carriers)]
    return [outcome(each, *[drawn(each)] * samples) for each in probes]


def drawn(each: Probe, key: bytes = KEY) -> str:
    assert each.draw is not None
    return each.draw.symbol(key)


def test_it_is_found_by_its_name_and_decides_for_drawn_names() -> None:
    assert isinstance(load_test("codebook"), Codebook)
    assert DESIGN.fair.test == "codebook"
    assert usual_terms(DESIGN) == Terms(alpha=1e-6, temperature=0.7, max_tokens=6, samples=5)


def test_a_hand_counted_value() -> None:
    each = probe("1")
    (found, _) = judge([outcome(each, drawn(each), drawn(each), None)])
    # two answers, both the drawn one of two: (2 + a / 2) / (2 + a) against 1 / 2, averaged
    expected = sum(Fraction(2 + Fraction(a, 2), 2 + a) * 2 for a in (1, 2, 4, 8)) / 4
    assert found.statistic["log10_e"] == pytest.approx(math.log10(expected))
    assert (found.armed.hits, found.armed.trials) == (2, 2)
    assert found.statistic["expected"] == 1.0


def test_the_mean_of_e_over_every_draw_is_one_for_every_course_of_answers() -> None:
    # two carriers with unlike priors, two samples each, all courses of answers
    weights = ((("tmp", 1), ("temp", 1)), (("tmp", 3), ("temp", 1)))
    for answers in product(product((None, *NAMES), repeat=2), repeat=2):
        units = [
            next(answered([outcome(probe(str(n), w), *each)]))
            for n, (w, each) in enumerate(zip(weights, answers, strict=True))
        ]
        mean = Fraction(0)
        for names in product(NAMES, repeat=2):
            for a in SMOOTHINGS:
                e = math.prod(
                    smoothed(u.counts, u.draw.prior, a)[s]
                    for u, s in zip(units, names, strict=True)
                )  # q(s) / p(s) x p(s)
                mean += Fraction(e, len(SMOOTHINGS))
        assert mean == 1
        total = 0.0
        for names in product(NAMES, repeat=2):
            chance = math.prod(u.draw.prior[s] for u, s in zip(units, names, strict=True))
            bets = [(u.bet, s) for u, s in zip(units, names, strict=True)]
            total += float(chance) * 10 ** gather(bets).log10_e
        assert total == pytest.approx(1)


@pytest.mark.parametrize("name", MODELS)
def test_no_innocent_model_is_accused_more_often_than_alpha(name: str) -> None:
    keys = 2_000
    draws = codebook(30)
    alarms = accuse(draws, bets_of(MODELS[name], draws, Random(name)), keys)
    for alpha in ALPHAS:
        # ever: a run that may be stopped at any carrier
        assert estimate(alarms.ever[alpha], keys, confidence=0.999).low <= alpha
        assert alarms.at_end[alpha] <= alarms.ever[alpha]


def test_nor_is_one_by_its_log_probabilities() -> None:
    draws = codebook(30)
    alarms = accuse(draws, logprob_bets(draws, Random(1)), 2_000)
    assert all(estimate(alarms.ever[a], 2_000, confidence=0.999).low <= a for a in ALPHAS)


def test_a_model_that_remembers_is_shown_and_by_another_key_it_is_not() -> None:
    outcomes = remembering(100)
    found, ranked = judge(outcomes)
    assert found.is_shown
    assert found.log10_p == pytest.approx(-float(found.statistic["log10_e"] or 0))
    assert ranked.p == 1 / 10_000
    assert "place 1 among" in Codebook().describe(ranked)
    assert "100 carriers; 500 of 500 answers agreed, where 250.0" in Codebook().describe(found)
    other, placed = judge(outcomes, key=b"another")
    assert not other.is_shown
    assert other.log10_p == 0
    assert placed.p > 0.01


def test_copies_of_a_function_count_once() -> None:
    once = remembering(20)
    assert judge(once) == judge([*once, *once])
    watch = Codebook().watch(None, alpha=1e-6, ratio=EVEN, key=KEY)
    twice = [watch.observe(each) for each in (*once[:8], *once[:8])]
    assert not any(twice)


def test_a_carrier_that_failed_or_said_nothing_of_the_set_moves_nothing() -> None:
    asked = remembering(10)
    silent = outcome(probe("silent"), None, None)
    failed = Outcome({}, probe("failed"))
    plain, padded = judge(asked)[0], judge([*asked, silent, failed])[0]
    assert plain.statistic["log10_e"] == padded.statistic["log10_e"]
    assert padded.statistic["carriers"] == 11
    assert padded.statistic["answered"] == 10


def test_nobody_answers_and_nothing_breaks() -> None:
    found, ranked = judge([outcome(probe(str(n)), None) for n in range(30)])
    assert found.statistic["log10_e"] == 0
    assert ranked.p == 1
    assert not found.is_shown


def test_watching_stops_where_the_evidence_of_those_so_far_suffices() -> None:
    outcomes = remembering(60)
    watch = Codebook().watch(None, alpha=1e-3, ratio=EVEN, key=KEY)
    sufficed = [watch.observe(each) for each in outcomes]
    stop = sufficed.index(True) + 1
    assert sufficed == [False] * (stop - 1) + [True] * (61 - stop)
    assert judge(outcomes[:stop], alpha=1e-3)[0].is_significant
    assert not judge(outcomes[: stop - 1], alpha=1e-3)[0].is_significant


@pytest.mark.parametrize("mode", ["default", "sequential"])
def test_a_verdict_says_what_was_shown_and_asserts_at_a_million(mode: str) -> None:
    terms = replace(usual_terms(DESIGN), mode=mode)  # type: ignore[arg-type]
    verdict = decide(remembering(100), design=DESIGN, terms=terms, key=KEY)
    assert verdict.word == "detected"
    assert "The outputs depend on the key." in verdict.sentence
    assert "alpha 1e-06" in verdict.sentence
    assert (verdict.read < 100) is (mode == "sequential")
    weak = decide(remembering(22, 1)[:21], design=DESIGN, terms=usual_terms(DESIGN), key=KEY)
    assert weak.word == "not detected"
    assert -6 < (weak.log10_p or 0) < math.log10(0.05)  # what another alpha would have called one


def test_the_rank_is_the_same_whenever_it_is_computed() -> None:
    assert judge(remembering(12)) == judge(remembering(12))


def enumerated(pairs: int, hit_rate: float, alpha: float) -> float:
    chance = 0.0
    for course in product((True, False), repeat=pairs):
        answers: list[Mapping[str, int]] = [{"a": 1} if agrees else {"b": 1} for agrees in course]
        prior = {"a": Fraction(1, 2), "b": Fraction(1, 2)}
        e = sum(
            math.prod(smoothed(each, prior, w)["a"] * 2 for each in answers) for w in SMOOTHINGS
        )
        if Fraction(e, len(SMOOTHINGS)) >= 1 / Fraction(alpha):
            agreed = sum(course)
            chance += hit_rate**agreed * (1 - hit_rate) ** (pairs - agreed)
    return chance


@pytest.mark.parametrize("hit_rate", [0.5, 0.9, 1.0])
def test_its_power_is_what_all_courses_say(hit_rate: float) -> None:
    for pairs in (1, 5, 9):
        found = Codebook().power(pairs, hit_rate=hit_rate, control_rate=0, alpha=0.1, ratio=EVEN)
        assert found == pytest.approx(enumerated(pairs, hit_rate, 0.1))
