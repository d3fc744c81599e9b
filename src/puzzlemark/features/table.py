"""The features of a corpus: one row a snippet, ten whole numbers a row."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from puzzlemark.errors import UsageError

FEATURES = ("cc", "nloc", "tc", "mlcn", "mdt", "ufcc", "vc", "dvc", "ec", "dec")
DEFAULT = ("cc", "nloc", "tc", "vc", "dvc", "ec", "dec")  # the seven that the paper keeps


@dataclass(frozen=True, slots=True, eq=False)
class FeatureTable:
    """Features in corpus order; a snippet that does not parse has a row of zeros, not measured."""

    values: NDArray[np.int32]  # snippets x FEATURES
    measured: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.values)

    @classmethod
    def from_rows(cls, rows: Iterable[Sequence[int] | None]) -> "FeatureTable":
        """A table, or a chunk of one, from what `measure` gave; None: not measured."""
        kept = list(rows)
        nothing = (0,) * len(FEATURES)
        values = np.array([nothing if row is None else row for row in kept], dtype=np.int32)
        measured = np.array([row is not None for row in kept], dtype=np.bool_)
        return cls(values.reshape(len(kept), len(FEATURES)), measured)

    def select(self, names: Sequence[str]) -> NDArray[np.float64]:
        """The columns with these names, as new floats, of the measured rows only."""
        columns = _columns(names)
        matrix = np.empty((int(self.measured.sum()), len(columns)))
        for place, column in enumerate(columns):
            matrix[:, place] = self.values[self.measured, column]
        return matrix


def _columns(names: Sequence[str]) -> list[int]:
    if not names:
        raise UsageError(f"no feature chosen; known: {', '.join(FEATURES)}")
    for name in names:
        if name not in FEATURES:
            raise UsageError(f"no feature {name!r}; known: {', '.join(FEATURES)}")
        if list(names).count(name) > 1:
            raise UsageError(f"feature {name!r} is named twice; name it once")
    return [FEATURES.index(name) for name in names]
