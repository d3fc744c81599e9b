"""Rename the variables that a detector found, or every local one, to names that say nothing."""

from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Literal

import numpy as np

from puzzlemark.attacks._claims import needed, suspect, taken
from puzzlemark.attacks._editing import Edited, edit_records
from puzzlemark.attacks._renaming import canonical, rename_variables
from puzzlemark.attacks.base import NOTHING, Given, Input, Plan
from puzzlemark.corpora.base import Corpus
from puzzlemark.detectors.base import Suspicion, load_detector
from puzzlemark.errors import UsageError
from puzzlemark.snippet import Snippet
from puzzlemark.syntax.variables import Policy

Scope = Literal["flagged", "all"]


@dataclass(frozen=True, slots=True)
class Rename:
    """`Rename()` with a suspicion file, `Rename(detector="concat")`, or `Rename(scope="all")`.

    New names are `v0`, `v1`, ...
    """

    scope: Scope = "flagged"  # only the names that make a record suspect; all: every local one
    detector: str | None = None  # None: the names in --suspicion
    policy: Policy = "safe"  # paper: parameters, too, which breaks callers that pass them by name
    name: ClassVar[str] = "rename"

    def __post_init__(self) -> None:
        if self.detector is not None:
            load_detector(self.detector)  # a wrong name is an error before any work
        if self.scope == "all" and self.detector is not None:
            raise UsageError("rename: scope=all asks no detector; leave out detector")

    @property
    def needs(self) -> frozenset[Input]:
        """A suspicion, or what the detector compares with; nothing to rename all."""
        return NOTHING if self.scope == "all" else needed(self.detector)

    @property
    def takes(self) -> frozenset[Input]:
        """The same, and clean records where they help."""
        return NOTHING if self.scope == "all" else taken(self.detector)

    def plan(self, corpus: Corpus, given: Given) -> Plan:
        """Rename where behaviour stays the same; what must keep its name is counted."""
        if self.scope == "all":
            return edit_records(partial(_rename_all, self.policy), corpus, given, stage="renaming")
        notes = _suspect_names(suspect(self.detector, corpus, given))
        return edit_records(
            partial(_rename_named, self.policy),
            corpus,
            given,
            rows=np.fromiter(notes, np.int64, len(notes)),
            notes=notes,
            stage="renaming",
        )


def _suspect_names(suspicion: Suspicion) -> dict[int, tuple[str, ...]]:
    """The names of each flagged row, in order."""
    if suspicion.names is None:
        raise UsageError(
            "rename: the suspicion does not say which names are suspect; take one that `puzzlemark "
            "detect --method concat` wrote, or pass scope=all"
        )
    rows = np.flatnonzero(suspicion.flagged).tolist()
    return {row: tuple(suspicion.names[row]) for row in rows if suspicion.names[row]}


def _rename_all(policy: Policy, snippet: Snippet, _names: tuple[str, ...]) -> Edited:
    return rename_variables(snippet, lambda _: True, canonical(), policy)


def _rename_named(policy: Policy, snippet: Snippet, names: tuple[str, ...]) -> Edited:
    return rename_variables(snippet, lambda each: each.name in names, canonical(), policy)


PLUGIN = Rename
