"""A projection: the mean of the features, some of them counted more often."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from puzzlemark.carriers.projections.base import Column, Matrix


@dataclass(frozen=True, slots=True)
class Weighted:
    """`--projection 'weighted:first=3'` counts the first feature three times."""

    first: float = 1.0

    def project(self, z: Matrix) -> Column:
        """One number a row; the more complex the snippet, the higher."""
        # not `z @ weights`: BLAS may round equal rows differently
        projected: Column = np.einsum("ij,j->i", z, self._weights(z))
        return projected

    def explain(self, z: Matrix) -> Mapping[str, float | list[float]]:
        """What a report may say: the weight of each feature."""
        return {"weights": self._weights(z).tolist()}

    def _weights(self, z: Matrix) -> Column:
        weights: Column = np.ones(z.shape[1])
        weights[0] = self.first
        shares: Column = weights / weights.sum()
        return shares


PLUGIN = Weighted
