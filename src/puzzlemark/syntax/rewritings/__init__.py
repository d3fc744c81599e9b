"""Rewritings: two ways to write one expression, one file each, found by its name."""

from puzzlemark.plugins import Shape

SHAPE = Shape("a rewriting", "module", "Rewriting")
