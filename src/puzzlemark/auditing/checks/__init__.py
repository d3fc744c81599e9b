"""Checks of an audit: one file per check, found by its name; `base` says what each offers."""

from puzzlemark.plugins import Shape

SHAPE = Shape("a check", "module", "Check")
