"""Pretrained models that a package index carries: one file per model, all of it data."""

from puzzlemark.plugins import Shape

SHAPE = Shape("a pretrained model", "object", "Pretrained")
