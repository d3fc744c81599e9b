"""What a projection offers."""

from collections.abc import Mapping
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]  # standardised features: snippets x features
Column = NDArray[np.float64]


class Projection(Protocol):
    """The shape of each file in this room."""

    def project(self, z: Matrix) -> Column:
        """One number a row; the more complex the snippet, the higher."""
        ...

    def explain(self, z: Matrix) -> Mapping[str, float | list[float]]:
        """What a report may say about the projection, for JSON; lists go by feature."""
        ...
