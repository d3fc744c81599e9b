import json
import math
from fractions import Fraction
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import numpy as np
import pytest
from scipy import stats
from typer.testing import CliRunner

from puzzlemark.cli.__main__ import application
from puzzlemark.embedding.unmarked import FEWEST_CARRIERS
from puzzlemark.errors import UsageError
from puzzlemark.statistics.exact import EVEN, fisher, mcnemar
from puzzlemark.verification.power import (
    MEASURED,
    Answers,
    plan,
    plan_drawn,
    power_of,
    smallest_effect,
)
from puzzlemark.verification.tests.fisher import fisher_boundary
from puzzlemark.verification.tests.sequential import follow

METHODS = ("mcnemar", "fisher", "sequential")
WIDE = Fraction("2.6")
RESULTS = Path(__file__).resolve().parents[2] / "docs/results/rq6"


def is_shown(
    test: str, armed: list[bool], control: list[bool], alpha: float, ratio: Fraction
) -> bool:
    pairs = list(zip(armed, control, strict=True))
    if test == "sequential":
        return follow(pairs, alpha, ratio).stopped
    if test == "mcnemar":
        only = pairs.count((True, False)), pairs.count((False, True))
        return mcnemar(*only, ratio=ratio).p < alpha
    hits = sum(armed), len(pairs), sum(control), len(pairs)
    return sum(armed) > sum(control) and fisher(*hits, two_sided=True).p < alpha


@pytest.mark.parametrize(
    ("test", "ratio"),
    [*((test, EVEN) for test in METHODS), ("mcnemar", WIDE), ("sequential", WIDE)],
)
@pytest.mark.parametrize(
    ("hit_rate", "control_rate"), [(0.15, 0.0), (0.25, 0.1), (0.1, 0.1), (0.5, 0.1)]
)
def test_power_is_what_a_simulation_shows(
    test: str, ratio: Fraction, hit_rate: float, control_rate: float
) -> None:
    runs, pairs = 1500, 60
    rng = np.random.default_rng(3)
    armed = (rng.random((runs, pairs)) < hit_rate).tolist()
    control = (rng.random((runs, pairs)) < control_rate).tolist()
    shown = sum(is_shown(test, a, c, 0.05, ratio) for a, c in zip(armed, control, strict=True))
    power = power_of(test, pairs, hit_rate=hit_rate, control_rate=control_rate, ratio=ratio)
    assert stats.binomtest(shown, runs, power).pvalue > 1e-4


@pytest.mark.parametrize("test", ["rank", "codebook", "codebook_logprobs"])
def test_where_a_key_decides_each_pair_is_one_prompt(test: str) -> None:
    """There is no arm without the trigger to be asked."""
    planned = plan(test, hit_rate=0.95)
    assert planned.prompts == planned.pairs


@pytest.mark.parametrize("test", METHODS)
def test_a_plan_reaches_its_power_and_one_pair_less_does_not(test: str) -> None:
    for hit_rate, control_rate in ((0.6, 0.0), (0.1, 0.0), (0.2, 0.05)):
        planned = plan(test, hit_rate=hit_rate, control_rate=control_rate)
        enough, too_few = (
            power_of(test, pairs, hit_rate=hit_rate, control_rate=control_rate)
            for pairs in (planned.pairs, planned.pairs - 1)
        )
        assert planned.reached == enough >= 0.8
        assert too_few < 0.8
        assert planned.prompts == 2 * planned.pairs


def test_five_sure_hits_are_enough_for_mcnemar_and_four_are_not() -> None:
    assert power_of("mcnemar", 5, hit_rate=1.0) == pytest.approx(1.0)
    assert power_of("mcnemar", 4, hit_rate=1.0) == 0.0
    assert plan("mcnemar", hit_rate=1.0).pairs == 5


@pytest.mark.parametrize("test", METHODS)
def test_no_test_shows_what_is_not_there_more_often_than_alpha(test: str) -> None:
    for rate in (0.0, 0.01, 0.3, 1.0):
        assert power_of(test, 300, hit_rate=rate, control_rate=rate) <= 0.05


