"""From outcomes to a verdict: one decisive test, fixed in advance, the others beside it.

The armed arm must beat every fair arm (an intersection-union test): the null hypothesis is that at
least one of the comparisons shows nothing, so the larger p counts, and no correction is due.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from puzzlemark.errors import UsageError
from puzzlemark.statistics.exact import holm
from puzzlemark.verification import wording
from puzzlemark.verification.power import POWER, smallest_effect
from puzzlemark.verification.terms import Terms
from puzzlemark.verification.tests.base import (
    Comparison,
    Finding,
    Outcome,
    OwnAnswers,
    Stopping,
    Trial,
    count,
    count_own,
    load_test,
)
from puzzlemark.watermarks._design import Design

Word = Literal["detected", "not detected", "inconclusive", "not applicable"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """A word, a sentence that claims no more than was shown, and all that they rest on."""

    word: Word
    sentence: str
    design: Design
    terms: Terms
    test: str  # the decisive one, as its finding is called
    against: tuple[str | None, ...]  # the arms that the armed one must beat
    log10_p: float | None  # the larger one of the decisive findings
    decisive: tuple[Finding, ...]  # one for each arm to beat; none when an arm had no usable pair
    beside: tuple[Finding, ...]
    comparisons: tuple[Comparison, ...]
    unasked: int
    smallest_effect: float | None  # armed hit rate shown with 80% probability by so many pairs
    caveats: tuple[str, ...]
    family: int = 1  # how many verdicts were drawn together
    adjusted_log10_p: float | None = None  # by Holm, when there were several

    @property
    def read(self) -> int:
        """How many outcomes it rests on: sequential mode may stop before their end."""
        return self.comparisons[0].pairs + self.comparisons[0].failed

    def to_json(self) -> dict[str, Any]:
        """Plain values, for verdict.json."""
        terms = self.terms
        setting = {
            "mode": terms.mode,
            "strategy": self.design.name,
            "alpha": terms.alpha,
            "min_pairs": terms.min_pairs,
            "max_failed": terms.max_failed,
            "ratio": terms.ratio,
        }
        return {
            "word": self.word,
            "sentence": self.sentence,
            "setting": setting,
            "test": self.test,
            "against": list(self.against),
            "log10_p": self.log10_p,
            "decisive": [asdict(finding) for finding in self.decisive],
            "beside": [asdict(finding) for finding in self.beside],
            "comparisons": [asdict(comparison) for comparison in self.comparisons],
            "unasked": self.unasked,
            "smallest_effect": self.smallest_effect,
            "caveats": list(self.caveats),
            "family": self.family,
            "adjusted_log10_p": self.adjusted_log10_p,
        }


def decide(
    outcomes: Sequence[Outcome],
    *,
    design: Design,
    terms: Terms | None = None,
    unasked: int = 0,
    supplied: bool = False,
    notes: Sequence[str] = (),
    key: bytes | None = None,
) -> Verdict:
    """Judge outcomes in the order of their probes; `unasked` pairs were planned and never asked.

    Sequential mode reads no further than the pair at which the evidence sufficed, so that answers
    which arrived in the same batch change nothing. `supplied`: the answers are the owner's own
    file or function, not those of a model that was asked. `notes` join the caveats. `key`: of the
    watermark, for tests that need it.
    """
    terms = terms or Terms()
    stop = None
    if terms.mode == "sequential":
        stop = StoppingRule(design, terms, key).read(outcomes)
    read = outcomes[:stop]
    arms = dict.fromkeys((*design.others, *terms.decision(design).against))
    comparisons = tuple(count(read, against) for against in arms)
    return _decide(read, comparisons, design, terms, unasked, supplied, notes, key)


def decide_again(
    comparisons: Sequence[Comparison], *, design: Design, terms: Terms, unasked: int = 0
) -> Verdict:
    """The verdict on a run of which only the counts were kept; sequential mode needs more."""
    if terms.mode == "sequential":
        raise UsageError("a sequential run cannot be judged again from its counts alone")
    return _decide(None, comparisons, design, terms, unasked, supplied=False, notes=(), key=None)


def _decide(
    outcomes: Sequence[Outcome] | None,
    comparisons: Sequence[Comparison],
    design: Design,
    terms: Terms,
    unasked: int,
    supplied: bool,
    notes: Sequence[str],
    key: bytes | None,
) -> Verdict:
    ratio = terms.null_ratio(design)
    findings = [
        finding
        for comparison in comparisons
        if comparison.pairs
        for name in design.tests
        for finding in load_test(name).judge(Trial(comparison, outcomes, terms.alpha, ratio, key))
    ]
    against, test = terms.decision(design).against, terms.test(design)
    decisive = _decisive(findings, test.decides, against)
    to_beat = [c for c in comparisons if c.against in against]
    effect = _smallest_effect(to_beat, design, terms)
    own = to_beat
    if outcomes is not None and isinstance(test, OwnAnswers):
        own = [count_own(outcomes, test)]
    word, why = _judge([*own, *to_beat], decisive, terms, unasked)
    return Verdict(
        word,
        wording.sentence(
            word, decisive, design=design, terms=terms, why=why, effect=effect, supplied=supplied
        ),
        design,
        terms,
        test.decides,
        against,
        max((finding.log10_p for finding in decisive), default=None),
        decisive,
        tuple(finding for finding in findings if finding not in decisive),
        tuple(comparisons),
        unasked,
        effect,
        (*wording.caveats(decisive, findings, own, design=design, terms=terms), *notes),
    )


class StoppingRule:
    """When sequential mode may stop asking: it reads outcomes as they come, each of them once.

    The evidence has sufficed against every arm to beat, and few enough pairs have failed.
    """

    def __init__(self, design: Design, terms: Terms, key: bytes | None = None) -> None:
        test = terms.test(design)
        assert isinstance(test, Stopping), "the terms have checked it"
        ratio = terms.null_ratio(design)
        self._against = terms.decision(design).against
        self._watched = [
            test.watch(against, alpha=terms.alpha, ratio=ratio, key=key)
            for against in self._against
        ]
        self._failed = [0] * len(self._watched)
        self._max_failed = terms.max_failed
        self._read = 0

    def read(self, outcomes: Iterable[Outcome]) -> int | None:
        """How many outcomes had been read in all when it might stop; None while it may not."""
        for outcome in outcomes:
            self._read += 1
            for number, against in enumerate(self._against):
                self._failed[number] += outcome.pair(against) is None
            suffices = [watch.observe(outcome) for watch in self._watched]
            if all(suffices) and max(self._failed) <= self._max_failed * self._read:
                return self._read
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


def _decisive(
    findings: Sequence[Finding], test: str, against: Sequence[str | None]
) -> tuple[Finding, ...]:
    """The decisive test against every arm to beat; nothing where one of them had no pair."""
    found = {finding.against: finding for finding in findings if finding.test == test}
    if any(arm not in found for arm in against):
        return ()
    return tuple(found[arm] for arm in against)


def _judge(
    to_beat: Sequence[Comparison], decisive: Sequence[Finding], terms: Terms, unasked: int
) -> tuple[Word, str]:
    """The word, and for a word that is no result the reason."""
    pairs = min(comparison.pairs for comparison in to_beat)
    worst = max(to_beat, key=lambda comparison: comparison.failed_share)
    if worst.pairs + worst.failed + unasked == 0:
        return "not applicable", "there was no probe to ask"
    if worst.failed_share > terms.max_failed:
        share = f"{worst.failed} of {worst.failed + worst.pairs}"
        return "inconclusive", f"{share} pairs failed, more than {terms.max_failed:.0%}"
    shown = len(decisive) > 0 and all(finding.is_shown for finding in decisive)
    if shown and terms.mode == "sequential":
        return "detected", ""  # valid whenever it stops
    if unasked:
        # a test that is read before its planned end is a look, and looks add up
        return "inconclusive", f"{unasked} planned pairs were never asked"
    if pairs < terms.min_pairs:
        least = f"the least is {terms.min_pairs}"
        return "inconclusive", f"only {pairs} pairs were usable; {least}"
    return ("detected", "") if shown else ("not detected", "")


def _smallest_effect(to_beat: Sequence[Comparison], design: Design, terms: Terms) -> float | None:
    """The armed hit rate that would have been shown against each arm; None if none would.

    None, too, for a test that judges by a key: what it needs is no rate of hits.
    """
    largest = 0.0
    if load_test(terms.decision(design).test).needs_key:
        return None
    for comparison in to_beat:
        if comparison.pairs == 0:
            return None
        effect = smallest_effect(
            terms.decision(design).test,
            comparison.pairs,
            control_rate=comparison.control_hits / comparison.pairs,
            alpha=terms.alpha,
            power=POWER,
            ratio=terms.null_ratio(design),
        )
        if effect is None:
            return None
        largest = max(largest, effect)
    return largest


def _adjusted(verdict: Verdict, log10_p: float, family: int) -> Verdict:
    corrected = replace(verdict, family=family, adjusted_log10_p=log10_p)
    if verdict.word != "detected" or log10_p < math.log10(verdict.terms.alpha):
        return corrected
    lost = wording.lost_to_holm(family, log10_p, verdict.terms.alpha)
    return replace(corrected, word="not detected", sentence=lost)
