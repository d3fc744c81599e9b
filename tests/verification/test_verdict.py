import json
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from puzzlemark.errors import UsageError
from puzzlemark.verification.terms import Terms
from puzzlemark.verification.tests.base import Outcome, load_test
from puzzlemark.verification.verdict import StoppingRule, Verdict, adjust
from puzzlemark.verification.verdict import decide as decide_by
from puzzlemark.watermarks._design import Mode
from tests.verification.outcomes import DESIGNS, outcome

ARM = st.sampled_from([True, False, None])
OUTCOMES = st.lists(st.builds(outcome, ARM, ARM, ARM), max_size=40)
MODES: tuple[Mode, ...] = ("default", "paper", "sequential")

MISS = outcome(armed=False, control=False, placebo=False)
LEARNT = outcome(armed=True, control=False, placebo=False)
COMPOSED = outcome(armed=True, control=False, placebo=True)
BACKWARDS = outcome(armed=False, control=True, placebo=True)
FAILED = outcome(armed=None, control=False, placebo=False)


def decide(
    outcomes: Sequence[Outcome],
    strategy: str = "fixed",
    *,
    unasked: int = 0,
    supplied: bool = False,
    notes: Sequence[str] = (),
    **terms: Any,
) -> Verdict:
    return decide_by(
        outcomes,
        design=DESIGNS[strategy],
        terms=Terms(**terms),
        unasked=unasked,
        supplied=supplied,
        notes=notes,
    )


def stopping_point(outcomes: Sequence[Outcome]) -> int | None:
    return StoppingRule(DESIGNS["fixed"], Terms(mode="sequential", alpha=0.001)).read(outcomes)


def innocent(rate: float, pairs: int, seed: int) -> list[Outcome]:
    rng = np.random.default_rng(seed)
    return [outcome(*map(bool, row)) for row in rng.random((pairs, 3)) < rate]


@pytest.mark.parametrize("mode", MODES)
def test_a_learnt_habit_is_detected(mode: Mode) -> None:
    verdict = decide([LEARNT, MISS] * 50, mode=mode)
    assert verdict.word == "detected"
    assert verdict.decisive
    assert all(finding.is_significant for finding in verdict.decisive)
    assert {finding.direction for finding in verdict.decisive} == {"armed above"}


@pytest.mark.parametrize("mode", MODES)
def test_a_model_that_never_hits_is_not_detected(mode: Mode) -> None:
    verdict = decide([MISS] * 100, mode=mode)
    assert verdict.word == "not detected"
    assert verdict.smallest_effect is not None
    assert f"{verdict.smallest_effect:.1%} or more would have been shown" in verdict.sentence
    assert "does not say that the model was not trained" in verdict.sentence


@pytest.mark.parametrize("mode", MODES)
def test_hits_of_one_percent_in_all_arms_are_not_detected(mode: Mode) -> None:
    words = [decide(innocent(0.01, 500, seed), mode=mode).word for seed in range(10)]
    assert words == ["not detected"] * 10


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("strategy", ["fixed", "universal"])
def test_hits_in_the_wrong_direction_are_never_detected(mode: Mode, strategy: str) -> None:
    verdict = decide([BACKWARDS] * 60 + [MISS] * 40, strategy=strategy, mode=mode)
    assert verdict.word == "not detected"
    assert any("no mark explains that" in caveat for caveat in verdict.caveats)
    if mode == "paper":
        assert verdict.decisive[0].is_significant  # two-sided, so only the direction speaks


def test_the_papers_test_accuses_a_composing_innocent_and_says_what_is_wrong_with_it() -> None:
    outcomes = [COMPOSED] * 10 + [MISS] * 490
    paper = decide(outcomes, mode="paper")
    assert paper.word == "detected"
    assert "reached the model's training" not in paper.sentence
    assert "read the fair comparison" in paper.sentence
    assert any("does not confirm" in caveat for caveat in paper.caveats)
    assert decide(outcomes).word == "not detected"


