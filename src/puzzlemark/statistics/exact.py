"""Exact tests of two arms, in whole numbers: every p is a ratio of counts, rounded once at the end.

A perfect watermark over 600 + 600 probes has a p far below the smallest float: `log10_p` is always
right, `p` is 0.0 then.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from puzzlemark.errors import UsageError

EVEN = Fraction(1)
DIVISIBLE = 300.0  # ratios within 10 to the power of +-300 fit a float


@dataclass(frozen=True, slots=True)
class Significance:
    """A p-value: quote `log10_p` where `p` has underflowed to 0.0."""

    log10_p: float
    p: float


def fisher(
    armed_hits: int, armed: int, control_hits: int, control: int, *, two_sided: bool
) -> Significance:
    """Fisher's exact test: `fisher(6, 500, 0, 500, two_sided=True).p -> 0.0307`.

    One-sided: at least so many of the hits fall on the armed arm. Two-sided: the split of the hits
    is no more probable than the one seen, in either direction.
    """
    _require_share(armed_hits, armed)
    _require_share(control_hits, control)
    hits = armed_hits + control_hits
    splits = dict(_splits(hits, armed, control))
    seen = splits[armed_hits]
    if two_sided:
        extreme = sum(ways for ways in splits.values() if ways <= seen)
    else:
        extreme = sum(ways for at, ways in splits.items() if at >= armed_hits)
    return _significance(extreme, math.comb(armed + control, hits))


def mcnemar(armed_only: int, control_only: int, *, ratio: Fraction = EVEN) -> Significance:
    """Exact McNemar test on the discordant pairs, one-sided: `mcnemar(5, 0).p -> 1/32`.

    P[Bin(armed_only + control_only, theta) >= armed_only], where theta = ratio / (1 + ratio): the
    null hypothesis is that the armed arm hits alone at most `ratio` times as often as the other.
    """
    _require_share(armed_only, armed_only + control_only)
    discordant = armed_only + control_only
    whole = (ratio.numerator + ratio.denominator) ** discordant
    return _significance(_heads(discordant, armed_only, ratio), whole)


def mcnemar_two_sided(armed_only: int, control_only: int) -> Significance:
    """The same in either direction, against a ratio of 1: `mcnemar_two_sided(5, 0).p -> 1/16`."""
    _require_share(armed_only, armed_only + control_only)
    discordant = armed_only + control_only
    extreme = 2 * _heads(discordant, max(armed_only, control_only), EVEN)
    return _significance(min(extreme, 2**discordant), 2**discordant)


def holm(log10_ps: Sequence[float]) -> tuple[float, ...]:
    """Adjust for several tests: `holm(log10 of [0.01, 0.04]) -> log10 of [0.02, 0.04]`.

    The i-th smallest p of k is multiplied by k - i + 1, and is never below the one before it.
    """
    adjusted = [0.0] * len(log10_ps)
    floor = -math.inf
    ranked = sorted(range(len(log10_ps)), key=lambda index: log10_ps[index])
    for rank, index in enumerate(ranked):
        floor = max(floor, log10_ps[index] + math.log10(len(ranked) - rank))
        adjusted[index] = min(0.0, floor)
    return tuple(adjusted)


def mcnemar_boundary(most: int, alpha: float, ratio: Fraction = EVEN) -> tuple[int, ...]:
    """For 0 to `most` discordant pairs, the fewest armed-only ones with a one-sided p below alpha.

    One more than there are pairs means that none suffice: `mcnemar_boundary(5, 0.05)[5] -> 5`.
    """
    return tuple(_walk_boundary(most, Fraction(alpha), ratio))


def log10_ratio(part: int, whole: int) -> float:
    """log10 of a ratio of whole numbers of any size."""
    rough = math.log10(part) - math.log10(whole)
    # the difference of two large logarithms loses digits that the division keeps
    return math.log10(part / whole) if abs(rough) < DIVISIBLE else rough


def _significance(part: int, whole: int) -> Significance:
    return Significance(log10_ratio(part, whole), part / whole)


def _splits(hits: int, armed: int, control: int) -> Iterator[tuple[int, int]]:
    """Each possible number of armed hits, with the ways to choose who hits."""
    first, last = max(0, hits - control), min(hits, armed)
    ways = math.comb(armed, first) * math.comb(control, hits - first)
    for at in range(first, last + 1):
        yield at, ways
        ways = ways * (armed - at) * (hits - at) // ((at + 1) * (control - hits + at + 1))


def _heads(tosses: int, fewest: int, ratio: Fraction) -> int:
    """Outcomes with at least `fewest` heads, each head counted `ratio` times as often as a tail.

    In whole numbers: a head weighs the numerator, a tail the denominator.
    """
    head, tail = ratio.numerator, ratio.denominator
    outcomes, ways = 0, math.comb(tosses, fewest) * head**fewest * tail ** (tosses - fewest)
    for heads in range(fewest, tosses + 1):
        outcomes += ways
        ways = ways * (tosses - heads) * head // ((heads + 1) * tail)
    return outcomes


def _walk_boundary(most: int, alpha: Fraction, ratio: Fraction) -> Iterator[int]:
    head, tail = ratio.numerator, ratio.denominator
    fewest, outcomes, whole = 1, 0, 1  # of no toss, none has a head
    below = 1  # the outcomes with just fewest - 1 heads
    yield fewest
    for tosses in range(1, most + 1):
        outcomes = (head + tail) * outcomes + head * below
        whole *= head + tail
        at = below * tosses * head // fewest  # with just `fewest` heads, of one toss more
        # one more toss asks for one more head at most
        if outcomes * alpha.denominator >= alpha.numerator * whole:
            outcomes, below, fewest = outcomes - at, at, fewest + 1
        else:
            below = below * tosses * tail // (tosses - fewest + 1)
        yield fewest


def _require_share(hits: int, trials: int) -> None:
    if not 0 <= hits <= trials:
        raise UsageError(f"{hits} hits of {trials} trials; hits are counted among the trials")
