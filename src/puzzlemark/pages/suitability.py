"""The picture that `puzzlemark score` draws: suitability, and where the candidates begin."""

import numpy as np
from numpy.typing import NDArray

from puzzlemark.pages.histogram import Labels, histogram

LABELS = Labels(
    across="suitability (left: complex code, right: simple code)",
    up="records",
    below="too complex",
    above="may carry a mark",
)


def suitability_picture(scores: NDArray[np.float64], threshold: float | None, tau: float) -> str:
    """The distribution of suitability; NaN: not measured, None: no threshold."""
    measured = int(np.count_nonzero(np.isfinite(scores)))
    return histogram(
        scores,
        float("nan") if threshold is None else threshold,
        "Suitability to carry a mark",
        LABELS,
        subtitle=f"{measured:,} records measured, quantile tau {tau:g}",
    )
