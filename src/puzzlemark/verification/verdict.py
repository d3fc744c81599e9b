"""From outcomes to a verdict: one decisive test, fixed in advance, the others beside it."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from puzzlemark.statistics.exact import holm
from puzzlemark.verification import wording
from puzzlemark.verification.evidence import FAIR, Against, Comparison, Outcome, count
from puzzlemark.verification.findings import Finding, TestName, find
from puzzlemark.verification.power import POWER, smallest_effect
from puzzlemark.verification.sequential import EProcess
from puzzlemark.verification.setting import Setting

Word = Literal["detected", "not detected", "inconclusive", "not applicable"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """A word, a sentence that claims no more than was shown, and all that they rest on."""

    word: Word
    sentence: str
    setting: Setting
    test: TestName  # the decisive one
    against: Against
    decisive: Finding | None  # None when no pair was usable
    beside: tuple[Finding, ...]
    comparisons: tuple[Comparison, ...]
    unasked: int
    smallest_effect: float | None  # armed hit rate shown with 80% probability by so many pairs
    caveats: tuple[str, ...]
    family: int = 1  # how many verdicts were drawn together
    adjusted_log10_p: float | None = None  # by Holm, when there were several

    def to_json(self) -> dict[str, Any]:
        """Plain values, for verdict.json."""
        return asdict(self)


def decide(outcomes: Sequence[Outcome], *, setting: Setting, unasked: int = 0) -> Verdict:
    """Judge outcomes in the order of their probes; `unasked` pairs were planned and never asked.

    Sequential mode reads no further than the pair at which the evidence sufficed, so that answers
    which arrived in the same batch change nothing.
    """
    stop = stopping_point(outcomes, setting) if setting.mode == "sequential" else None
    read = outcomes[:stop]
    comparisons = tuple(count(read, against) for against in setting.arms)
    findings = [
        finding
        for comparison in comparisons
        for finding in find(read, comparison, alpha=setting.alpha)
    ]
    decisive = next((f for f in findings if _is_decisive(f, setting)), None)
    comparison = next(c for c in comparisons if c.against == setting.against)
    effect = _smallest_effect(comparison, setting)
    word, why = _judge(comparison, decisive, setting, unasked)
    return Verdict(
        word,
        wording.sentence(word, decisive, setting=setting, why=why, effect=effect),
        setting,
        setting.test,
        setting.against,
        decisive,
        tuple(f for f in findings if f is not decisive),
        comparisons,
        unasked,
        effect,
        wording.caveats(decisive, _fair(findings, setting), comparison, setting=setting),
    )


def stopping_point(outcomes: Sequence[Outcome], setting: Setting) -> int | None:
    """How many outcomes sequential mode reads before it may stop; None while it may not.

    The evidence suffices, and few enough pairs have failed.
    """
    evidence, failed = EProcess(), 0
    for asked, outcome in enumerate(outcomes, start=1):
        pair = outcome.pair(setting.against)
        if pair is None:
            failed += 1
            continue
        evidence = evidence.observe(*pair)
        if failed <= setting.max_failed * asked and evidence.suffices(setting.alpha):
            return asked
    return None


def adjust(verdicts: Sequence[Verdict]) -> tuple[Verdict, ...]:
    """Correct verdicts on several marks or models, drawn together, by Holm's method.

    A detection that does not survive becomes "not detected"; nothing else changes its word.
    """
    ps = [0.0 if v.decisive is None else v.decisive.log10_p for v in verdicts]
    return tuple(
        _adjusted(verdict, log10_p, len(verdicts))
        for verdict, log10_p in zip(verdicts, holm(ps), strict=True)
    )


def _judge(
    comparison: Comparison, decisive: Finding | None, setting: Setting, unasked: int
) -> tuple[Word, str]:
    """The word, and for a word that is no result the reason."""
    if comparison.pairs + comparison.failed + unasked == 0:
        return "not applicable", "there was no probe to ask"
    if comparison.failed_share > setting.max_failed:
        share = f"{comparison.failed} of {comparison.failed + comparison.pairs}"
        return "inconclusive", f"{share} pairs failed, more than {setting.max_failed:.0%}"
    shown = decisive is not None and is_shown(decisive)
    if shown and setting.mode == "sequential":
        return "detected", ""  # valid whenever it stops
    if unasked:
        # a test that is read before its planned end is a look, and looks add up
        return "inconclusive", f"{unasked} planned pairs were never asked"
    if comparison.pairs < setting.min_pairs:
        least = f"the least is {setting.min_pairs}"
        return "inconclusive", f"only {comparison.pairs} pairs were usable; {least}"
    return ("detected", "") if shown else ("not detected", "")


def is_shown(finding: Finding) -> bool:
    """Significant, and in the direction of the mark."""
    return finding.is_significant and finding.direction == "armed above"


def _is_decisive(finding: Finding, setting: Setting) -> bool:
    return (finding.test, finding.against) == (setting.test, setting.against)


def _fair(findings: Sequence[Finding], setting: Setting) -> Finding | None:
    """The fair test beside the paper's."""
    wanted = ("mcnemar one-sided", FAIR[setting.strategy])
    return next((f for f in findings if (f.test, f.against) == wanted), None)


def _smallest_effect(comparison: Comparison, setting: Setting) -> float | None:
    if comparison.pairs == 0:
        return None
    return smallest_effect(
        setting.method,
        comparison.pairs,
        control_rate=comparison.control_hits / comparison.pairs,
        alpha=setting.alpha,
        power=POWER,
    )


def _adjusted(verdict: Verdict, log10_p: float, family: int) -> Verdict:
    corrected = replace(verdict, family=family, adjusted_log10_p=log10_p)
    if verdict.word != "detected" or log10_p < math.log10(verdict.setting.alpha):
        return corrected
    lost = wording.lost_to_holm(family, log10_p, verdict.setting.alpha)
    return replace(corrected, word="not detected", sentence=lost)
