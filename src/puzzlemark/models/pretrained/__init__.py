"""Pretrained models that a package index carries: one file per model, all of it data."""
