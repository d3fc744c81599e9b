"""The first principal component: where snippets differ most (paper, section 4.2.2)."""

import numpy as np

from puzzlemark.carriers.projections.base import Column, Matrix

NEGLIGIBLE = 1e-9  # of a unit vector


def project(z: Matrix) -> Column:
    """Each row's place along the leading eigenvector of the covariance matrix."""
    weights, _ = _leading(z)
    # not `z @ weights`: BLAS may round equal rows differently, and split a tie at the threshold
    projected: Column = np.einsum("ij,j->i", z, weights)
    return projected


def explain(z: Matrix) -> dict[str, float | list[float]]:
    """The weight of each feature, and the share of the variance that lies along them."""
    weights, share = _leading(z)
    return {"weights": weights.tolist(), "explained_variance": share}


def _leading(z: Matrix) -> tuple[Column, float]:
    covariance = z.T @ z / max(len(z) - 1, 1)
    values, vectors = np.linalg.eigh(covariance)
    total = float(values.sum())
    share = float(values[-1]) / total if total > 0 else 0.0
    return _upward(vectors[:, -1]), share


def _upward(weights: Column) -> Column:
    """An eigenvector has two signs: take the one whose weights have a positive sum.

    Where the sum is zero, the first weight that is not decides.
    """
    total = float(weights.sum())
    if abs(total) <= NEGLIGIBLE:
        total = float(weights[np.abs(weights) > NEGLIGIBLE][0])
    return weights if total > 0 else -weights
