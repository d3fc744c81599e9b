"""Every statistical test: exact under the null hypothesis, monotone, and as strong as it says.

All courses of four pairs are enumerated, each with its chance. Nothing is simulated.
"""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import cache
from itertools import product
from math import prod
from typing import Any, get_args

import pytest

from puzzlemark import plugins
from puzzlemark.statistics.exact import EVEN
from puzzlemark.verification.tests.base import (
    Finding,
    Measure,
    Outcome,
    Stopping,
    Trial,
    count,
    load_test,
)
from tests.verification.outcomes import outcome

EVERY = plugins.names("verification.tests")
# A test that needs a key judges more than hits: tests/verification/tests/ has all draws of its key.
NAMES = [name for name in EVERY if not load_test(name).needs_key]
WITH_RATIO = [name for name in NAMES if load_test(name).takes_ratio]
PAIRS = 4
ALPHAS = (0.1, 0.3)
Kind = tuple[bool, bool]  # whether the armed arm hit, and the other one
KINDS: tuple[Kind, ...] = ((True, True), (True, False), (False, True), (False, False))
Course = tuple[Kind, ...]

every_test = pytest.mark.parametrize("name", NAMES)  # of two arms
every_alpha = pytest.mark.parametrize("alpha", ALPHAS)


def outcomes_of(course: Course) -> list[Outcome]:
    return [outcome(armed=armed, control=control) for armed, control in course]


def findings(name: str, course: Course, alpha: float, ratio: Fraction) -> tuple[Finding, ...]:
    outcomes = outcomes_of(course)
    return load_test(name).judge(Trial(count(outcomes, "control"), outcomes, alpha, ratio))


@cache
def shown(name: str, alpha: float, ratio: Fraction) -> frozenset[Course]:
    """The courses in which the finding that decides is shown."""
    decides = load_test(name).decides
    return frozenset(
        course
        for course in product(KINDS, repeat=PAIRS)
        if any(f.is_shown for f in findings(name, course, alpha, ratio) if f.test == decides)
    )


def chance(courses: frozenset[Course], chances: Mapping[Kind, float]) -> float:
    return sum(prod(chances[kind] for kind in course) for course in courses)


def independent(armed: float, control: float) -> dict[Kind, float]:
    return {
        (one, two): (armed if one else 1 - armed) * (control if two else 1 - control)
        for one, two in KINDS
    }


@pytest.mark.parametrize("name", EVERY)
def test_it_says_what_it_is(name: str) -> None:
    test = load_test(name)
    assert test.name == name
    assert test.decides in test.findings
    assert all(words.strip() for words in (*test.findings, *test.findings.values(), test.about))
    assert test.measure in get_args(Measure)
    assert {type(test.takes_ratio), type(test.needs_key)} == {bool}


def test_no_two_tests_find_the_same() -> None:
    names = [finding for name in EVERY for finding in load_test(name).findings]
    assert len(set(names)) == len(names)


@every_test
def test_it_finds_what_it_lists_and_describes_it(name: str) -> None:
    test = load_test(name)
    for course in ((KINDS[1],) * 3, (KINDS[2],) * 3, (KINDS[0], KINDS[3]), (KINDS[3],)):
        found = findings(name, course, 0.05, EVEN)
        assert [finding.test for finding in found] == list(test.findings)
        for finding in found:
            assert test.describe(finding).strip()
            assert finding.against == "control"
            assert finding.log10_p <= 0
            assert finding.p == pytest.approx(10**finding.log10_p)


@every_alpha
@every_test
def test_innocent_models_are_accused_no_more_often_than_alpha(name: str, alpha: float) -> None:
    accused = shown(name, alpha, EVEN)
    for rate in (0.05, 0.3, 0.5, 0.8, 1.0):
        assert chance(accused, independent(rate, rate)) <= alpha


@every_alpha
@pytest.mark.parametrize("name", WITH_RATIO)
def test_nor_are_they_at_the_ratio_of_the_null(name: str, alpha: float) -> None:
    accused = shown(name, alpha, Fraction(3))
    for either in (0.2, 0.8, 1.0):  # share of discordant pairs, three armed for one control
        rest = (1 - either) / 2
        chances = dict(zip(KINDS, (rest, 0.75 * either, 0.25 * either, rest), strict=True))
        assert chance(accused, chances) <= alpha


@every_test
def test_it_is_not_idle(name: str) -> None:
    assert chance(shown(name, 0.3, EVEN), independent(1.0, 0.0)) == 1.0


@every_alpha
@every_test
def test_one_more_armed_hit_never_takes_a_detection_back(name: str, alpha: float) -> None:
    accused = shown(name, alpha, EVEN)
    for course in accused:
        for better in improved(course):
            assert better in accused


def improved(course: Course) -> Iterator[Course]:
    """Each course with an armed hit where an armed miss was."""
    for place, (armed, control) in enumerate(course):
        if not armed:
            yield (*course[:place], (True, control), *course[place + 1 :])


@every_alpha
@every_test
def test_its_power_is_what_the_courses_say(name: str, alpha: float) -> None:
    for ratio in (EVEN, Fraction(3)) if name in WITH_RATIO else (EVEN,):
        for hit_rate, control_rate in ((0.9, 0.0), (0.7, 0.2), (0.4, 0.4), (0.0, 0.5), (1.0, 0.0)):
            rates: dict[str, Any] = {"hit_rate": hit_rate, "control_rate": control_rate}
            power = load_test(name).power(PAIRS, **rates, alpha=alpha, ratio=ratio)
            expected = chance(shown(name, alpha, ratio), independent(hit_rate, control_rate))
            assert power == pytest.approx(expected, abs=1e-9)


@every_test
def test_one_that_stops_has_sufficed_where_its_finding_is_significant(name: str) -> None:
    test = load_test(name)
    if not isinstance(test, Stopping):
        return
    for course in product(KINDS, repeat=PAIRS):
        watch = test.watch("control", alpha=0.3, ratio=EVEN, key=None)
        watch.observe(outcome(armed=True))  # its control failed: it says nothing
        sufficed = [watch.observe(each) for each in outcomes_of(course)]
        (found,) = findings(name, course, 0.3, EVEN)
        assert any(sufficed) == found.is_significant
        assert sufficed == sorted(sufficed)  # what sufficed once suffices
