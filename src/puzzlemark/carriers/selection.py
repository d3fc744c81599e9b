"""Suitability scores, and the candidates to carry a mark (paper, section 4.2.2)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from puzzlemark import plugins
from puzzlemark.carriers.projections.base import Column, Matrix, Projection
from puzzlemark.errors import UsageError
from puzzlemark.features.measure import DEFAULT, FeatureTable

TAU = 0.35  # suitability quantile: this share of the snippets, the most complex, is left out
FAINT = 1e-9  # a spread this small beside the values themselves is rounding, not spread
STEEPEST = 700.0  # exp of more overflows


@dataclass(frozen=True, slots=True, eq=False)
class Selection:
    """Who may carry a mark: by row of the corpus, and how it was decided."""

    scores: NDArray[np.float64]  # suitability: high is simple; NaN where not measured
    threshold: float  # the tau-quantile of the scores; NaN when nothing was measured
    is_candidate: NDArray[np.bool_]
    features: tuple[str, ...]
    projection: str
    tau: float
    details: Mapping[str, float | list[float]]  # what the projection says of itself, for JSON

    def to_json(self) -> dict[str, float | list[float] | None]:
        """The threshold and the projection's details; None for a number that JSON has not."""
        threshold = self.threshold if np.isfinite(self.threshold) else None
        return {"threshold": threshold, **self.details}


def select(
    table: FeatureTable,
    *,
    features: Sequence[str] = DEFAULT,
    projection: str = "pca",
    tau: float = TAU,
) -> Selection:
    """Score every measured snippet and keep those that are not among the tau most complex."""
    if not 0.0 <= tau <= 1.0:
        raise UsageError(f"tau is {tau}; it is a quantile, from 0 (keep all) to 1")
    chosen: Projection = plugins.configure("carriers.projections", projection)
    z = table.select(features)
    _standardise(z)
    scores = np.full(len(table), np.nan)
    threshold = float("nan")
    details: Mapping[str, float | list[float]] = {}
    if len(z) > 0:
        suitability = _suitability(chosen.project(z))
        threshold = float(np.quantile(suitability, tau))
        scores[table.measured] = suitability
        details = chosen.explain(z)
    # a NaN is never at or above the threshold: what is not measured is no candidate
    return Selection(
        scores, threshold, scores >= threshold, tuple(features), projection, tau, details
    )


def _standardise(x: Matrix) -> None:
    """In place: every feature gets mean 0 and population standard deviation 1.

    A feature that is the same everywhere becomes 0 everywhere.
    """
    if len(x) == 0:
        return
    x -= x.mean(axis=0)
    deviation = np.sqrt(np.einsum("ij,ij->j", x, x) / len(x))
    x /= np.where(deviation == 0, 1.0, deviation)


def _suitability(projected: Column) -> Column:
    """1 - sigmoid(projection / gamma), gamma being twice its standard deviation."""
    gamma = 2.0 * float(projected.std())
    if gamma <= FAINT * float(np.abs(projected).max()):
        return np.full(len(projected), 0.5)
    steps = np.clip(projected / gamma, -STEEPEST, STEEPEST)
    suitability: Column = 1.0 / (1.0 + np.exp(steps))  # 1 - sigmoid(x) is sigmoid(-x)
    return suitability
