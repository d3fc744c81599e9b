"""The codebook test: bets that a model's answers are the symbols that a key drew, for each carrier.

What is drawn for a carrier, and how likely each symbol was, stands in its probe; which symbol it
was follows from the key alone. Of the answers to a carrier's samples a distribution q over the
symbols is made without the key, and the bet wins q(s) / p(s) when s was drawn. The e-value is exact
for every model that does not depend on the key: see `puzzlemark.statistics.evalues`.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar

import numpy as np

from puzzlemark.statistics.evalues import (
    SMOOTHINGS,
    Bet,
    Evidence,
    bet_on_counts,
    gather,
    smoothed,
)
from puzzlemark.statistics.rates import binomial, estimate
from puzzlemark.verification.tests._codebooks import (
    chances_of,
    describe_rank,
    each_class,
    evidence_lines,
    findings_of,
    seed_of,
    whole,
)
from puzzlemark.verification.tests.base import Counted, Finding, Measure, Outcome, Trial
from puzzlemark.watermarks._design import ARMED
from puzzlemark.watermarks._draws import Draw


@dataclass(frozen=True, slots=True)
class Answered:
    """A carrier that was asked about, and how often each symbol was an answer."""

    draw: Draw
    counts: Mapping[str, int]  # answers that are no symbol abstain

    @property
    def bet(self) -> Bet:
        """What is put on each symbol, without the key."""
        return bet_on_counts(self.counts, chances_of(self.draw))


def answered(outcomes: Iterable[Outcome]) -> Iterator[Answered]:
    """The carriers of outcomes, each class once: the key drew for all its copies together."""
    for draw, outcome in each_class(outcomes, lambda each: ARMED in each.scores):
        scores = Counter(symbol for symbol in outcome.sampled(ARMED) if symbol is not None)
        yield Answered(draw, scores)


@dataclass(frozen=True, slots=True)
class Codebook:
    """Evidence e that the answers follow the key; 1 / e is a p-value, at any time."""

    name: ClassVar[str] = "codebook"
    findings: ClassVar[Mapping[str, str]] = {
        "codebook": "bets on the drawn names",
        "codebook rank": "rank of the key among random keys",
    }
    decides: ClassVar[str] = "codebook"
    measure: ClassVar[Measure] = "e"
    about: ClassVar[str] = (
        "The bets are made without the key, from the answers and the public frequencies; they win "
        "where the name that the key drew was answered more often than it is drawn. For a model "
        "that does not depend on the key, e has mean 1 over all keys, so it reaches 1 / alpha with "
        "a chance of at most alpha. The rank is that of the true key's e among those of other "
        "keys, drawn by the same frequencies: an exact p-value by itself."
    )
    takes_ratio: ClassVar[bool] = False
    needs_key: ClassVar[bool] = True

    def judge(self, trial: Trial) -> tuple[Finding, ...]:
        """The evidence of all carriers, and the rank of the true key."""
        if trial.outcomes is None or trial.key is None or trial.comparison.against is not None:
            return ()
        carriers = list(answered(trial.outcomes))
        drawn = [each.draw.symbol(trial.key) for each in carriers]
        bets = [each.bet for each in carriers]
        evidence = gather(zip(bets, drawn, strict=True))
        given = sum(sum(each.counts.values()) for each in carriers)
        agreed = sum(
            each.counts.get(symbol, 0) for each, symbol in zip(carriers, drawn, strict=True)
        )
        expected = sum(
            float(each.draw.prior[symbol]) * count
            for each in carriers
            for symbol, count in each.counts.items()
        )
        rate = estimate(agreed, given) if given else None
        statistic = {
            "carriers": len(carriers),
            "answered": sum(bool(each.counts) for each in carriers),
            "answers": given,
            "agreed": agreed,
            "expected": expected,
        }
        seed = seed_of((each.draw, each.counts) for each in carriers)
        return findings_of(trial, "codebook", bets, evidence, statistic, rate, seed)

    def describe(self, finding: Finding) -> str:
        """The evidence and what it rests on, or the rank."""
        fields = finding.statistic
        return describe_rank(finding) or (
            f"log10 e = {fields['log10_e']:.2f} from {fields['carriers']:,} carriers; "
            f"{fields['agreed']:,} of {fields['answers']:,} answers agreed, where "
            f"{fields['expected']:.1f} would by chance"
        )

    def tables(
        self,
        findings: Mapping[str, Finding],
        outcomes: Sequence[Outcome],  # noqa: ARG002
    ) -> tuple[Counted, ...]:
        """What was asked and answered, and what agreed with the key."""
        fields = findings["codebook"].statistic
        lines: dict[str, tuple[int | str, ...]] = {
            "carriers that were asked about": (whole(fields["carriers"]),),
            "of them with a name of the set among the answers": (whole(fields["answered"]),),
            "answers that are a name of the set": (whole(fields["answers"]),),
            "of them the name that the key drew": (whole(fields["agreed"]),),
            "as many would be by chance": (f"{fields['expected']:.1f}",),
        }
        evidence = evidence_lines(findings, "codebook")
        return (Counted("Answers and the key", "", ("number",), {**lines, **evidence}),)

    def power(
        self,
        pairs: int,
        *,
        hit_rate: float,
        control_rate: float,  # noqa: ARG002
        alpha: float,
        ratio: Fraction,  # noqa: ARG002
    ) -> float:
        """The chance when each carrier has two names, equally likely, and one answer is given.

        `hit_rate` of the answers agree with the key. By chance it would be half of them.
        """
        prior = {"drawn": 0.5, "other": 0.5}
        logs = {
            symbol: np.log([smoothed({symbol: 1}, prior, a)["drawn"] / 0.5 for a in SMOOTHINGS])
            for symbol in prior
        }
        agreed = np.arange(pairs + 1)
        each = np.outer(agreed, logs["drawn"]) + np.outer(pairs - agreed, logs["other"])
        mixed = np.logaddexp.reduce(each, axis=1) - math.log(len(SMOOTHINGS))
        enough = mixed >= -math.log(alpha)
        return float(binomial(pairs, hit_rate)[enough].sum())

    def watch(
        self,
        against: str | None,  # noqa: ARG002
        *,
        alpha: float,
        ratio: Fraction,  # noqa: ARG002
        key: bytes | None,
    ) -> "Watching":
        """Begin with no evidence; each carrier's bet is made before its symbol is looked at."""
        return Watching(alpha, key)


@dataclass(slots=True)
class Watching:
    """The evidence carrier by carrier; what sufficed once suffices."""

    alpha: float
    key: bytes | None = field(repr=False)
    evidence: Evidence = field(default_factory=Evidence)
    suffices: bool = False
    seen: set[tuple[str, str]] = field(default_factory=set)

    def observe(self, outcome: Outcome) -> bool:
        """Bet on one more carrier, unless the evidence has sufficed."""
        for each in answered([outcome]):
            unit = each.draw.group, each.draw.unit
            if self.key is None or self.suffices or unit in self.seen:
                continue
            self.seen.add(unit)
            self.evidence = self.evidence.after(each.bet, each.draw.symbol(self.key))
            self.suffices = self.evidence.log10_e >= -math.log10(self.alpha)
        return self.suffices


PLUGIN = Codebook
