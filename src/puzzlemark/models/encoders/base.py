"""What an encoder is: a white box that turns each code into one vector.

Only who looks for marks may use one. Verification is black box and never imports this room.
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


def open_encoder(kind: str, args: Mapping[str, str]) -> Encoder:
    """`open_encoder("hf", {"pretrained": "FOLDER", "pooling": "mean"})`."""
    encoder: Encoder = plugins.load("models.encoders", kind).make(args)
    return encoder
