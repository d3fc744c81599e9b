"""Projections: one file per way to make one number, the complexity, of a row of features."""

from puzzlemark.plugins import Shape

SHAPE = Shape("a projection", "module", "Projection")
