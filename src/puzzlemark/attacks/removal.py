"""Drop what a detector flags: the records of a suspicion file, or of a detector that is run."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from puzzlemark.attacks._claims import needed, suspect, taken
from puzzlemark.attacks.base import Given, Input, Plan
from puzzlemark.corpora.base import Corpus
from puzzlemark.detectors.base import load_detector


@dataclass(frozen=True, slots=True)
class Removal:
    """`Removal()` with a suspicion file, or `Removal(detector="decoma:z=2.5")`."""

    detector: str | None = None  # None: the flags of --suspicion
    name: ClassVar[str] = "removal"

    def __post_init__(self) -> None:
        if self.detector is not None:
            load_detector(self.detector)  # a wrong name is an error before any work

    @property
    def needs(self) -> frozenset[Input]:
        """A suspicion, or what the detector compares with."""
        return needed(self.detector)

    @property
    def takes(self) -> frozenset[Input]:
        """The same, and clean records where they help."""
        return taken(self.detector)

    def plan(self, corpus: Corpus, given: Given) -> Plan:
        """Keep what is not flagged; what could not be judged is not flagged."""
        suspicion = suspect(self.detector, corpus, given)
        return Plan(
            rows=np.flatnonzero(~suspicion.flagged).astype(np.int64),
            counts={"records flagged": int(np.count_nonzero(suspicion.flagged))},
            spared=suspicion.skipped,
        )


PLUGIN = Removal
