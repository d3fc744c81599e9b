"""The rank among all subsets: against brute force, over all keys, and over thousands of them."""

import math
import random
from collections import Counter
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cache
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from puzzlemark.languages.base import every_language
from puzzlemark.statistics.exact import EVEN
from puzzlemark.verification.tests.base import Finding, Outcome, Trial, count
from puzzlemark.verification.tests.rank import Rank, combine, count_hits, count_sums, rank_p
from puzzlemark.watermarks._pools import Subset
from puzzlemark.watermarks.base import Arm, Probe

PYTHON, JAVA = Subset("python", 1, 4), Subset("java", 1, 4)
Habit = Callable[[int, str], bool]  # whether a model hits, by frame and prefix


def outcomes_of(habit: Habit, subset: Subset = PYTHON, frames: int = 10) -> list[Outcome]:
    return [
        Outcome(
            {"armed": name if habit(frame, name) else None},
            Probe({"armed": Arm(f"{name}, x{frame}", {name: f"{name}_x{frame}"})}, subset=subset),
        )
        for frame in range(frames)
        for name in subset.pool
    ]


def found(outcomes: list[Outcome], key: bytes) -> Finding:
    (finding,) = Rank().judge(Trial(count(outcomes, None), outcomes, 0.05, EVEN, key))
    return finding


@given(st.lists(st.integers(0, 6), min_size=1, max_size=9), st.integers(1, 4))
def test_sums_are_those_of_all_subsets(hits: list[int], number: int) -> None:
    expected = Counter(map(sum, combinations(hits, number)))
    assert +count_sums(hits, number) == +expected
    if number <= len(hits):
        for total in expected:
            p = Fraction(sum(n for s, n in expected.items() if s >= total), sum(expected.values()))
            assert rank_p(count_sums(hits, number), total).p == pytest.approx(float(p))


@given(st.lists(st.integers(0, 5), min_size=2, max_size=7), st.integers(1, 2))
def test_over_all_keys_it_is_exact(hits: list[int], number: int) -> None:
    """Whatever a model does: of all subsets no more than a share a has p <= a."""
    sums = count_sums(hits, number)
    ps = sorted(rank_p(sums, sum(s)).p for s in combinations(hits, number))
    for place, p in enumerate(ps, start=1):
        assert place / len(ps) <= p + 1e-12


def test_two_pools_are_all_pairs_of_subsets() -> None:
    one, other = [0, 1, 3], [2, 0, 0, 1]
    pairs = Counter(sum(a) + sum(b) for a in combinations(one, 1) for b in combinations(other, 2))
    assert combine(count_sums(one, 1), count_sums(other, 2)) == pairs


def test_the_best_that_can_be_had() -> None:
    key = b"k" * 32
    true = PYTHON.drawn(key)
    best = found(outcomes_of(lambda _, name: name in true), key)
    assert best.log10_p == pytest.approx(-math.log10(math.comb(200, 4)))
    assert best.statistic["log10_e"] == pytest.approx(-math.log10(2) - best.log10_p / 2)
    assert best.is_shown
    assert {name: best.statistic[f"hits of {name}"] for name in true} == dict.fromkeys(true, 10)
    three = found(outcomes_of(lambda _, name: name in true[:3]), key)
    # the fourth of the subset may be any other one
    assert three.p == pytest.approx(197 / math.comb(200, 4))
    both = outcomes_of(lambda _, name: name in true)
    both += outcomes_of(lambda _, name: name in JAVA.drawn(key), JAVA)
    assert found(both, key).log10_p == pytest.approx(2 * best.log10_p)


def test_hits_that_are_all_alike_say_nothing() -> None:
    for habit in (lambda _f, _n: True, lambda _f, _n: False):
        finding = found(outcomes_of(habit), b"k" * 32)
        assert (finding.p, finding.log10_p, finding.is_shown) == (1.0, 0.0, False)


def test_every_sample_counts() -> None:
    several = [
        Outcome({"armed": name}, each.probe, {"armed": (name, None, name)})
        for each in outcomes_of(lambda _, __: True, frames=1)
        if each.probe is not None
        for name in each.probe.armed.targets
    ]
    (asked,) = count_hits(several)
    assert set(asked.hits.values()) == {2}
    assert set(asked.answers.values()) == {3}


KEYS = 4_000
FAVOURITES = ("data", "key", "name", "value", "result")
HABITS: Mapping[str, Habit] = {
    "joins all that it sees": lambda _, __: True,
    "never joins": lambda _, __: False,
    "likes a few names": lambda _, name: name in FAVOURITES,
    "likes short names": lambda frame, name: len(name) + frame % 3 < 5,
    "likes the first letters": lambda _, name: name < "e",
    "answers by chance": lambda frame, name: random.Random(f"{frame}{name}").random() < 0.05,
    "likes some frames": lambda frame, _: frame < 3,
}


@cache
def all_draws() -> list[tuple[str, ...]]:
    return [PYTHON.drawn(number.to_bytes(32, "big")) for number in range(KEYS)]


