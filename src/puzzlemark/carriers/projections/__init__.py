"""Projections: one file per way to make one number, the complexity, of a row of features."""
