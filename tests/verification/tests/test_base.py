from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from puzzlemark.errors import UsageError
from puzzlemark.statistics.exact import fisher, mcnemar
from puzzlemark.statistics.rates import estimate
from puzzlemark.verification.tests.base import (
    Finding,
    Outcome,
    Trial,
    by_finding,
    count,
    load_test,
)
from puzzlemark.verification.tests.sequential import EProcess
from tests.verification.outcomes import outcome

ARM = st.sampled_from([True, False, None])
OUTCOMES = st.lists(st.builds(outcome, ARM, ARM, ARM), max_size=30)
AGAINST = ("control", "placebo")
TESTS = ("fisher", "mcnemar", "sequential")


def test_a_hand_counted_run_has_each_pair_in_its_cell() -> None:
    outcomes = [
        outcome(armed=True, control=True),
        outcome(armed=True, control=False),
        outcome(armed=True, control=False),
        outcome(armed=False, control=True),
        outcome(armed=False, control=False),
        outcome(armed=None, control=True),
        outcome(armed=True, control=None),
    ]
    table = count(outcomes, "control")
    assert (table.both, table.armed_only, table.control_only, table.neither) == (1, 2, 1, 1)
    assert (table.pairs, table.armed_hits, table.control_hits) == (5, 3, 2)
    assert table.failed == 2
    assert table.failed_share == 2 / 7


def test_a_failed_arm_is_never_scored_as_a_miss() -> None:
    table = count([outcome(armed=True, control=None, placebo=False)], "control")
    assert table.pairs == 0
    assert table.failed == 1
    assert count([outcome(armed=True, control=None, placebo=False)], "placebo").armed_only == 1


def test_no_outcomes_count_to_nothing() -> None:
    table = count([], "placebo")
    assert (table.pairs, table.failed, table.failed_share) == (0, 0, 0.0)


@given(OUTCOMES)
def test_every_outcome_is_counted_once(outcomes: Sequence[Outcome]) -> None:
    for against in AGAINST:
        table = count(outcomes, against)
        assert table.pairs + table.failed == len(outcomes)
        answered = [o.scores for o in outcomes if {"armed", against} <= set(o.scores)]
        assert table.pairs == len(answered)
        assert table.armed_hits == sum(scores["armed"] == "hit" for scores in answered)
        assert table.control_hits == sum(scores[against] == "hit" for scores in answered)


def test_an_arm_by_itself_is_counted_without_another() -> None:
    table = count([outcome(armed=True), outcome(armed=False), outcome(control=True)], None)
    assert (table.armed_hits, table.control_hits, table.pairs, table.failed) == (1, 0, 2, 1)


def test_a_symbol_is_a_hit_whichever_it_is() -> None:
    scored = [Outcome({"armed": "left", "control": None}), Outcome({"armed": "right"})]
    assert count(scored, "control").armed_only == 1
    assert count(scored, None).armed_hits == 2


def find(outcomes: Sequence[Outcome], against: str) -> list[Finding]:
    counts = count(outcomes, against)
    trial = Trial(counts, outcomes, alpha=0.05)
    return [f for name in TESTS for f in load_test(name).judge(trial) if counts.pairs]


def findings_of(outcomes: list[Outcome]) -> dict[str, Finding]:
    return {f.test: f for f in find(outcomes, "control")}


def test_each_test_sees_the_same_hand_counted_pairs() -> None:
    # 6 armed only, 1 control only, 2 both, 1 neither
    outcomes = [outcome(True, False)] * 6 + [outcome(False, True)]
    outcomes += [outcome(True, True)] * 2 + [outcome(False, False), outcome(True, None)]
    found = findings_of(outcomes)
    assert found["fisher two-sided"].p == fisher(8, 10, 3, 10, two_sided=True).p
    assert found["fisher one-sided"].p == fisher(8, 10, 3, 10, two_sided=False).p
    assert found["fisher one-sided"].statistic == {"odds_ratio": (8 * 7) / (2 * 3)}
    assert found["mcnemar one-sided"].p == mcnemar(6, 1).p == 8 / 128
    assert found["mcnemar one-sided"].statistic == {
        "armed_only": 6, "control_only": 1, "ratio": 1.0,
    }  # fmt: skip
    assert found["mcnemar two-sided"].p == 16 / 128
    assert found["mcnemar two-sided"].statistic == {"armed_only": 6, "control_only": 1}
    assert found["e-process"].statistic == {
        "log10_e": EProcess(6, 1).log10_e, "pairs": 10, "ratio": 1.0,
    }  # fmt: skip
    assert {f.direction for f in found.values()} == {"armed above"}
    assert {f.armed for f in found.values()} == {estimate(8, 10)}
    assert {f.control for f in found.values()} == {estimate(3, 10)}


def test_an_odds_ratio_without_a_value_is_none() -> None:
    assert findings_of([outcome(True, False)])["fisher one-sided"].statistic == {"odds_ratio": None}


def test_the_direction_is_that_of_the_hits() -> None:
    below = findings_of([outcome(False, True)] * 9 + [outcome(True, True)])
    assert {f.direction for f in below.values()} == {"control above"}
    assert below["fisher two-sided"].is_significant
    assert not any(f.is_shown for f in below.values())
    equal = findings_of([outcome(False, True), outcome(True, False)])
    assert {f.direction for f in equal.values()} == {"equal"}


@pytest.mark.parametrize("rate", [0.01, 0.3])
def test_each_test_accuses_a_thousand_innocent_models_no_more_often_than_alpha(
    rate: float,
) -> None:
    models, pairs = 1000, 100
    rng = np.random.default_rng(5)
    alarms: Counter[tuple[str, str]] = Counter()
    for hits in rng.random((models, pairs, 3)) < rate:
        outcomes = [outcome(*row) for row in hits.tolist()]
        for against in AGAINST:
            for finding in find(outcomes, against):
                alarms[finding.test, against] += finding.is_shown
    assert len(alarms) == 10
    assert all(estimate(n, models, confidence=0.999).low <= 0.05 for n in alarms.values()), alarms
    if rate == 0.3:  # the tests are not idle
        assert all(n > 0 for n in alarms.values()), alarms


def test_a_trial_does_not_show_its_key() -> None:
    trial = Trial(count([outcome(armed=True)], None), None, 0.05, key=b"never to be seen")
    assert "never" not in repr(trial)


def test_tests_are_found_by_their_names_and_by_what_they_find() -> None:
    assert load_test("fisher").decides == "fisher two-sided"
    assert {name: test.name for name, test in by_finding(TESTS).items()} == {
        "fisher two-sided": "fisher",
        "fisher one-sided": "fisher",
        "mcnemar one-sided": "mcnemar",
        "mcnemar two-sided": "mcnemar",
        "e-process": "sequential",
    }
    with pytest.raises(UsageError, match=r"no 'chi'.*fisher, mcnemar, rank, sequential"):
        load_test("chi")
