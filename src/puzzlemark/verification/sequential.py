"""An anytime-valid test on the pairs: it may be looked at after every pair, and stopped.

Over the discordant pairs, each armed only with chance theta, the evidence for dependence is

    E = integral over theta in [1/2, 1] of 2 (2 theta)^armed_only (2 (1 - theta))^control_only.

While both arms are alike, E is a supermartingale that starts at 1: the chance that it ever reaches
1 / alpha is at most alpha (Ville's inequality). The integral is an incomplete beta function of
whole numbers, hence a sum of binomial coefficients, with n = armed_only + control_only:

    E = sum over j <= armed_only of (n + 1 over j), divided by (n + 1) (n over armed_only).
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from puzzlemark.statistics.exact import Significance, log10_ratio


@dataclass(frozen=True, slots=True)
class EProcess:
    """The evidence so far; only discordant pairs move it."""

    armed_only: int = 0
    control_only: int = 0

    def observe(self, armed: bool, control: bool) -> "EProcess":
        """The evidence after one more pair."""
        return EProcess(
            self.armed_only + (armed and not control), self.control_only + (control and not armed)
        )

    @property
    def log10_e(self) -> float:
        """log10 of the evidence: `EProcess(13, 0).log10_e -> 3.07`."""
        discordant = self.armed_only + self.control_only
        lower, ways = 0, 1
        for chosen in range(self.armed_only + 1):
            lower += ways
            ways = ways * (discordant + 1 - chosen) // (chosen + 1)
        return log10_ratio(lower, (discordant + 1) * math.comb(discordant, self.armed_only))

    @property
    def significance(self) -> Significance:
        """1 / E is a p-value at any time; evidence below 1 is no evidence."""
        log10_p = min(0.0, -self.log10_e)
        return Significance(log10_p, 10.0**log10_p)

    def suffices(self, alpha: float) -> bool:
        """Whether the evidence has reached 1 / alpha."""
        return self.log10_e >= -math.log10(alpha)


@dataclass(frozen=True, slots=True)
class Course:
    """How far a sequence of pairs was followed."""

    evidence: EProcess
    pairs: int  # until the stop, or all of them
    stopped: bool  # the evidence reached 1 / alpha


def follow(pairs: Iterable[tuple[bool, bool]], alpha: float) -> Course:
    """Watch (armed, control) pairs in order; stop as soon as the evidence suffices."""
    evidence, seen = EProcess(), 0
    for armed, control in pairs:
        seen += 1
        evidence = evidence.observe(armed, control)
        # a pair that agrees, or speaks against, cannot bring the evidence over the line
        if armed and not control and evidence.suffices(alpha):
            return Course(evidence, seen, stopped=True)
    return Course(evidence, seen, stopped=False)


def boundary(most: int, alpha: float) -> tuple[int, ...]:
    """For 0 to `most` discordant pairs, the fewest armed-only ones that suffice.

    One more than there are pairs means that none do: `boundary(13, 0.001)[13] -> 13`.
    """
    return tuple(_walk_boundary(most, Fraction(alpha)))


def _walk_boundary(most: int, alpha: Fraction) -> Iterator[int]:
    fewest, lower = 1, 2  # lower: sum over j <= fewest of (discordant + 1 over j)
    below = 1  # discordant over fewest - 1
    yield fewest
    for discordant in range(1, most + 1):
        at = below * discordant // fewest  # discordant over fewest
        lower = 2 * lower - at
        # one more pair asks for one more armed-only pair at most
        if lower * alpha.numerator < (discordant + 1) * at * alpha.denominator:
            below, fewest = at, fewest + 1
            lower += at * (discordant + 1) // fewest
        else:
            below = below * discordant // (discordant - fewest + 1)
        yield fewest