@pytest.mark.parametrize("test", METHODS)
def test_the_smallest_effect_is_the_one_whose_plan_is_these_pairs(test: str) -> None:
    for control_rate in (0.0, 0.02):
        effect = smallest_effect(test, 200, control_rate=control_rate)
        assert effect is not None
        reached = [
            power_of(test, 200, hit_rate=effect + step, control_rate=control_rate)
            for step in (-1e-4, 1e-4)
        ]
        assert reached[0] < 0.8 <= reached[1]


def test_500_pairs_show_what_brings_six_hits() -> None:
    effect = smallest_effect("fisher", 500)
    assert effect is not None
    assert stats.binom.sf(5, 500, effect) == pytest.approx(0.8, abs=1e-4)
    assert smallest_effect("mcnemar", 4) is None


@pytest.mark.parametrize(("pairs", "alpha"), [(12, 0.05), (100, 0.05), (60, 0.001), (3, 0.05)])
def test_the_fast_boundary_of_fisher_is_that_of_the_exact_test(pairs: int, alpha: float) -> None:
    for control_hits, fewest in enumerate(fisher_boundary(pairs, pairs, alpha)):
        above = range(control_hits + 1, pairs + 1)
        first = next(
            (x for x in above if fisher(x, pairs, control_hits, pairs, two_sided=True).p < alpha),
            pairs + 1,
        )
        assert fewest == first


def test_sequential_medians_are_those_of_the_hits_that_suffice() -> None:
    # 13 unopposed hits reach 1e3, 24 reach 1e6
    for hit_rate in (0.6, 0.3, 0.1):
        for alpha, hits in ((1e-3, 13), (1e-6, 24)):
            median = hits + int(stats.nbinom.ppf(0.5, hits, hit_rate))
            assert plan("sequential", hit_rate=hit_rate, alpha=alpha).median_pairs == median


def test_what_cannot_be_planned_is_refused() -> None:
    with pytest.raises(UsageError, match="nothing to show"):
        plan("mcnemar", hit_rate=0.1, control_rate=0.1)
    with pytest.raises(UsageError, match="more than 16,384 pairs"):
        plan("mcnemar", hit_rate=0.0001)
    with pytest.raises(UsageError, match="hit rate is 60"):
        plan("mcnemar", hit_rate=60)
    with pytest.raises(UsageError, match="alpha is 0"):
        plan("mcnemar", hit_rate=0.5, alpha=0)
    with pytest.raises(UsageError, match=r"by more than the null ratio of 2\.6"):
        plan("mcnemar", hit_rate=0.2, control_rate=0.1, ratio=WIDE)
    with pytest.raises(UsageError, match="no ratio but 1"):
        plan("fisher", hit_rate=0.2, ratio=WIDE)


def test_the_command_prints_pairs_or_json() -> None:
    done = CliRunner().invoke(application(), ["power", "--hit-rate", "0.1"])
    assert done.exit_code == 0
    assert "66 pairs (132 prompts)" in done.stdout
    words = ["power", "--hit-rate", "0.1", "--test", "sequential", "--alpha", "0.001", "--json"]
    planned = json.loads(CliRunner().invoke(application(), words).stdout)
    assert planned["median_pairs"] == 127
    assert planned["test"] == "sequential"
    stated = CliRunner().invoke(application(), ["power", "--hit-rate", "0.3", "--ratio", "2.6"])
    assert "40 pairs" in stated.stdout  # ten unopposed hits: (2.6 / 3.6) ** 10 < 0.05
    assert "null ratio 2.6 : 1" in stated.stdout
    refused = CliRunner().invoke(application(), ["power", "--hit-rate", "0"])
    assert refused.exit_code == 2


