"""Exact tests of two arms, in whole numbers: every p is a ratio of counts, rounded once at the end.

A perfect watermark over 600 + 600 probes has a p far below the smallest float: `log10_p` is always
right, `p` is 0.0 then.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from puzzlemark.errors import UsageError

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


def mcnemar(armed_only: int, control_only: int, *, two_sided: bool = False) -> Significance:
    """Exact McNemar test on the discordant pairs: `mcnemar(5, 0).p -> 1/32`.

    One-sided: P[Bin(armed_only + control_only, 1/2) >= armed_only].
    """
    _require_share(armed_only, armed_only + control_only)
    discordant = armed_only + control_only
    if two_sided:
        larger = max(armed_only, control_only)
        return _significance(min(2 * _heads(discordant, larger), 2**discordant), 2**discordant)
    return _significance(_heads(discordant, armed_only), 2**discordant)


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


def mcnemar_boundary(most: int, alpha: float) -> tuple[int, ...]:
    """For 0 to `most` discordant pairs, the fewest armed-only ones with a one-sided p below alpha.

    One more than there are pairs means that none suffice: `mcnemar_boundary(5, 0.05)[5] -> 5`.
    """
    return tuple(_walk_boundary(most, Fraction(alpha)))


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


def _heads(tosses: int, fewest: int) -> int:
    """Outcomes of so many coin tosses with at least `fewest` heads."""
    outcomes, ways = 0, math.comb(tosses, fewest)
    for heads in range(fewest, tosses + 1):
        outcomes += ways
        ways = ways * (tosses - heads) // (heads + 1)
    return outcomes


def _walk_boundary(most: int, alpha: Fraction) -> Iterator[int]:
    fewest, outcomes = 1, 0  # of no toss, none has a head
    below = 1  # tosses over fewest - 1
    yield fewest
    for tosses in range(1, most + 1):
        outcomes = 2 * outcomes + below
        at = below * tosses // fewest  # tosses over fewest
        # one more toss asks for one more head at most
        if outcomes * alpha.denominator >= alpha.numerator << tosses:
            outcomes, below, fewest = outcomes - at, at, fewest + 1
        else:
            below = below * tosses // (tosses - fewest + 1)
        yield fewest


def _require_share(hits: int, trials: int) -> None:
    if not 0 <= hits <= trials:
        raise UsageError(f"{hits} hits of {trials} trials; hits are counted among the trials")
