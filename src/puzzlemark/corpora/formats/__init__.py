"""Dataset formats: one file per format, found by its name; `base` says what each offers."""

from puzzlemark.plugins import Shape

SHAPE = Shape("a dataset format", "module", "Format")
