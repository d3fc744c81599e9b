"""What a projection offers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]  # standardised features: snippets x features
Column = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Spread:
    """How the standardised features of a whole dataset lie: all that is known beside some rows."""

    covariance: Matrix  # Z^T Z / (N - 1), features x features
    lowest: Column  # of each feature
    highest: Column

    @classmethod
    def of(cls, z: Matrix) -> "Spread":
        """That of a dataset whose rows are all here."""
        return cls(z.T @ z / max(len(z) - 1, 1), z.min(axis=0), z.max(axis=0))


class Projection(Protocol):
    """What each file of this package offers, or the class that it has as `PLUGIN`."""

    def project(self, z: Matrix, spread: Spread) -> Column:
        """One number a row; the more complex the snippet, the higher.

        The rows are some of the dataset: a number follows from its row and the spread alone.
        """
        ...

    def explain(self, spread: Spread) -> Mapping[str, float | list[float]]:
        """What a report may say about the projection, for JSON; lists go by feature."""
        ...


def weigh(z: Matrix, weights: Column) -> Column:
    """The sum of each row's features, each times its weight.

    Not `z @ weights`: BLAS may round equal rows differently, and split a tie at the threshold.
    """
    total = np.zeros(len(z))
    for column, weight in zip(z.T, weights, strict=True):
        total += column * weight
    return total
