"""An attack: records with more than so many lines are dropped, as some who train do anyway."""

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from puzzlemark.attacks.base import NOTHING, Given, Input, Plan
from puzzlemark.corpora.base import Batch, Corpus


@dataclass(frozen=True, slots=True)
class LongestFirst:
    """`LongestFirst(lines=40)`; on the command line `--attack longest_first:lines=40`."""

    lines: int = 60
    name: ClassVar[str] = "longest_first"
    needs: ClassVar[frozenset[Input]] = NOTHING
    takes: ClassVar[frozenset[Input]] = NOTHING

    def plan(self, corpus: Corpus, given: Given) -> Plan:
        """Keep the rows of all others; the driver writes them with their own bytes."""
        kept: list[int] = []
        records = 0
        for rows, count in given.engine.map(partial(_short, self.lines), corpus.batches()):
            kept += rows
            records += count
            given.progress("reading", records, None)
        return Plan(rows=np.array(kept, np.int64), counts={"long records": records - len(kept)})


# a function of the module, and not of an object: engines send it to other processes
def _short(most: int, batch: Batch) -> tuple[list[int], int]:
    entries = batch.entries()
    short = [entry.row for entry in entries if len((entry.code or "").splitlines()) <= most]
    return short, len(entries)


PLUGIN = LongestFirst
