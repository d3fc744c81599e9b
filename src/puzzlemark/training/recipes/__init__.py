"""Recipes: one file per named way to train."""

from puzzlemark.plugins import Shape

SHAPE = Shape("a recipe", "object", "Recipe")
