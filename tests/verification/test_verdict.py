import json
import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from puzzlemark.errors import UsageError
from puzzlemark.verification.evidence import Outcome
from puzzlemark.verification.setting import Mode, Setting
from puzzlemark.verification.verdict import adjust, decide, stopping_point

ARM = st.sampled_from([True, False, None])
OUTCOMES = st.lists(st.builds(Outcome, ARM, ARM, ARM), max_size=40)
MODES: tuple[Mode, ...] = ("default", "paper", "sequential")

MISS = Outcome(armed=False, control=False, placebo=False)
LEARNT = Outcome(armed=True, control=False, placebo=False)
COMPOSED = Outcome(armed=True, control=False, placebo=True)
BACKWARDS = Outcome(armed=False, control=True, placebo=True)
FAILED = Outcome(armed=None, control=False, placebo=False)


def innocent(rate: float, pairs: int, seed: int) -> list[Outcome]:
    rng = np.random.default_rng(seed)
    return [Outcome(*map(bool, row)) for row in rng.random((pairs, 3)) < rate]


@pytest.mark.parametrize("mode", MODES)
def test_a_learnt_habit_is_detected(mode: Mode) -> None:
    verdict = decide([LEARNT, MISS] * 50, setting=Setting(mode=mode))
    assert verdict.word == "detected"
    assert verdict.decisive is not None
    assert verdict.decisive.is_significant
    assert verdict.decisive.direction == "armed above"


@pytest.mark.parametrize("mode", MODES)
def test_a_model_that_never_hits_is_not_detected(mode: Mode) -> None:
    verdict = decide([MISS] * 100, setting=Setting(mode=mode))
    assert verdict.word == "not detected"
    assert verdict.smallest_effect is not None
    assert f"{verdict.smallest_effect:.1%} or more would have been shown" in verdict.sentence
    assert "does not say that the model was not trained" in verdict.sentence


@pytest.mark.parametrize("mode", MODES)
def test_hits_of_one_percent_in_all_arms_are_not_detected(mode: Mode) -> None:
    words = [
        decide(innocent(0.01, 500, seed), setting=Setting(mode=mode)).word for seed in range(10)
    ]
    assert words == ["not detected"] * 10


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("strategy", ["fixed", "universal"])
def test_hits_in_the_wrong_direction_are_never_detected(mode: Mode, strategy: str) -> None:
    setting = Setting(mode=mode, strategy="fixed" if strategy == "fixed" else "universal")
    verdict = decide([BACKWARDS] * 60 + [MISS] * 40, setting=setting)
    assert verdict.word == "not detected"
    assert any("no mark explains that" in caveat for caveat in verdict.caveats)
    if mode == "paper":
        assert verdict.decisive is not None
        assert verdict.decisive.is_significant  # two-sided, so only the direction speaks


def test_the_papers_test_accuses_a_composing_innocent_and_says_what_is_wrong_with_it() -> None:
    outcomes = [COMPOSED] * 10 + [MISS] * 490
    paper = decide(outcomes, setting=Setting(mode="paper"))
    assert paper.word == "detected"
    assert "reached the model's training" not in paper.sentence
    assert "read the fair comparison" in paper.sentence
    assert any("does not confirm" in caveat for caveat in paper.caveats)
    assert decide(outcomes, setting=Setting()).word == "not detected"


def test_the_decisive_test_follows_from_mode_and_strategy() -> None:
    chosen = {
        (mode, strategy): (Setting(mode=mode, strategy=strategy).test, setting.against)
        for mode in MODES
        for strategy in ("fixed", "universal")
        if (setting := Setting(mode=mode, strategy=strategy))
    }
    assert chosen == {
        ("default", "fixed"): ("mcnemar one-sided", "placebo"),
        ("default", "universal"): ("mcnemar one-sided", "control"),
        ("paper", "fixed"): ("fisher two-sided", "control"),
        ("paper", "universal"): ("fisher two-sided", "control"),
        ("sequential", "fixed"): ("e-process", "placebo"),
        ("sequential", "universal"): ("e-process", "control"),
    }


def test_every_test_stands_beside_the_decisive_one() -> None:
    verdict = decide([LEARNT, MISS] * 20, setting=Setting())
    named = {(finding.test, finding.against) for finding in verdict.beside}
    assert len(named) == len(verdict.beside) == 9
    assert ("fisher two-sided", "control") in named
    assert (verdict.test, verdict.against) not in named


def test_the_universal_strategy_needs_no_placebo() -> None:
    outcomes = [Outcome(armed=True, control=False)] * 15 + [Outcome(False, False)] * 30
    verdict = decide(outcomes, setting=Setting(strategy="universal"))
    assert verdict.word == "detected"
    assert all(finding.against == "control" for finding in verdict.beside)
    assert decide(outcomes, setting=Setting(strategy="fixed")).word == "inconclusive"


