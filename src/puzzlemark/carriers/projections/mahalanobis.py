"""Mahalanobis distance from the mean: how unusual, in either direction.

It has no sign: a snippet far simpler than most is as far out as one far more complex.
"""

import numpy as np

from puzzlemark.carriers.projections.base import Column, Matrix


def project(z: Matrix) -> Column:
    """The distance of each row from the mean, in the metric of the covariance matrix."""
    # the pseudo-inverse: features that depend on each other leave no inverse
    inverse = np.linalg.pinv(_covariance(z), hermitian=True)
    # not `z @ inverse`: BLAS may round equal rows differently
    squares = np.einsum("ij,ij->i", np.einsum("ij,jk->ik", z, inverse), z)
    distance: Column = np.sqrt(np.maximum(squares, 0.0))
    return distance


def explain(z: Matrix) -> dict[str, float | list[float]]:
    """How many dimensions the features really have."""
    return {"rank": float(np.linalg.matrix_rank(_covariance(z), hermitian=True))}


def _covariance(z: Matrix) -> Matrix:
    covariance: Matrix = z.T @ z / max(len(z) - 1, 1)
    return covariance