def test_the_decisive_test_follows_from_mode_and_strategy() -> None:
    chosen = {}
    for mode in MODES:
        for name in ("fixed", "universal"):
            decision = Terms(mode=mode).decision(DESIGNS[name])
            chosen[mode, name] = (load_test(decision.test).decides, decision.against)
    assert chosen == {
        ("default", "fixed"): ("mcnemar one-sided", ("placebo", "control")),
        ("default", "universal"): ("mcnemar one-sided", ("control",)),
        ("paper", "fixed"): ("fisher two-sided", ("control",)),
        ("paper", "universal"): ("fisher two-sided", ("control",)),
        ("sequential", "fixed"): ("e-process", ("placebo", "control")),
        ("sequential", "universal"): ("e-process", ("control",)),
    }


def test_every_test_stands_beside_the_decisive_one() -> None:
    verdict = decide([LEARNT, MISS] * 20)
    named = {(finding.test, finding.against) for finding in verdict.beside}
    assert len(named) == len(verdict.beside) == 8
    assert ("fisher two-sided", "control") in named
    assert not named & {(verdict.test, against) for against in verdict.against}


def test_the_universal_strategy_needs_no_placebo() -> None:
    outcomes = [outcome(armed=True, control=False)] * 15 + [outcome(False, False)] * 30
    verdict = decide(outcomes, strategy="universal")
    assert verdict.word == "detected"
    assert all(finding.against == "control" for finding in verdict.beside)
    assert decide(outcomes, strategy="fixed").word == "inconclusive"


def test_too_few_pairs_are_inconclusive() -> None:
    assert decide([LEARNT] * 19).word == "inconclusive"
    assert decide([LEARNT] * 20).word == "detected"
    assert "only 19 pairs were usable" in decide([LEARNT] * 19).sentence


def test_too_many_failures_are_inconclusive() -> None:
    assert decide([LEARNT] * 90 + [FAILED] * 10).word == "detected"
    verdict = decide([LEARNT] * 89 + [FAILED] * 11)
    assert verdict.word == "inconclusive"
    assert "11 of 100 pairs failed" in verdict.sentence


def test_a_budget_that_ended_early_is_inconclusive_unless_the_test_may_stop() -> None:
    outcomes = [LEARNT] * 40
    assert decide(outcomes, unasked=1).word == "inconclusive"
    assert decide(outcomes, mode="paper", unasked=1).word == "inconclusive"
    assert decide(outcomes, mode="sequential", unasked=1).word == "detected"
    quiet = decide([MISS] * 40, mode="sequential", unasked=1)
    assert quiet.word == "inconclusive"


def test_no_probe_at_all_is_not_applicable() -> None:
    verdict = decide([])
    assert verdict.word == "not applicable"
    assert verdict.decisive == ()
    assert verdict.log10_p is None
    assert verdict.smallest_effect is None
    assert decide([FAILED]).word == "inconclusive"


def test_sequential_mode_reads_no_further_than_its_stop() -> None:
    outcomes = [MISS, *[LEARNT] * 30]
    assert stopping_point(outcomes) == 14  # 13 unopposed hits
    verdict = decide(outcomes, mode="sequential", alpha=0.001)
    again = decide([*outcomes, *[BACKWARDS] * 100], mode="sequential", alpha=0.001)
    assert verdict == again
    assert verdict.read == 14
    assert verdict.comparisons[1].pairs == 14
    assert stopping_point(outcomes[:13]) is None


def test_sequential_mode_does_not_stop_while_too_many_pairs_failed() -> None:
    outcomes = [FAILED] * 2 + [LEARNT] * 30
    assert stopping_point(outcomes) == 20
    assert decide(outcomes, mode="sequential", alpha=0.001).word == "detected"


def test_a_perfect_watermark_keeps_its_log10_p() -> None:
    verdict = decide([LEARNT] * 1200, mode="paper")
    assert verdict.decisive[0].p == 0.0
    assert verdict.decisive[0].log10_p == pytest.approx(
        math.log10(2) - math.log10(math.comb(2400, 1200)), rel=1e-12
    )


