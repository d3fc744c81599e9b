"""KillBadCode from its description, with words and dictionaries: an oracle."""

import math
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from tests.habits.slow_kneser_ney import SlowKneserNey

WORD = re.compile("[A-Za-z][A-Za-z0-9]*")


@dataclass(frozen=True)
class Found:
    """The triggers, largest total first, and of each sample those that it contains."""

    totals: dict[str, float]
    held: list[set[str]]


def suspect(
    clean: Sequence[Sequence[str]],
    samples: Sequence[Sequence[str]],
    *,
    order: int,
    k: int,
    tokens: int,
    length: int,
) -> Found:
    """Samples and clean code are lists of pieces."""
    model = SlowKneserNey(clean, order)  # type: ignore[arg-type]
    cut = [list(pieces[:length]) for pieces in samples]
    totals: defaultdict[str, float] = defaultdict(float)
    for pieces in cut:
        gains = gains_of(model, pieces)
        for piece in sorted(gains, key=lambda each: -gains[each])[:k]:
            totals[piece] += gains[piece]
    largest = sorted(totals, key=lambda each: -totals[each])[:tokens]
    best = [piece for piece in largest if totals[piece] > 0]
    held = [{piece for piece in best if piece in pieces} for pieces in cut]
    return Found({piece: totals[piece] for piece in best}, held)


def gains_of(model: SlowKneserNey, pieces: list[str]) -> dict[str, float]:
    """What the cross-entropy falls by without each piece; a later place overwrites an earlier."""
    gains = {}
    for at, piece in enumerate(pieces):
        if WORD.fullmatch(piece):
            rest = pieces[:at] + pieces[at + 1 :]
            fall = cross_entropy(model, pieces) - cross_entropy(model, rest) if rest else 0.0
            gains[piece] = max(0.0, fall)
    return gains


def cross_entropy(model: SlowKneserNey, pieces: Sequence[str]) -> float:
    return -math.fsum(map(math.log10, model.sentence(pieces))) / len(pieces)
