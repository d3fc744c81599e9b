"""DeCoMa's pairs: how often two terms stand in one function, and which pairs are outliers.

Terms are coded by a 64-bit hash of their text, so that no vocabulary is ever held: two of ten
million texts share a code with a probability below one in 100,000.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Kind = Literal["V->E", "E->V", "V->V", "E->E"]  # trigger -> target; V: variables, E: expressions
KINDS: tuple[Kind, ...] = ("V->E", "E->V", "V->V", "E->E")
CHUNK = 1 << 22  # pairs that are sorted at once
NEAR = 1e-6  # closer to the threshold than this, a z-score is compared in exact arithmetic

Codes = NDArray[np.uint64]
Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Channel:
    """The terms of one channel of every function, one after the other, each once a function."""

    codes: Codes
    offsets: Numbers  # those of function i are codes[offsets[i] : offsets[i + 1]]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def owners(self) -> Numbers:
        """The function that each term stands in."""
        return np.repeat(np.arange(len(self)), np.diff(self.offsets))

    def keep(self, wanted: NDArray[np.bool_]) -> "Channel":
        """Only those terms, in the same order."""
        sizes = np.bincount(self.owners[wanted], minlength=len(self))
        return Channel(self.codes[wanted], np.concatenate(([0], np.cumsum(sizes))))

    def without_first(self) -> "Channel":
        """Each function without its first term."""
        first = np.zeros(len(self.codes) + 1, np.bool_)
        first[self.offsets[:-1][np.diff(self.offsets) > 0]] = True
        return self.keep(~first[:-1])

    @staticmethod
    def of(functions: Sequence[Sequence[int]]) -> "Channel":
        """From a list of codes a function."""
        sizes = np.fromiter(map(len, functions), np.int64, len(functions))
        flat = (code for codes in functions for code in codes)
        codes = np.fromiter(flat, np.uint64, int(sizes.sum()))
        return Channel(codes, np.concatenate(([0], np.cumsum(sizes))))

    @staticmethod
    def joined(parts: Sequence["Channel"]) -> "Channel":
        """One after the other."""
        sizes = np.concatenate([np.diff(part.offsets) for part in parts])
        codes = np.concatenate([part.codes for part in parts])
        return Channel(codes, np.concatenate(([0], np.cumsum(sizes))))


@dataclass(frozen=True, slots=True)
class Outliers:
    """Pairs that stand together far more often than their row and their column do."""

    triggers: Codes
    targets: Codes
    counts: Numbers
    strengths: NDArray[np.float64]  # the smaller of the two z-scores
    expected: NDArray[np.float64]  # the larger of the two means


@dataclass(frozen=True, slots=True)
class Limits:
    """When a count is an outlier; `min_scale` and `max_scale` are shares of the functions."""

    z: float = 3.0
    min_scale: float = 0.0004
    max_scale: float = 1.0

    def smallest(self, functions: int) -> int:
        """m: a row or column needs a count above it."""
        return int((functions - 1) * self.min_scale)

    def largest(self, functions: int) -> int:
        """M: counts from here on say nothing."""
        return int((functions - 1) * self.max_scale)


def outlier_pairs(
    kind: Kind, variables: Channel, expressions: Channel, limits: Limits, chunk: int = CHUNK
) -> Outliers:
    """The outliers of one kind of pairs."""
    functions = len(variables)
    m, largest = limits.smallest(functions), limits.largest(functions)
    # a term in m functions or fewer has no count above m, so neither its row nor its column stays
    left, right = (_frequent(side, m) for side in _sides(kind, variables, expressions))
    ranges = _ranges(left, right, ordered=kind[0] == kind[-1])
    triggers, at_left = np.unique(left.codes, return_inverse=True)
    targets, at_right = np.unique(right.codes, return_inverse=True)
    width = np.uint64(max(1, len(targets)))

    def combine(lefts: Numbers, rights: Numbers) -> Codes:
        return at_left[lefts].astype(np.uint64) * width + at_right[rights].astype(np.uint64)

    pairs, counts = _count(ranges, combine, chunk)
    inside = counts < largest
    rows, columns = (pairs[inside] // width).astype(np.int64), (pairs[inside] % width).astype(int)
    rows, columns, counts = _drop_rare(rows, columns, counts[inside], m)
    row_z, row_mean, row_out = _z_scores(rows, counts, limits.z)
    column_z, column_mean, column_out = _z_scores(columns, counts, limits.z)
    both = row_out & column_out
    return Outliers(
        triggers[rows[both]],
        targets[columns[both]],
        counts[both],
        np.minimum(row_z, column_z)[both],
        np.maximum(row_mean, column_mean)[both],
    )


@dataclass(frozen=True, slots=True)
class _Ranges:
    """For each term on the left, the run of terms on the right that it is paired with."""

    starts: Numbers
    sizes: Numbers


def _sides(kind: Kind, variables: Channel, expressions: Channel) -> tuple[Channel, Channel]:
    left = variables if kind[0] == "V" else expressions
    right = variables if kind[-1] == "V" else expressions
    return left, right.without_first() if kind == "V->E" else right  # as published


def _ranges(left: Channel, right: Channel, *, ordered: bool) -> _Ranges:
    """All of the other channel; within one channel, what comes later."""
    owners = left.owners
    first, last = right.offsets[owners], right.offsets[owners + 1]
    if ordered:
        first = np.arange(len(left.codes)) + 1
    return _Ranges(first, last - first)


def _frequent(channel: Channel, m: int) -> Channel:
    _, inverse, counts = np.unique(channel.codes, return_inverse=True, return_counts=True)
    return channel.keep((counts > m)[inverse])


def _count(
    ranges: _Ranges, combine: Callable[[Numbers, Numbers], Codes], chunk: int
) -> tuple[Codes, Numbers]:
    """Distinct pairs, sorted, and their counts; never more than a chunk of pairs as they come.

    Sorted runs are merged when they are of like size, so each pair is merged a few times only.
    """
    runs: list[tuple[Codes, Numbers]] = [(np.empty(0, np.uint64), np.empty(0, np.int64))]
    for lefts, rights in _expand(ranges, chunk):
        runs.append(np.unique(combine(lefts, rights), return_counts=True))
        while len(runs) > 1 and len(runs[-2][0]) <= 2 * len(runs[-1][0]):
            runs.append(_merge(runs.pop(), runs.pop()))
    while len(runs) > 1:
        runs.append(_merge(runs.pop(), runs.pop()))
    return runs[0]


def _expand(ranges: _Ranges, chunk: int) -> Iterator[tuple[Numbers, Numbers]]:
    """The pairs as two arrays of places, about a chunk at a time."""
    ends = np.cumsum(ranges.sizes)
    at = 0
    while at < len(ends):
        done = int(ends[at - 1]) if at else 0
        until = max(at + 1, int(np.searchsorted(ends, done + chunk, side="right")))
        sizes, starts = ranges.sizes[at:until], ranges.starts[at:until]
        lefts = np.repeat(np.arange(at, until), sizes)
        shift = np.repeat(starts - (ends[at:until] - sizes - done), sizes)
        yield lefts, np.arange(len(lefts)) + shift
        at = until


def _merge(one: tuple[Codes, Numbers], other: tuple[Codes, Numbers]) -> tuple[Codes, Numbers]:
    codes = np.concatenate((one[0], other[0]))
    order = np.argsort(codes, kind="stable")
    codes, counts = codes[order], np.concatenate((one[1], other[1]))[order]
    if not len(codes):
        return codes, counts
    starts = np.flatnonzero(np.concatenate(([True], codes[1:] != codes[:-1])))
    return codes[starts], np.add.reduceat(counts, starts)


def _drop_rare(
    rows: Numbers, columns: Numbers, counts: Numbers, m: int
) -> tuple[Numbers, Numbers, Numbers]:
    """Keep rows and columns with a count above m; their small counts stay and are averaged.

    The published order (targets below m, then triggers, then targets) ends at the same: a count
    above m keeps both its row and its column, and nothing else keeps either.
    """
    above = counts > m
    if not len(counts):
        return rows, columns, counts
    good_rows = np.zeros(rows.max() + 1, np.bool_)
    good_columns = np.zeros(columns.max() + 1, np.bool_)
    good_rows[rows[above]] = True
    good_columns[columns[above]] = True
    kept = good_rows[rows] & good_columns[columns]
    return rows[kept], columns[kept], counts[kept]


def _z_scores(
    keys: Numbers, counts: Numbers, threshold: float
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]:
    """Of each count within its row (or column): z-score, the row's mean, whether it is above."""
    if not len(keys):
        return np.empty(0), np.empty(0), np.empty(0, np.bool_)
    order = np.argsort(keys, kind="stable")
    starts = np.flatnonzero(np.diff(keys[order], prepend=-1))
    sizes = np.diff(np.concatenate((starts, [len(keys)])))
    row_of = np.empty(len(keys), np.int64)
    row_of[order] = np.repeat(np.arange(len(starts)), sizes)
    sums = np.add.reduceat(counts[order], starts)
    squares = np.add.reduceat(counts[order] ** 2, starts)
    # n^2 times the variance, in whole numbers: 0 is exactly 0
    spread = sizes * squares - sums**2
    n, total, wide = sizes[row_of], sums[row_of], spread[row_of]
    away = (n * counts - total).astype(np.float64)
    z = np.divide(away, np.sqrt(wide.astype(np.float64)), out=np.zeros(len(n)), where=wide > 0)
    above = z > threshold
    for at in np.flatnonzero(np.abs(z - threshold) < NEAR).tolist():
        above[at] = _is_above(int(away[at]), int(wide[at]), threshold)
    return z, total / n, above


def _is_above(away: int, wide: int, threshold: float) -> bool:
    """`away / sqrt(wide) > threshold` without rounding."""
    return wide > 0 and away > 0 and Fraction(away) ** 2 > Fraction(threshold) ** 2 * wide
