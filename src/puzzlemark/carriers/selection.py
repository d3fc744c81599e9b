"""Suitability scores, and the candidates to carry a mark (paper, section 4.2.2).

A dataset need not be in memory: `fit` reads its features in pieces, some times over.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from puzzlemark import plugins
from puzzlemark.carriers.moments import Moments, Standard
from puzzlemark.carriers.projections.base import Column, Projection
from puzzlemark.carriers.ranks import quantile
from puzzlemark.errors import UsageError
from puzzlemark.features.measure import DEFAULT, FeatureTable, columns_of

TAU = 0.35  # suitability quantile: this share of the snippets, the most complex, is left out
FAINT = 1e-9  # a spread this small beside the values themselves is rounding, not spread
STEEPEST = 700.0  # exp of more overflows

Values: TypeAlias = NDArray[np.int32]  # snippets x FEATURES, all of them measured
Pieces: TypeAlias = Callable[[], Iterable[Values]]  # of a dataset, the same each time


@dataclass(frozen=True, slots=True, eq=False)
class Suitability:
    """How a dataset's snippets are scored: from the features of one, without the others."""

    features: tuple[str, ...]
    projection: str
    tau: float
    threshold: float  # the tau-quantile of the scores; NaN when nothing was measured
    details: Mapping[str, float | list[float]]  # what the projection says of itself, for JSON
    score: Callable[[Values], Column]  # high is simple

    def is_candidate(self, values: Values) -> NDArray[np.bool_]:
        """Who may carry a mark, among some measured snippets."""
        return self.score(values) >= self.threshold

    def to_json(self) -> dict[str, float | list[float] | None]:
        """The threshold and the projection's details; None for a number that JSON has not."""
        threshold = self.threshold if np.isfinite(self.threshold) else None
        return {"threshold": threshold, **self.details}


def fit(
    moments: Moments,
    pieces: Pieces,
    *,
    features: Sequence[str] = DEFAULT,
    projection: str = "pca",
    tau: float = TAU,
) -> Suitability:
    """Learn the scores of a dataset, of which `moments` are the sums and `pieces` the features.

    Nothing here depends on how the dataset is cut: sums are exact, and the quantile is.
    """
    if not 0.0 <= tau <= 1.0:
        raise UsageError(f"tau is {tau}; it is a quantile, from 0 (keep all) to 1")
    chosen: Projection = plugins.configure("carriers.projections", projection)
    columns = columns_of(features)
    if not moments.count:
        return Suitability(tuple(features), projection, tau, math.nan, {}, _no_score)
    standard = moments.standard(columns)
    score = _Score(columns, standard, chosen, _gamma(columns, standard, chosen, pieces))
    threshold = quantile(lambda: map(score, pieces()), moments.count, tau)
    details = chosen.explain(standard.spread)
    return Suitability(tuple(features), projection, tau, threshold, details, score)


def _no_score(values: Values) -> Column:
    return np.full(len(values), np.nan)


@dataclass(frozen=True, slots=True, eq=False)
class _Score:
    """1 - sigmoid(projection / gamma)."""

    columns: list[int]
    standard: Standard
    projection: Projection
    gamma: float  # 0: all snippets are alike

    def __call__(self, values: Values) -> Column:
        if not self.gamma:
            return np.full(len(values), 0.5)
        projected = _project(self.columns, self.standard, self.projection, values)
        steps = np.clip(projected / self.gamma, -STEEPEST, STEEPEST)
        suitability: Column = 1.0 / (1.0 + np.exp(steps))  # 1 - sigmoid(x) is sigmoid(-x)
        return suitability


def _project(
    columns: list[int], standard: Standard, projection: Projection, values: Values
) -> Column:
    return projection.project(standard(values[:, columns]), standard.spread)


def _gamma(columns: list[int], standard: Standard, projection: Projection, pieces: Pieces) -> float:
    """Twice the standard deviation of the projections, in two passes; 0 where it is rounding."""
    count, farthest = 0, 0.0

    def projections() -> Iterator[Column]:
        return (_project(columns, standard, projection, values) for values in pieces())

    def once() -> Iterator[float]:
        nonlocal count, farthest
        for column in projections():
            count += len(column)
            farthest = max(farthest, float(np.abs(column).max(initial=0.0)))
            yield from column.tolist()

    mean = math.fsum(once()) / count  # rounded once, whatever the order
    squares = math.fsum(
        square for column in projections() for square in ((column - mean) ** 2).tolist()
    )
    gamma = 2.0 * math.sqrt(squares / count)
    return 0.0 if gamma <= FAINT * farthest else gamma


@dataclass(frozen=True, slots=True, eq=False)
class Selection:
    """Who may carry a mark, by row of a table that is in memory, and how it was decided."""

    scores: NDArray[np.float64]  # suitability: high is simple; NaN where not measured
    is_candidate: NDArray[np.bool_]
    suitability: Suitability

    @property
    def threshold(self) -> float:
        """The tau-quantile of the scores; NaN when nothing was measured."""
        return self.suitability.threshold

    @property
    def details(self) -> Mapping[str, float | list[float]]:
        """What the projection says of itself."""
        return self.suitability.details


def select(
    table: FeatureTable,
    *,
    features: Sequence[str] = DEFAULT,
    projection: str = "pca",
    tau: float = TAU,
) -> Selection:
    """Score every measured snippet and keep those that are not among the tau most complex."""
    values = table.values[table.measured]
    suitability = fit(
        Moments.of(values),
        lambda: (values,),
        features=features,
        projection=projection,
        tau=tau,
    )
    scores = np.full(len(table), np.nan)
    scores[table.measured] = suitability.score(values)
    # a NaN is never at or above the threshold: what is not measured is no candidate
    return Selection(scores, scores >= suitability.threshold, suitability)
