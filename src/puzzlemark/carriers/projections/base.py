"""What a projection offers."""

from collections.abc import Mapping
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]  # standardised features: snippets x features
Column = NDArray[np.float64]


class Projection(Protocol):
    """What each file of this package offers, or the class that it has as `PLUGIN`."""

    def project(self, z: Matrix) -> Column:
        """One number a row; the more complex the snippet, the higher."""
        ...

    def explain(self, z: Matrix) -> Mapping[str, float | list[float]]:
        """What a report may say about the projection, for JSON; lists go by feature."""
        ...
