"""Recipes: one file per named way to train."""