@given(OUTCOMES, st.sampled_from(MODES), st.sampled_from(["fixed", "universal"]))
@settings(deadline=None, max_examples=60)
def test_a_verdict_is_strict_json(outcomes: Sequence[Outcome], mode: Mode, strategy: str) -> None:
    verdict = decide(outcomes, strategy=strategy, mode=mode, min_pairs=1)
    text = json.dumps(verdict.to_json(), allow_nan=False)
    assert json.loads(text)["word"] == verdict.word
    if verdict.word == "detected":
        assert verdict.decisive
        assert all(
            finding.control and finding.armed.rate > finding.control.rate
            for finding in verdict.decisive
        )
        assert all(finding.p <= verdict.terms.alpha for finding in verdict.decisive)


def test_holm_takes_back_a_detection_that_many_verdicts_do_not_support() -> None:
    weak = decide([LEARNT] * 6 + [MISS] * 94)  # p = 1/64
    strong = decide([LEARNT] * 50 + [MISS] * 50)
    nothing = decide([MISS] * 100)
    assert weak.word == "detected"
    corrected = adjust([weak, strong, nothing, nothing, nothing])
    assert [v.word for v in corrected] == ["not detected", "detected", *["not detected"] * 3]
    assert corrected[0].adjusted_log10_p == pytest.approx(math.log10(4 / 64))
    assert "among 5 verdicts" in corrected[0].sentence
    assert replace(corrected[1], family=1, adjusted_log10_p=None) == strong
    assert [v.word for v in adjust([weak, strong])] == ["detected", "detected"]


ALWAYS = outcome(armed=True, control=True, placebo=False)  # the target, whatever the prompt says


@pytest.mark.parametrize("mode", ["default", "sequential"])
def test_a_model_that_always_writes_the_target_is_not_detected(mode: Mode) -> None:
    verdict = decide([ALWAYS] * 110, mode=mode)
    assert verdict.word == "not detected"
    against = {finding.against: finding for finding in verdict.decisive}
    assert against["placebo"].is_significant  # which alone convicted it
    assert against["control"].p == 1.0
    assert verdict.log10_p == 0.0


@pytest.mark.parametrize("mode", ["default", "sequential"])
def test_the_larger_p_counts(mode: Mode) -> None:
    outcomes = [LEARNT] * 12 + [COMPOSED] * 8 + [MISS] * 40
    verdict = decide(outcomes, mode=mode)
    assert verdict.word == "detected"
    assert verdict.log10_p == max(finding.log10_p for finding in verdict.decisive)
    if mode == "default":
        assert [f.p for f in verdict.decisive] == [2.0**-12, 2.0**-20]
        assert "larger log10 p = -3.61" in verdict.sentence


def test_sequential_mode_stops_only_when_both_arms_are_beaten() -> None:
    assert stopping_point([ALWAYS] * 200) is None
    # 13 unopposed hits against the placebo, and as many against the control, 10 pairs later
    assert stopping_point([ALWAYS] * 10 + [LEARNT] * 30) == 23


def test_hits_at_the_natural_ratio_of_a_universal_mark_are_not_detected() -> None:
    outcomes = [outcome(True, False)] * 26 + [outcome(False, True)] * 10
    outcomes += [outcome(False, False)] * 200
    assert decide(outcomes, strategy="universal", ratio=1).word == "detected"
    verdict = decide(outcomes, strategy="universal")
    assert verdict.word == "not detected"
    assert "null ratio 2.9 : 1" in verdict.sentence


def test_a_universal_detection_states_its_ratio_and_what_it_cannot_tell() -> None:
    outcomes = [outcome(True, False)] * 60 + [outcome(False, True)] * 3
    outcomes += [outcome(False, False)] * 40
    verdict = decide(outcomes, strategy="universal")
    assert verdict.word == "detected"
    assert "If an innocent model joins the first two names of a function no" in verdict.sentence
    assert "more than 2.9 times as often" in verdict.sentence
    assert any("cannot be told from one that learnt the mark" in c for c in verdict.caveats)


