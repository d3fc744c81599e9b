"""The first principal component: where snippets differ most (paper, section 4.2.2)."""

import numpy as np

from puzzlemark.carriers.projections.base import Column, Matrix, Spread, weigh

NEGLIGIBLE = 1e-9  # of a unit vector


def project(z: Matrix, spread: Spread) -> Column:
    """Each row's place along the leading eigenvector of the covariance matrix."""
    weights, _ = _leading(spread.covariance)
    return weigh(z, weights)


def explain(spread: Spread) -> dict[str, float | list[float]]:
    """The weight of each feature, and the share of the variance that lies along them."""
    weights, share = _leading(spread.covariance)
    return {"weights": weights.tolist(), "explained_variance": share}


def _leading(covariance: Matrix) -> tuple[Column, float]:
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
