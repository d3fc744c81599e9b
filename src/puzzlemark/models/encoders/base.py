"""What an encoder is: a white box that turns each code into one vector.

Only who looks for marks may use one. Verification is black box and never imports this package.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from puzzlemark import plugins

Vectors: TypeAlias = NDArray[np.float32]  # codes x width


class Encoder(Protocol):
    """A white box. The same code gets the same vector, but for rounding."""

    def describe(self) -> dict[str, Any]:
        """For the record: what decides the vectors. Changed means other vectors."""
        ...

    def encode(self, codes: Sequence[str]) -> Vectors:
        """One row for each code, in order. More codes at once: less padding is computed."""
        ...


class EncoderPlugin(Protocol):
    """What a module offers as `PLUGIN`: a class whose fields are the settings of the encoder."""

    def open(self) -> Encoder:
        """The encoder; raises ModelError when it cannot be had."""
        ...


def open_encoder(kind: str, args: Mapping[str, Any]) -> Encoder:
    """`open_encoder("hf", {"pretrained": "FOLDER", "pooling": "mean"})`."""
    plugin: EncoderPlugin = plugins.configure("models.encoders", kind, args)
    return plugin.open()
