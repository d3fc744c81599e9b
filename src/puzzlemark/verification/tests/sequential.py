"""The e-process: a test on the pairs that may be looked at after every pair, and stopped.

The null hypothesis: a discordant pair is armed only with a chance of at most t = r / (1 + r), where
r is the stated ratio, 1 for two arms that are alike. The evidence against it is the mean over
theta, evenly from t to 1, of

    (theta / t)^armed_only ((1 - theta) / (1 - t))^control_only.

Under the null hypothesis E is a supermartingale that starts at 1: the chance that it ever reaches
1 / alpha is at most alpha (Ville's inequality). The integral is an incomplete beta function of
whole numbers, hence a sum of binomial coefficients: with r = u / v, n = armed_only + control_only,

    E = sum over j <= armed_only of (n + 1 over j) u^j v^(n + 1 - j),
        divided by (n + 1) (n over armed_only) u^armed_only v^(control_only + 1).
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from puzzlemark.statistics.exact import EVEN, Significance, log10_ratio
from puzzlemark.verification.tests._boundaries import power_within
from puzzlemark.verification.tests.base import Finding, Measure, Outcome, Trial, state_ratio


@dataclass(frozen=True, slots=True)
class Sequential:
    """Evidence e against the null hypothesis; 1 / e is a p-value at any time."""

    name: ClassVar[str] = "sequential"
    findings: ClassVar[Mapping[str, str]] = {"e-process": "sequential e-process"}
    decides: ClassVar[str] = "e-process"
    measure: ClassVar[Measure] = "e"
    about: ClassVar[str] = (
        "The e-process bets on the same pairs one by one: it may be read after any pair, and 1 / e "
        "serves as its p."
    )
    takes_ratio: ClassVar[bool] = True
    needs_key: ClassVar[bool] = False

    def judge(self, trial: Trial) -> tuple[Finding, ...]:
        """The evidence where it first sufficed, else at the end; the order of the pairs counts."""
        if trial.outcomes is None:
            return ()
        pairs = (outcome.pair(trial.comparison.against) for outcome in trial.outcomes)
        course = follow((pair for pair in pairs if pair is not None), trial.alpha, trial.ratio)
        evidence = course.evidence
        watched = {
            "log10_e": evidence.log10_e,
            "pairs": course.pairs,
            "ratio": float(trial.ratio),
        }
        return (
            trial.finding(
                "e-process", watched, evidence.significance, is_significant=course.stopped
            ),
        )

    def describe(self, finding: Finding) -> str:
        """The evidence, and after how many pairs."""
        fields = finding.statistic
        found = f"log10 e = {fields['log10_e']:.2f} after {fields['pairs']:,} pairs"
        return found + state_ratio(finding)

    def power(
        self, pairs: int, *, hit_rate: float, control_rate: float, alpha: float, ratio: Fraction
    ) -> float:
        """The chance that the evidence has sufficed by then."""
        return power_within(
            boundary,
            pairs,
            hit_rate=hit_rate,
            control_rate=control_rate,
            alpha=alpha,
            ratio=ratio,
            stops=True,
        )

    def watch(
        self,
        against: str | None,
        *,
        alpha: float,
        ratio: Fraction,
        key: bytes | None,  # noqa: ARG002
    ) -> "Bets":
        """Begin with no evidence."""
        return Bets(against, alpha, EProcess(ratio=ratio))


@dataclass(frozen=True, slots=True)
class EProcess:
    """The evidence so far; only discordant pairs move it."""

    armed_only: int = 0
    control_only: int = 0
    ratio: Fraction = EVEN

    def observe(self, armed: bool, control: bool) -> "EProcess":
        """The evidence after one more pair."""
        return EProcess(
            self.armed_only + (armed and not control),
            self.control_only + (control and not armed),
            self.ratio,
        )

    @property
    def log10_e(self) -> float:
        """log10 of the evidence: `EProcess(13, 0).log10_e -> 3.07`."""
        discordant, (u, v) = self.armed_only + self.control_only, self.ratio.as_integer_ratio()
        lower, ways = 0, v ** (discordant + 1)
        for chosen in range(self.armed_only + 1):
            lower += ways
            ways = ways * (discordant + 1 - chosen) * u // ((chosen + 1) * v)
        orders = (discordant + 1) * math.comb(discordant, self.armed_only)
        return log10_ratio(lower, orders * u**self.armed_only * v ** (self.control_only + 1))

    @property
    def significance(self) -> Significance:
        """1 / E is a p-value at any time; evidence below 1 is no evidence."""
        log10_p = min(0.0, -self.log10_e)
        return Significance(log10_p, 10.0**log10_p)

    def suffices(self, alpha: float) -> bool:
        """Whether the evidence has reached 1 / alpha."""
        return self.log10_e >= -math.log10(alpha)


@dataclass(slots=True)
class Bets:
    """The evidence of one comparison, outcome by outcome; what sufficed once suffices."""

    against: str | None
    alpha: float
    evidence: EProcess
    suffices: bool = False

    def observe(self, outcome: Outcome) -> bool:
        """Bet on one more pair, unless an arm of it failed or the evidence has sufficed."""
        pair = outcome.pair(self.against)
        if pair is not None and not self.suffices:
            self.evidence = self.evidence.observe(*pair)
            # a pair that agrees, or speaks against, cannot bring the evidence over the line
            self.suffices = pair == (True, False) and self.evidence.suffices(self.alpha)
        return self.suffices


@dataclass(frozen=True, slots=True)
class Course:
    """How far a sequence of pairs was followed."""

    evidence: EProcess
    pairs: int  # until the stop, or all of them
    stopped: bool  # the evidence reached 1 / alpha


def follow(pairs: Iterable[tuple[bool, bool]], alpha: float, ratio: Fraction = EVEN) -> Course:
    """Watch (armed, control) pairs in order; stop as soon as the evidence suffices."""
    evidence, seen = EProcess(ratio=ratio), 0
    for armed, control in pairs:
        seen += 1
        evidence = evidence.observe(armed, control)
        # a pair that agrees, or speaks against, cannot bring the evidence over the line
        if armed and not control and evidence.suffices(alpha):
            return Course(evidence, seen, stopped=True)
    return Course(evidence, seen, stopped=False)


def boundary(most: int, alpha: float, ratio: Fraction = EVEN) -> tuple[int, ...]:
    """For 0 to `most` discordant pairs, the fewest armed-only ones that suffice.

    One more than there are pairs means that none do: `boundary(13, 0.001)[13] -> 13`.
    """
    return tuple(_walk_boundary(most, Fraction(alpha), ratio))


def _walk_boundary(most: int, alpha: Fraction, ratio: Fraction) -> Iterator[int]:
    """`E = lower / ((n + 1) (n over fewest) u^fewest v^(n - fewest + 1))`, kept up to date."""
    u, v = ratio.as_integer_ratio()
    fewest, lower = 1, u + v  # lower: sum over j <= fewest of (n + 1 over j) u^j v^(n + 1 - j)
    below = 1  # (n over fewest - 1) u^(fewest - 1) v^(n - fewest + 1)
    yield fewest
    for discordant in range(1, most + 1):
        at = below * discordant * u // fewest  # (n over fewest) u^fewest v^(n - fewest)
        lower = (u + v) * lower - u * at
        # one more pair asks for one more armed-only pair at most
        if lower * alpha.numerator < (discordant + 1) * at * v * alpha.denominator:
            below, fewest = at, fewest + 1
            lower += at * (discordant + 1) * u // fewest
        else:
            below = below * discordant * v // (discordant - fewest + 1)
        yield fewest


PLUGIN = Sequential
