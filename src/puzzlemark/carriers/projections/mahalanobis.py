"""Mahalanobis distance from the mean: how unusual, in either direction.

It has no sign: a snippet far simpler than most is as far out as one far more complex.
"""

import numpy as np

from puzzlemark.carriers.projections.base import Column, Matrix, Spread, weigh


def project(z: Matrix, spread: Spread) -> Column:
    """The distance of each row from the mean, in the metric of the covariance matrix."""
    # the pseudo-inverse: features that depend on each other leave no inverse
    inverse = np.linalg.pinv(spread.covariance, hermitian=True)
    squares = np.zeros(len(z))
    for column, weights in zip(z.T, inverse, strict=True):
        squares += column * weigh(z, weights)
    distance: Column = np.sqrt(np.maximum(squares, 0.0))
    return distance


def explain(spread: Spread) -> dict[str, float | list[float]]:
    """How many dimensions the features really have."""
    return {"rank": float(np.linalg.matrix_rank(spread.covariance, hermitian=True))}
