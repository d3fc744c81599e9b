"""The k-th smallest of numbers that are read in pieces, exactly, and without sorting them."""

from collections.abc import Callable, Iterable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Keys: TypeAlias = NDArray[np.uint64]
Pieces: TypeAlias = Callable[[], Iterable[Keys]]  # the same numbers each time it is called

_DIGIT = 16  # bits
_FEW = 1 << 16  # numbers that may be held


def ranked(pieces: Pieces, rank: int) -> int:
    """The number that would stand at this place, from 0, if all were sorted.

    `ranked(lambda: [[5, 1], [3]], 1) -> 3`. Each pass counts one digit of 16 bits among those whose
    higher digits are known; after two of them the rest is mostly few enough to be held.
    """
    known, left = 0, 64  # the digits that are known, and how many bits are not
    while left:
        left -= _DIGIT
        counts = np.zeros(1 << _DIGIT, np.int64)
        for keys in pieces():
            digits = _like(keys, known, left + _DIGIT) >> np.uint64(left)
            digits &= np.uint64((1 << _DIGIT) - 1)
            counts += np.bincount(digits.astype(np.int64), minlength=len(counts))
        below = np.cumsum(counts)
        digit = int(np.searchsorted(below, rank, side="right"))
        rank -= int(below[digit] - counts[digit])
        known = known << _DIGIT | digit
        if counts[digit] <= _FEW:
            rest = np.concatenate([_like(keys, known, left) for keys in pieces()])
            return int(np.partition(rest, rank)[rank])
    return known


def _like(keys: Keys, known: int, left: int) -> Keys:
    """Those whose digits, but for the last `left` bits, are the known ones."""
    if left == 64:
        return keys
    found: Keys = keys[keys >> np.uint64(left) == np.uint64(known)]
    return found


def quantile(pieces: Callable[[], Iterable[NDArray[np.float64]]], count: int, tau: float) -> float:
    """The tau-quantile of `count` numbers above 0, with linear interpolation, as numpy has it."""

    def as_keys() -> Iterable[Keys]:
        # bits of positive floats are in the order of the floats
        return (np.ascontiguousarray(each).view(np.uint64) for each in pieces())

    place = tau * (count - 1)
    below = min(int(place), count - 1)
    ranks = (below, min(below + 1, count - 1))
    low, high = (np.uint64(ranked(as_keys, rank)).view(np.float64) for rank in ranks)
    return float(np.quantile([low, high], place - below))
