"""From outcomes to a verdict: one decisive test, fixed in advance, the others beside it.

The armed arm must beat every fair arm (an intersection-union test): the null hypothesis is that at
least one of the comparisons shows nothing, so the larger p counts, and no correction is due.
"""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from puzzlemark.errors import UsageError
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
    against: tuple[Against, ...]  # the arms that the armed one must beat
    log10_p: float | None  # the larger one of the decisive findings
    decisive: tuple[Finding, ...]  # one for each arm to beat; none when an arm had no usable pair
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


def decide(
    outcomes: Sequence[Outcome],
    *,
    setting: Setting,
    unasked: int = 0,
    supplied: bool = False,
    notes: Sequence[str] = (),
) -> Verdict:
    """Judge outcomes in the order of their probes; `unasked` pairs were planned and never asked.

    Sequential mode reads no further than the pair at which the evidence sufficed, so that answers
    which arrived in the same batch change nothing. `supplied`: the answers are the owner's own
    file or function, not those of a model that was asked. `notes` join the caveats.
    """
    stop = stopping_point(outcomes, setting) if setting.mode == "sequential" else None
    read = outcomes[:stop]
    comparisons = tuple(count(read, against) for against in setting.arms)
    return _decide(read, comparisons, setting, unasked, supplied, notes)


def decide_again(
    comparisons: Sequence[Comparison], *, setting: Setting, unasked: int = 0
) -> Verdict:
    """The verdict on a run of which only the counts were kept; sequential mode needs more."""
    if setting.mode == "sequential":
        raise UsageError("a sequential run cannot be judged again from its counts alone")
    return _decide(None, comparisons, setting, unasked, supplied=False, notes=())


def _decide(
    outcomes: Sequence[Outcome] | None,
    comparisons: Sequence[Comparison],
    setting: Setting,
    unasked: int,
    supplied: bool,
    notes: Sequence[str],
) -> Verdict:
    findings = [
        finding
        for comparison in comparisons
        for finding in find(outcomes, comparison, alpha=setting.alpha, ratio=setting.null_ratio)
    ]
    decisive = _decisive(findings, setting)
    to_beat = [c for c in comparisons if c.against in setting.against]
    effect = _smallest_effect(to_beat, setting)
    word, why = _judge(to_beat, decisive, setting, unasked)
    return Verdict(
        word,
        wording.sentence(
            word, decisive, setting=setting, why=why, effect=effect, supplied=supplied
        ),
        setting,
        setting.test,
        setting.against,
        max((finding.log10_p for finding in decisive), default=None),
        decisive,
        tuple(finding for finding in findings if finding not in decisive),
        tuple(comparisons),
        unasked,
        effect,
        (*wording.caveats(decisive, _fair(findings, setting), to_beat, setting=setting), *notes),
    )


def stopping_point(outcomes: Sequence[Outcome], setting: Setting) -> int | None:
    """How many outcomes sequential mode reads before it may stop; None while it may not.

    The evidence has sufficed against every arm to beat, and few enough pairs have failed.
    """
    watched = {against: EProcess(ratio=setting.null_ratio) for against in setting.against}
    failed = dict.fromkeys(setting.against, 0)
    suffices: set[Against] = set()
    for asked, outcome in enumerate(outcomes, start=1):
        for against in setting.against:
            pair = outcome.pair(against)
            if pair is None:
                failed[against] += 1
            elif against not in suffices:
                watched[against] = watched[against].observe(*pair)
                if watched[against].suffices(setting.alpha):
                    suffices.add(against)
        most_failed = max(failed.values())
        if len(suffices) == len(watched) and most_failed <= setting.max_failed * asked:
            return asked
    return None


def adjust(verdicts: Sequence[Verdict]) -> tuple[Verdict, ...]:
    """Correct verdicts on several marks or models, drawn together, by Holm's method.

    A detection that does not survive becomes "not detected"; nothing else changes its word.
    """
    ps = [0.0 if v.log10_p is None else v.log10_p for v in verdicts]
    return tuple(
        _adjusted(verdict, log10_p, len(verdicts))
        for verdict, log10_p in zip(verdicts, holm(ps), strict=True)
    )


def is_shown(finding: Finding) -> bool:
    """Significant, and in the direction of the mark."""
    return finding.is_significant and finding.direction == "armed above"


def _decisive(findings: Sequence[Finding], setting: Setting) -> tuple[Finding, ...]:
    """The decisive test against every arm to beat; nothing where one of them had no pair."""
    found = {f.against: f for f in findings if f.test == setting.test}
    if any(against not in found for against in setting.against):
        return ()
    return tuple(found[against] for against in setting.against)


def _judge(
    to_beat: Sequence[Comparison], decisive: Sequence[Finding], setting: Setting, unasked: int
) -> tuple[Word, str]:
    """The word, and for a word that is no result the reason."""
    pairs = min(comparison.pairs for comparison in to_beat)
    worst = max(to_beat, key=lambda comparison: comparison.failed_share)
    if worst.pairs + worst.failed + unasked == 0:
        return "not applicable", "there was no probe to ask"
    if worst.failed_share > setting.max_failed:
        share = f"{worst.failed} of {worst.failed + worst.pairs}"
        return "inconclusive", f"{share} pairs failed, more than {setting.max_failed:.0%}"
    shown = len(decisive) > 0 and all(is_shown(finding) for finding in decisive)
    if shown and setting.mode == "sequential":
        return "detected", ""  # valid whenever it stops
    if unasked:
        # a test that is read before its planned end is a look, and looks add up
        return "inconclusive", f"{unasked} planned pairs were never asked"
    if pairs < setting.min_pairs:
        least = f"the least is {setting.min_pairs}"
        return "inconclusive", f"only {pairs} pairs were usable; {least}"
    return ("detected", "") if shown else ("not detected", "")


def _fair(findings: Sequence[Finding], setting: Setting) -> tuple[Finding, ...]:
    """The fair tests beside the paper's."""
    arms = FAIR[setting.strategy]
    return tuple(f for f in findings if f.test == "mcnemar one-sided" and f.against in arms)


def _smallest_effect(to_beat: Sequence[Comparison], setting: Setting) -> float | None:
    """The armed hit rate that would have been shown against each arm; None if none would."""
    largest = 0.0
    for comparison in to_beat:
        if comparison.pairs == 0:
            return None
        effect = smallest_effect(
            setting.method,
            comparison.pairs,
            control_rate=comparison.control_hits / comparison.pairs,
            alpha=setting.alpha,
            power=POWER,
            ratio=setting.null_ratio,
        )
        if effect is None:
            return None
        largest = max(largest, effect)
    return largest


def _adjusted(verdict: Verdict, log10_p: float, family: int) -> Verdict:
    corrected = replace(verdict, family=family, adjusted_log10_p=log10_p)
    if verdict.word != "detected" or log10_p < math.log10(verdict.setting.alpha):
        return corrected
    lost = wording.lost_to_holm(family, log10_p, verdict.setting.alpha)
    return replace(corrected, word="not detected", sentence=lost)
