"""Rewritings: two ways to write one expression, one file each, found by its name."""