@pytest.mark.parametrize("strategy", ["fixed", "universal", "trigger"])
def test_training_is_claimed_under_its_condition_only(strategy: str) -> None:
    verdict = decide([LEARNT, MISS] * 50, strategy=strategy)
    assert verdict.word == "detected"
    claim = next(part for part in verdict.sentence.split(". ") if "training" in part)
    assert claim.startswith("If ")
    assert "this means that marked data, or something derived from it, reached" in claim


def test_the_papers_test_of_a_universal_mark_says_that_the_arms_are_not_alike() -> None:
    paper = decide([LEARNT, MISS] * 50, mode="paper", strategy="universal")
    assert paper.word == "detected"
    assert "reached the model's training" not in paper.sentence
    assert any("the next two" in caveat for caveat in paper.caveats)


def test_answers_of_the_owner_are_called_so() -> None:
    verdict = decide([LEARNT] * 40, supplied=True, notes=["a note"])
    assert verdict.sentence.startswith("Detected in answers supplied by the owner: with the")
    assert verdict.caveats[-1] == "a note"


def test_a_ratio_or_an_alpha_of_the_owners_own_is_called_so() -> None:
    told = decide([MISS] * 40, strategy="universal", ratio=9).caveats
    assert any("null ratio is 9 : 1, as the owner chose" in each for each in told)
    defaults = decide([MISS] * 40, strategy="universal").caveats
    assert any("from counts in public code" in each for each in defaults)
    lax = decide([MISS] * 40, alpha=0.9).caveats
    assert any("Alpha is 0.9, more than the usual 0.05" in each for each in lax)
    for limits in ({"min_pairs": 3}, {"max_failed": 0.5}):
        caveats = decide([MISS] * 40, **limits).caveats
        assert any("where 20 and 10% are usual" in each for each in caveats)
    assert not any("are usual" in each for each in defaults)


def test_terms_that_make_no_sense_are_refused() -> None:
    with pytest.raises(UsageError, match="alpha is 0"):
        Terms(alpha=0)
    with pytest.raises(UsageError, match="max_failed is a share"):
        Terms(max_failed=2)
    with pytest.raises(UsageError, match=r"null ratio is 0\.5; it is 1 or more"):
        Terms(ratio=0.5)
    with pytest.raises(UsageError, match="no ratio but 1"):
        Terms(mode="paper", ratio=2).fixed(DESIGNS["fixed"])


def test_every_scheme_has_its_control_to_beat_and_only_a_fixed_prefix_a_placebo() -> None:
    against = {name: design.fair.against for name, design in DESIGNS.items()}
    drawn = {name for name, arms in against.items() if arms == (None,)}  # beaten by a key instead
    assert {name: arms for name, arms in against.items() if name not in drawn} == {
        "fixed": ("placebo", "control"),
        "universal": ("control",),
        "trigger": ("control",),
    }
    for name in drawn:
        assert load_test(DESIGNS[name].fair.test).needs_key


def test_no_pairs_have_no_findings() -> None:
    verdict = decide([outcome(armed=True)] * 3)
    assert (verdict.decisive, verdict.beside) == ((), ())


@given(OUTCOMES, st.integers(1, 7))
@settings(deadline=None)
def test_a_rule_that_reads_as_answers_come_stops_where_one_that_reads_all_stops(
    outcomes: Sequence[Outcome], size: int
) -> None:
    terms = Terms(mode="sequential", alpha=0.4)
    whole = StoppingRule(DESIGNS["fixed"], terms).read(outcomes)
    rule, stopped = StoppingRule(DESIGNS["fixed"], terms), None
    for start in range(0, len(outcomes), size):
        stopped = rule.read(outcomes[start : start + size])
        if stopped is not None:
            break
    assert stopped == whole
