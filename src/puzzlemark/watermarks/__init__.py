"""Watermark schemes: how to mark one tree, one file per scheme."""

from puzzlemark.plugins import Shape

SHAPE = Shape("a watermark", "class", "Watermark")
