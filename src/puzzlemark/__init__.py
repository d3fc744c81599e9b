"""PuzzleMark: watermark a code dataset, and prove later that a model was trained on it."""

__version__ = "0.1.0"