@pytest.mark.parametrize(
    ("answers", "exposures", "carriers"),
    [("labels", 2, 702), ("labels", 3, 72), ("logprobs", 1, 1_717), ("logprobs", 2, 171)],
)
def test_drawn_names_are_planned_as_they_were_measured(
    answers: Any, exposures: int, carriers: int
) -> None:
    planned = plan_drawn(exposures, answers=answers)
    assert planned.carriers == carriers
    assert planned.eligible == 5 * carriers
    assert planned.records == 125 * carriers  # 4 % are eligible
    assert planned.requests == carriers * (5 if answers == "labels" else 1)
    assert "SmolLM2" in planned.source


@pytest.mark.parametrize(("run", "exposures"), [("cpu-80-asked", (3,)), ("cpu_all", (1, 2, 4))])
def test_what_a_carrier_adds_is_what_the_records_say(run: str, exposures: tuple[int, ...]) -> None:
    ways: dict[str, Answers] = {"5 samples": "labels", "log-probabilities": "logprobs"}
    for exposure in exposures:
        found: dict[Answers, list[float]] = {"labels": [], "logprobs": []}
        for path in RESULTS.glob(f"{run}/*/synonyms-share-1-rate-0-1-?/epoch-{exposure}/*s.json"):
            for each in json.loads(path.read_text()):
                if each["role"] == "own" and each["way"] in ways:
                    nats = each["evidence"] * math.log(10) / each["counts"][0]["carriers"]
                    found[ways[each["way"]]].append(nats)
        for answers, nats in found.items():
            if nats:  # answers were not sampled after one exposure
                planned = MEASURED[answers, exposure]
                assert planned is not None
                assert planned.models == len(nats)
                assert planned.nats == pytest.approx(fmean(nats), rel=0.002)
                if len(nats) > 1:
                    assert planned.between == pytest.approx(stdev(nats), rel=0.05)
        assert found["logprobs"]
        assert found["labels"] or exposure == 1


def test_models_that_differ_are_planned_for() -> None:
    """Of models drawn as they were measured, so many show the mark as was asked for."""
    measured, drawn = MEASURED["labels", 2], np.random.default_rng(0)
    assert measured is not None
    for power in (0.3, 0.8, 0.9):
        carriers = plan_drawn(2, power=power).carriers
        of_models = drawn.normal(measured.nats, measured.between, 40_000)
        sums = drawn.normal(carriers * of_models, measured.spread * math.sqrt(carriers))
        assert np.mean(sums >= 6 * math.log(10)) == pytest.approx(power, abs=0.01)


def test_embed_warns_of_fewer_carriers_than_are_planned() -> None:
    assert round(plan_drawn(2).carriers, -2) == FEWEST_CARRIERS


def test_what_no_number_of_carriers_shows_is_refused() -> None:
    with pytest.raises(UsageError, match=r"98% of them show the mark, however many"):
        plan_drawn(2, power=0.99)


def test_more_evidence_and_more_power_need_more_carriers() -> None:
    usual = plan_drawn(3).carriers
    assert plan_drawn(3, log10_e=9).carriers > usual > plan_drawn(3, log10_e=3).carriers
    assert plan_drawn(3, power=0.99).carriers > usual > plan_drawn(3, power=0.5).carriers
    # half of the runs: just the mean, log(1e6) by the nats of a carrier
    assert plan_drawn(3, power=0.5).carriers == math.ceil(6 / 9.29 * 80)
    assert plan_drawn(40).carriers == plan_drawn(4).carriers


def test_what_the_pilots_could_not_show_is_refused() -> None:
    with pytest.raises(UsageError, match="loud channel"):
        plan_drawn(1)
    with pytest.raises(UsageError, match="exposures are 1 or more"):
        plan_drawn(0)
    with pytest.raises(UsageError, match="log10 e is 0"):
        plan_drawn(3, log10_e=0)
    for beyond in (1e300, math.inf, math.nan, 1e-320):
        with pytest.raises(UsageError, match="at most a million"):
            plan_drawn(3, log10_e=beyond)
    assert plan_drawn(3, log10_e=1e6).carriers > plan_drawn(3, log10_e=1e-6).carriers > 0
