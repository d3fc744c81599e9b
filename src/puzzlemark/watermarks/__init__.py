"""Watermark schemes: how to mark one tree, one file per scheme."""
