from collections import Counter

import numpy as np
import pytest

from puzzlemark.statistics.exact import fisher, mcnemar
from puzzlemark.statistics.rates import estimate
from puzzlemark.verification.evidence import AGAINST, Outcome, count
from puzzlemark.verification.findings import Finding, find
from puzzlemark.verification.sequential import EProcess
from puzzlemark.verification.verdict import is_shown


def findings_of(outcomes: list[Outcome]) -> dict[str, Finding]:
    return {f.test: f for f in find(outcomes, count(outcomes, "control"), alpha=0.05)}


def test_each_test_sees_the_same_hand_counted_pairs() -> None:
    # 6 armed only, 1 control only, 2 both, 1 neither
    outcomes = [Outcome(True, False)] * 6 + [Outcome(False, True)]
    outcomes += [Outcome(True, True)] * 2 + [Outcome(False, False), Outcome(True, None)]
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
    assert findings_of([Outcome(True, False)])["fisher one-sided"].statistic == {"odds_ratio": None}


def test_the_direction_is_that_of_the_hits() -> None:
    below = findings_of([Outcome(False, True)] * 9 + [Outcome(True, True)])
    assert {f.direction for f in below.values()} == {"control above"}
    assert below["fisher two-sided"].is_significant
    assert not any(is_shown(f) for f in below.values())
    equal = findings_of([Outcome(False, True), Outcome(True, False)])
    assert {f.direction for f in equal.values()} == {"equal"}


def test_no_pairs_have_no_findings() -> None:
    assert findings_of([Outcome(True, None)]) == {}


@pytest.mark.parametrize("rate", [0.01, 0.3])
def test_each_test_accuses_a_thousand_innocent_models_no_more_often_than_alpha(
    rate: float,
) -> None:
    models, pairs = 1000, 100
    rng = np.random.default_rng(5)
    alarms: Counter[tuple[str, str]] = Counter()
    for hits in rng.random((models, pairs, 3)) < rate:
        outcomes = [Outcome(*row) for row in hits.tolist()]
        for against in AGAINST:
            for finding in find(outcomes, count(outcomes, against), alpha=0.05):
                alarms[finding.test, against] += is_shown(finding)
    assert len(alarms) == 10
    assert all(estimate(n, models, confidence=0.999).low <= 0.05 for n in alarms.values()), alarms
    if rate == 0.3:  # the tests are not idle
        assert all(n > 0 for n in alarms.values()), alarms
