"""Where a pure map over batches runs; one file per engine."""

from puzzlemark.plugins import Shape

SHAPE = Shape("an engine", "class", "Engine")