def test_too_few_pairs_are_inconclusive() -> None:
    assert decide([LEARNT] * 19, setting=Setting()).word == "inconclusive"
    assert decide([LEARNT] * 20, setting=Setting()).word == "detected"
    assert "only 19 pairs were usable" in decide([LEARNT] * 19, setting=Setting()).sentence


def test_too_many_failures_are_inconclusive() -> None:
    assert decide([LEARNT] * 90 + [FAILED] * 10, setting=Setting()).word == "detected"
    verdict = decide([LEARNT] * 89 + [FAILED] * 11, setting=Setting())
    assert verdict.word == "inconclusive"
    assert "11 of 100 pairs failed" in verdict.sentence


def test_a_budget_that_ended_early_is_inconclusive_unless_the_test_may_stop() -> None:
    outcomes = [LEARNT] * 40
    assert decide(outcomes, setting=Setting(), unasked=1).word == "inconclusive"
    assert decide(outcomes, setting=Setting(mode="paper"), unasked=1).word == "inconclusive"
    assert decide(outcomes, setting=Setting(mode="sequential"), unasked=1).word == "detected"
    quiet = decide([MISS] * 40, setting=Setting(mode="sequential"), unasked=1)
    assert quiet.word == "inconclusive"


def test_no_probe_at_all_is_not_applicable() -> None:
    verdict = decide([], setting=Setting())
    assert verdict.word == "not applicable"
    assert verdict.decisive is None
    assert verdict.smallest_effect is None
    assert decide([FAILED], setting=Setting()).word == "inconclusive"


def test_sequential_mode_reads_no_further_than_its_stop() -> None:
    setting = Setting(mode="sequential", alpha=0.001)
    outcomes = [MISS, *[LEARNT] * 30]
    assert stopping_point(outcomes, setting) == 14  # 13 unopposed hits
    verdict = decide(outcomes, setting=setting)
    assert verdict == decide([*outcomes, *[BACKWARDS] * 100], setting=setting)
    assert verdict.comparisons[1].pairs == 14
    assert stopping_point(outcomes[:13], setting) is None


def test_sequential_mode_does_not_stop_while_too_many_pairs_failed() -> None:
    setting = Setting(mode="sequential", alpha=0.001)
    outcomes = [FAILED] * 2 + [LEARNT] * 30
    assert stopping_point(outcomes, setting) == 20
    assert decide(outcomes, setting=setting).word == "detected"


def test_a_perfect_watermark_keeps_its_log10_p() -> None:
    verdict = decide([LEARNT] * 1200, setting=Setting(mode="paper"))
    assert verdict.decisive is not None
    assert verdict.decisive.p == 0.0
    assert verdict.decisive.log10_p == pytest.approx(
        math.log10(2) - math.log10(math.comb(2400, 1200)), rel=1e-12
    )


@given(OUTCOMES, st.sampled_from(MODES), st.sampled_from(["fixed", "universal"]))
@settings(deadline=None, max_examples=60)
def test_a_verdict_is_strict_json(outcomes: Sequence[Outcome], mode: Mode, strategy: str) -> None:
    setting = Setting(
        mode=mode, strategy="fixed" if strategy == "fixed" else "universal", min_pairs=1
    )
    verdict = decide(outcomes, setting=setting)
    text = json.dumps(verdict.to_json(), allow_nan=False)
    assert json.loads(text)["word"] == verdict.word
    if verdict.word == "detected":
        assert verdict.decisive is not None
        assert verdict.decisive.armed.rate > verdict.decisive.control.rate
        assert verdict.decisive.p <= setting.alpha


def test_holm_takes_back_a_detection_that_many_verdicts_do_not_support() -> None:
    weak = decide([LEARNT] * 6 + [MISS] * 94, setting=Setting())  # p = 1/64
    strong = decide([LEARNT] * 50 + [MISS] * 50, setting=Setting())
    nothing = decide([MISS] * 100, setting=Setting())
    assert weak.word == "detected"
    corrected = adjust([weak, strong, nothing, nothing, nothing])
    assert [v.word for v in corrected] == ["not detected", "detected", *["not detected"] * 3]
    assert corrected[0].adjusted_log10_p == pytest.approx(math.log10(4 / 64))
    assert "among 5 verdicts" in corrected[0].sentence
    assert replace(corrected[1], family=1, adjusted_log10_p=None) == strong
    assert [v.word for v in adjust([weak, strong])] == ["detected", "detected"]


def test_a_setting_that_makes_no_sense_is_refused() -> None:
    with pytest.raises(UsageError, match="alpha is 0"):
        Setting(alpha=0)
    with pytest.raises(UsageError, match="max_failed is a share"):
        Setting(max_failed=2)
