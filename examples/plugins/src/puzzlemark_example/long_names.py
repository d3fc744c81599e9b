"""A detector: records with a name that is longer than most people write."""

import re
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import ClassVar

import numpy as np

from puzzlemark.corpora.base import Batch, Corpus
from puzzlemark.detectors.base import Suspicion
from puzzlemark.engines.base import Engine
from puzzlemark.errors import UnparsableSnippet
from puzzlemark.progress import Progress

WORD = re.compile(r"[^\W\d]\w*")


@dataclass(frozen=True, slots=True)
class LongNames:
    """`LongNames(longest=30)`; on the command line `--method long_names --set longest=30`."""

    longest: int = 24
    name: ClassVar[str] = "long_names"

    @property
    def needs_clean(self) -> bool:
        """It has nothing to compare with."""
        return False

    @property
    def takes_clean(self) -> bool:
        """Clean records would make no difference."""
        return False

    def suspect(
        self,
        corpus: Corpus,
        *,
        clean: Corpus | None,  # noqa: ARG002
        engine: Engine,
        progress: Progress,
        cache: Path,  # noqa: ARG002
    ) -> Suspicion:
        """The longest name of each record is its score."""
        ids: list[str] = []
        scores: list[float] = []
        reasons: list[str | None] = []
        for batch in engine.map(partial(_judge, longest=self.longest), corpus.batches()):
            for id_, score, reason in batch:
                ids.append(id_)
                scores.append(score)
                reasons.append(reason)
            progress("looking", len(ids), None)
        values = np.asarray(scores, dtype=np.float64)
        return Suspicion(ids, values > self.longest, values, reasons)


# a function of the module, and not of an object: engines send it to other processes
def _judge(batch: Batch, longest: int) -> list[tuple[str, float, str | None]]:
    judged: list[tuple[str, float, str | None]] = []
    for entry in batch.entries():
        try:
            name = _longest_name(entry.code)
        except UnparsableSnippet as exc:
            judged.append((entry.id, float("nan"), str(exc)))  # every record has its line
            continue
        reason = f"a name of {len(name)} characters: {name}" if len(name) > longest else None
        judged.append((entry.id, float(len(name)), reason))
    return judged


def _longest_name(code: str | None) -> str:
    if code is None:
        raise UnparsableSnippet("no code")
    return max(WORD.findall(code), key=len, default="")


PLUGIN = LongNames
