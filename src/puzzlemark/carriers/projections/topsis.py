"""TOPSIS: nearness to the most complex snippet imaginable, farness from the simplest."""

import numpy as np

from puzzlemark.carriers.projections.base import Column, Matrix


def project(z: Matrix) -> Column:
    """0 at the lowest value of every feature, 1 at the highest of every one."""
    from_simplest = _distance(z, z.min(axis=0))
    both = from_simplest + _distance(z, z.max(axis=0))
    closeness = np.full(len(z), 0.5)  # where all snippets are alike, none is nearer
    np.divide(from_simplest, both, out=closeness, where=both > 0)
    return closeness


def explain(z: Matrix) -> dict[str, float | list[float]]:
    """The two corners, in standard deviations from the mean."""
    return {"simplest": z.min(axis=0).tolist(), "most_complex": z.max(axis=0).tolist()}


def _distance(z: Matrix, corner: Column) -> Column:
    squares = np.zeros(len(z))
    for column, value in zip(z.T, corner, strict=True):  # by column: no second matrix
        squares += (column - value) ** 2
    return np.sqrt(squares)
