"""Sums over a dataset that are whole numbers, and so are the same however it was cut."""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from puzzlemark.carriers.projections.base import Column, Matrix, Spread
from puzzlemark.features.measure import FEATURES

# squares of numbers below _SMALL, added for so many rows, stay whole numbers that floats hold
_SMALL = 2**20
_ROWS = 2**12


@dataclass(slots=True)
class Moments:
    """How many snippets were measured, and the sums of their features and products of features.

    `one + other` is what one pass over both would have found, to the last digit: Python adds whole
    numbers of any size, and no order of them rounds otherwise.
    """

    count: int = 0
    sums: list[int] = field(default_factory=lambda: [0] * len(FEATURES))
    products: list[list[int]] = field(
        default_factory=lambda: [[0] * len(FEATURES) for _ in FEATURES]
    )
    lowest: list[int] = field(default_factory=list)
    highest: list[int] = field(default_factory=list)

    @classmethod
    def of(cls, values: NDArray[np.int32]) -> "Moments":
        """Those of some rows, all of them measured."""
        is_small = (np.abs(values) < _SMALL).all(axis=1)
        small, large = values[is_small].astype(np.float64), values[~is_small].astype(object)
        parts = [small[at : at + _ROWS] for at in range(0, len(small), _ROWS)]
        return sum(map(cls._of, [*parts, large]), cls())

    @classmethod
    def _of(cls, numbers: NDArray[Any]) -> "Moments":
        """Those of whole numbers, as floats that no sum of them rounds or as Python's."""
        if not len(numbers):
            return cls()
        return cls(
            len(numbers),
            [int(each) for each in numbers.sum(axis=0)],
            [[int(each) for each in row] for row in numbers.T @ numbers],
            [int(each) for each in numbers.min(axis=0)],
            [int(each) for each in numbers.max(axis=0)],
        )

    def __add__(self, other: "Moments") -> "Moments":
        if not self.count or not other.count:
            return self if self.count else other
        return Moments(
            self.count + other.count,
            [a + b for a, b in zip(self.sums, other.sums, strict=True)],
            [
                [a + b for a, b in zip(row, more, strict=True)]
                for row, more in zip(self.products, other.products, strict=True)
            ],
            list(map(min, self.lowest, other.lowest)),
            list(map(max, self.highest, other.highest)),
        )

    def standard(self, columns: list[int]) -> "Standard":
        """What makes standardised features of some columns; at least one row was measured."""
        assert self.count, "nothing was measured"
        mean = np.array([self.sums[at] / self.count for at in columns])
        # times N squared: whole numbers still
        spread = [[self._covariance(one, other) for other in columns] for one in columns]
        deviation = np.array([math.sqrt(spread[at][at]) / self.count for at in range(len(columns))])
        deviation[deviation == 0] = 1.0
        low, high = (
            (np.array([float(bounds[at]) for at in columns]) - mean) / deviation
            for bounds in (self.lowest, self.highest)
        )
        return Standard(mean, deviation, Spread(self._correlation(spread), low, high))

    def _covariance(self, one: int, other: int) -> int:
        return self.count * self.products[one][other] - self.sums[one] * self.sums[other]

    def _correlation(self, spread: list[list[int]]) -> Matrix:
        """The covariance of standardised features, `Z^T Z / (N - 1)`."""
        more = self.count / max(self.count - 1, 1)
        return np.array(
            [
                [more * _ratio(each, spread[i][i], spread[j][j]) for j, each in enumerate(row)]
                for i, row in enumerate(spread)
            ]
        )


def _ratio(covariance: int, variance: int, other: int) -> float:
    return covariance / math.sqrt(variance * other) if variance and other else 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Standard:
    """Makes standardised features: every feature gets mean 0 and population deviation 1.

    A feature that is the same everywhere becomes 0 everywhere.
    """

    mean: Column
    deviation: Column
    spread: Spread

    def __call__(self, values: NDArray[np.int32]) -> Matrix:
        """Those of some rows."""
        standardised: Matrix = values - self.mean
        standardised /= self.deviation
        return standardised
