"""TOPSIS: nearness to the most complex snippet imaginable, farness from the simplest."""

import numpy as np

from puzzlemark.carriers.projections.base import Column, Matrix, Spread


def project(z: Matrix, spread: Spread) -> Column:
    """0 at the lowest value of every feature, 1 at the highest of every one."""
    from_simplest = _distance(z, spread.lowest)
    both = from_simplest + _distance(z, spread.highest)
    closeness = np.full(len(z), 0.5)  # where all snippets are alike, none is nearer
    np.divide(from_simplest, both, out=closeness, where=both > 0)
    return closeness


def explain(spread: Spread) -> dict[str, float | list[float]]:
    """The two corners, in standard deviations from the mean."""
    return {"simplest": spread.lowest.tolist(), "most_complex": spread.highest.tolist()}


def _distance(z: Matrix, corner: Column) -> Column:
    squares = np.zeros(len(z))
    for column, value in zip(z.T, corner, strict=True):  # by column: no second matrix
        squares += (column - value) ** 2
    return np.sqrt(squares)
