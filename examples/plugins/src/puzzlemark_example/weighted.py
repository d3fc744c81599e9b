"""A projection: the mean of the features, some of them counted more often."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from puzzlemark.carriers.projections.base import Column, Matrix, Spread, weigh


@dataclass(frozen=True, slots=True)
class Weighted:
    """`--projection 'weighted:first=3'` counts the first feature three times."""

    first: float = 1.0

    def project(self, z: Matrix, spread: Spread) -> Column:
        """One number a row; the more complex the snippet, the higher."""
        return weigh(z, self._weights(spread))

    def explain(self, spread: Spread) -> Mapping[str, float | list[float]]:
        """What a report may say: the weight of each feature."""
        return {"weights": self._weights(spread).tolist()}

    def _weights(self, spread: Spread) -> Column:
        weights: Column = np.ones(len(spread.lowest))
        weights[0] = self.first
        shares: Column = weights / weights.sum()
        return shares


PLUGIN = Weighted
