"""Models seen from inside: code in, vectors out; for detectors, never for verification."""

from puzzlemark.plugins import Shape

SHAPE = Shape("the settings of an encoder", "class", "EncoderPlugin", is_private=True)