@pytest.mark.parametrize("habit", HABITS)
def test_innocent_models_are_accused_no_more_often_than_alpha(habit: str) -> None:
    """4,000 keys; a rate of alpha may be exceeded by four times its own spread."""
    keys, counts = KEYS, Counter[str]()
    for outcome in outcomes_of(HABITS[habit]):
        assert outcome.probe is not None
        (name,) = outcome.probe.armed.targets
        counts[name] += outcome.scores["armed"] is not None
    sums = count_sums([counts[name] for name in PYTHON.pool], 4)
    p_of = {total: rank_p(sums, total).p for total in sums}
    ps = np.array([p_of[sum(counts[name] for name in drawn)] for drawn in all_draws()])
    for alpha in (0.1, 0.01, 0.001, 1e-4):
        spread = math.sqrt(alpha * (1 - alpha) / keys)
        assert np.mean(ps <= alpha) <= alpha + 4 * spread
    assert np.mean(0.5 / np.sqrt(ps)) < 1.1  # the calibrated e-value


def test_keys_draw_every_subset_alike() -> None:
    drawn = Counter(name for names in all_draws() for name in names)
    assert set(drawn) == set(PYTHON.pool)
    assert 40 < min(drawn.values()) < max(drawn.values()) < 130  # the mean is 80
    assert len(set(PYTHON.drawn(b"k" * 32))) == 4
    assert PYTHON.drawn(b"k" * 32) != Subset("python", 1, 4, "0" * 64).drawn(b"k" * 32)
    assert Subset("python", 9, 4).pool == ()
    assert "version 9" in (Subset("python", 9, 4).why_not() or "")
    assert Subset("python", 1, 200).why_not() is not None


def test_the_pools_are_what_they_should_be() -> None:
    for language in every_language():
        if not language.pool:
            continue
        assert len(set(language.pool)) == len(language.pool) == 200
        assert all(each.isascii() and each.isalpha() and each.islower() for each in language.pool)
        assert not set(language.pool) & language.reserved


@pytest.mark.parametrize(("hit_rate", "control"), [(0.3, 0.01), (0.15, 0.02), (0.6, 0.1)])
def test_its_power_is_that_of_a_simulation(hit_rate: float, control: float) -> None:
    rng, shown, runs = np.random.default_rng(3), 0, 300
    for _ in range(runs):
        true = rng.binomial(10, hit_rate, 4)
        hits = [*true, *rng.binomial(10, control, 196)]
        shown += rank_p(count_sums(map(int, hits), 4), int(true.sum())).p < 1e-4
    power = Rank().power(2_000, hit_rate=hit_rate, control_rate=control, alpha=1e-4, ratio=EVEN)
    assert power == pytest.approx(shown / runs, abs=0.15)
    assert Rank().power(100, hit_rate=1.0, control_rate=0.0, alpha=0.05, ratio=EVEN) == 0.0


def test_it_says_what_it_found() -> None:
    words = Rank().describe(found(outcomes_of(HABITS["likes a few names"]), b"k" * 32))
    assert "answers about the prefixes of the key" in words
    assert "10^7.8 subsets" in words
    assert Rank().judge(Trial(count([], None), None, 0.05)) == ()


def test_its_tables_show_every_prefix_once_and_few_lines() -> None:
    key = b"k" * 32
    true = PYTHON.drawn(key)
    # the first true one hits in all of 30 frames, the others never; a decoy hits in every third
    decoy = next(name for name in PYTHON.pool if name not in true)
    outcomes = outcomes_of(
        lambda frame, name: name == true[0] or (name == decoy and frame % 3 == 0), frames=30
    )
    own, everyone = Rank().tables({"rank": found(outcomes, key)}, outcomes)
    assert next(iter(own.lines)) == true[0]
    assert own.lines[true[0]] == (30, 30, 0)
    assert own.lines[true[1]] == (0, 30, 196)
    assert len(everyone.lines) <= 12
    assert everyone.lines["0 to 2"] == (3, 195)
    assert everyone.lines["9 to 11"] == (0, 1)
    assert everyone.lines["30 to 30"] == (1, 0)
    assert [sum(line[n] for line in everyone.lines.values()) for n in (0, 1)] == [4, 196]  # type: ignore[misc]


def test_a_frame_with_a_failure_is_left_out_whole() -> None:
    """Else decoys could be made to fail where they hit, and the prefixes of the key stand out."""
    key = b"k" * 32
    true = set(PYTHON.drawn(key))
    gluing = set(PYTHON.pool[:20]) | true
    outcomes = outcomes_of(lambda _, name: name in gluing)
    honest = found(outcomes, key)
    failed = [
        Outcome({}, each.probe)
        if set(each.probe.armed.targets) & (gluing - true) and "x0" in each.probe.armed.prompt
        else each
        for each in outcomes
        if each.probe is not None
    ]
    dropped = found(failed, key)
    assert (honest.statistic["answers"], dropped.statistic["answers"]) == (40, 36)
    assert dropped.log10_p == pytest.approx(honest.log10_p, abs=1e-9)
