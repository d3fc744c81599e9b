"""An encoder without a model: the code `vector 3` has row 3 of a table."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest
from numpy.typing import NDArray

from puzzlemark.corpora.base import Corpus, open_corpus
from puzzlemark.detectors._states import Encoding
from puzzlemark.detectors.base import Detector, Suspicion
from puzzlemark.engines.base import make
from puzzlemark.models.encoders.base import Vectors
from puzzlemark.progress import no_progress


@dataclass(slots=True)
class TableEncoder:
    table: NDArray[Any]
    about: dict[str, Any] = field(default_factory=lambda: {"kind": "table"})
    asked: list[int] = field(default_factory=list)
    breaks_after: int | None = None  # calls

    def describe(self) -> dict[str, Any]:
        return dict(self.about)

    def encode(self, codes: Sequence[str]) -> Vectors:
        if self.breaks_after is not None:
            if self.breaks_after == 0:
                raise KeyboardInterrupt
            self.breaks_after -= 1
        numbers = [int(code.split()[-1]) for code in codes]
        self.asked += numbers
        vectors: Vectors = np.asarray(self.table[numbers], np.float32)
        return vectors


def write_corpus(folder: Path, codes: Sequence[str | None]) -> Corpus:
    path = folder / "numbers.jsonl"
    records = ({"id": f"r{n}", "language": "python", "code": c} for n, c in enumerate(codes))
    path.write_bytes(b"".join(orjson.dumps(record) + b"\n" for record in records))
    return open_corpus(path)


def numbered(count: int) -> list[str | None]:
    return [f"vector {number}" for number in range(count)]


def suspect(
    detector: Detector,
    table: NDArray[Any],
    folder: Path,
    patch: pytest.MonkeyPatch,
    codes: Sequence[str | None] | None = None,
) -> Suspicion:
    """Run a detector whose model is a table."""
    about = {"kind": "table", "sha256": hashlib.sha256(table.tobytes()).hexdigest()}
    patch.setattr(Encoding, "open", lambda _: TableEncoder(table, about))
    corpus = write_corpus(folder, numbered(len(table)) if codes is None else codes)
    cache = folder / "cache"
    return detector.suspect(corpus, clean=None, engine=make(1), progress=no_progress, cache=cache)
