"""The codebook test on log-probabilities: bets from how likely a model finds each symbol.

The same bets as those of `codebook`, with another distribution q over the symbols of a carrier,
made without the key: the model's own chances pi, drawn towards the public prior p. Where an
innocent reference model was asked as well, bets on the difference of the two are made beside, and
the e-value is the mean of both: nobody has to know beforehand which of them is the better one.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from puzzlemark.statistics.evalues import (
    Bet,
    bet_on_difference,
    bet_on_logprobs,
    gather,
    log_mean,
)
from puzzlemark.statistics.rates import binomial, estimate
from puzzlemark.verification.tests._codebooks import (
    LOST,
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
class Told:
    """A carrier of which a model told log-probabilities."""

    draw: Draw
    suspect: Mapping[str, float]
    reference: Mapping[str, float] | None

    @property
    def bet(self) -> Bet:
        """What is put on each symbol, without the key; without a reference, half as many ways."""
        prior = chances_of(self.draw)
        own = bet_on_logprobs(self.suspect, prior)
        if self.reference is None:
            return own
        apart = bet_on_difference(self.suspect, self.reference, prior)
        return Bet(prior, own.stakes + apart.stakes)

    def agrees(self, drawn: str) -> bool:
        """Whether the model gained most, over the prior, on what was drawn."""
        prior = self.draw.prior
        gains = {s: v - math.log(prior[s]) for s, v in self.suspect.items() if prior.get(s)}
        return bool(gains) and max(gains, key=lambda s: gains[s]) == drawn


def told(outcomes: Iterable[Outcome]) -> Iterator[Told]:
    """The carriers of outcomes, each class once; with a reference, those that it was asked about.

    Whether there is one was fixed for the whole run. A carrier that it did not answer has a bet
    that treats the two as agreeing.
    """
    known = list(outcomes)
    has_reference = any(outcome.reference for outcome in known)
    for draw, outcome in each_class(known, lambda each: ARMED in each.logprobs):
        reference = outcome.reference.get(ARMED, {}) if has_reference else None
        yield Told(draw, outcome.logprobs[ARMED], reference)


@dataclass(frozen=True, slots=True)
class CodebookLogprobs:
    """Evidence e that a model's log-probabilities follow the key; 1 / e is a p-value."""

    name: ClassVar[str] = "codebook_logprobs"
    findings: ClassVar[Mapping[str, str]] = {
        "codebook logprobs": "bets on log-probabilities of the drawn names",
        "codebook logprobs rank": "rank of the key among random keys, by log-probabilities",
    }
    decides: ClassVar[str] = "codebook logprobs"
    measure: ClassVar[Measure] = "e"
    about: ClassVar[str] = (
        "The bets on log-probabilities are made without the key, from how likely the model finds "
        "each name of a set and from the public frequencies; where an innocent model was asked, "
        "too, also from what the two find differently likely. For a model that does not depend on "
        "the key, e has mean 1 over all keys."
    )
    takes_ratio: ClassVar[bool] = False
    needs_key: ClassVar[bool] = True
    unit: ClassVar[str] = "scores"
    hits: ClassVar[str] = "favoured most, beyond its frequency, the name that the key had drawn"

    def judge(self, trial: Trial) -> tuple[Finding, ...]:
        """The evidence of all carriers and the rank of the true key; none without any told."""
        if trial.outcomes is None or trial.key is None or trial.comparison.against is not None:
            return ()
        carriers = list(told(trial.outcomes))
        if not carriers:
            return ()
        drawn = [each.draw.symbol(trial.key) for each in carriers]
        bets = [each.bet for each in carriers]
        evidence = gather(zip(bets, drawn, strict=True))
        agreed = sum(each.agrees(s) for each, s in zip(carriers, drawn, strict=True))
        statistic: dict[str, float | None] = {
            "carriers": len(carriers),
            "agreed": agreed,
            "with_reference": sum(bool(each.reference) for each in carriers),
        }
        if any(each.reference is not None for each in carriers):
            half = len(evidence.logs) // 2
            alone = log_mean(evidence.logs[:half]) / math.log(10)
            statistic["log10_e_alone"] = max(alone, LOST)
        rate = estimate(agreed, len(carriers))
        seed = seed_of((each.draw, each.suspect) for each in carriers)
        return findings_of(trial, "codebook logprobs", bets, evidence, statistic, rate, seed)

    def is_answered(self, outcome: Outcome) -> bool:
        """Whether the model told log-probabilities of this carrier."""
        return ARMED in outcome.logprobs

    def describe(self, finding: Finding) -> str:
        """The evidence and what it rests on, or the rank."""
        fields = finding.statistic
        if (place := describe_rank(finding)) is not None:
            return place
        held = ", held against an innocent model" if fields["with_reference"] else ""
        return (
            f"log10 e = {fields['log10_e']:.2f} from {fields['carriers']:,} carriers{held}; of "
            f"{fields['agreed']:,} the drawn name gained most over its frequency"
        )

    def tables(
        self,
        findings: Mapping[str, Finding],
        outcomes: Sequence[Outcome],  # noqa: ARG002
    ) -> tuple[Counted, ...]:
        """Of how many carriers names were scored, and where the drawn one gained."""
        fields = findings["codebook logprobs"].statistic
        lines: dict[str, tuple[int | str, ...]] = {
            "carriers whose names were scored": (whole(fields["carriers"]),),
            "of them also by an innocent model": (whole(fields["with_reference"]),),
            "the drawn name gained most over its frequency": (whole(fields["agreed"]),),
        }
        if "log10_e_alone" in fields:
            lines["without the innocent model: log10 e"] = (f"{fields['log10_e_alone']:.2f}",)
        evidence = evidence_lines(findings, "codebook logprobs")
        return (Counted("Log-probabilities and the key", "", ("number",), {**lines, **evidence}),)

    def power(
        self,
        pairs: int,
        *,
        hit_rate: float,
        control_rate: float,  # noqa: ARG002
        alpha: float,
        ratio: Fraction,  # noqa: ARG002
    ) -> float:
        """The chance when each carrier has two names, equally likely, and the model is sure.

        It puts nine tenths on one of them, in `hit_rate` of the carriers on the drawn one.
        """
        prior = {"drawn": 0.5, "other": 0.5}
        sure = bet_on_logprobs({"drawn": math.log(0.9), "other": math.log(0.1)}, prior)
        wins, losses = ([math.log(f) for f in sure.factors(s)] for s in ("drawn", "other"))
        chances = binomial(pairs, hit_rate)
        return float(
            sum(
                chance
                for agreed, chance in enumerate(chances)
                if log_mean(
                    [agreed * w + (pairs - agreed) * x for w, x in zip(wins, losses, strict=True)]
                )
                >= -math.log(alpha)
            )
        )


PLUGIN = CodebookLogprobs
