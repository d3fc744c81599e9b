"""One pass more for a watermark that follows nature: what could carry, and how likely its names.

The pass reads the snippets in which the mark may occur, on any engine, batch by batch. Of each
place stay some hundred bytes, and the counts, or what was learnt from all that stands around them.
It knows no key of the watermark: who is eligible, in which order they are walked, and how likely
each name is, are the same for all keys.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from puzzlemark.corpora.base import Batch, Corpus
from puzzlemark.embedding.survey import parse_entry
from puzzlemark.engines.base import Engine
from puzzlemark.habits.choosing import choose
from puzzlemark.habits.seen import Gathering
from puzzlemark.progress import Progress, no_progress
from puzzlemark.syntax.variables import Policy, functions
from puzzlemark.watermarks._counting import PARTS
from puzzlemark.watermarks.base import Counting, Counts, Sighting, Watermark

Found: TypeAlias = list[tuple[int, str, str, list[Sighting]]]  # row, project, file, places
NOT_ELIGIBLE = "no variable that every name of its set would suit, with a choice that is one"


@dataclass(frozen=True, slots=True, eq=False)
class Counted:
    """What the pass learnt, in dataset order."""

    watermark: Watermark  # knows the counts now
    eligible: NDArray[np.bool_]  # which records have a place that may carry
    order: NDArray[np.uint64]  # walk them by ascending number: copies stand together
    digest: str  # of the counts

    @property
    def most(self) -> int:
        """How many records may carry, as a share of the eligible ones."""
        assert isinstance(self.watermark, Counting)
        return int(self.watermark.share * np.count_nonzero(self.eligible) + 1e-9)


def count_places(
    corpus: Corpus,
    rows: NDArray[np.int64],
    watermark: Counting,
    engine: Engine,
    *,
    records: int,
    policy: Policy,
    language: str | None = None,
    order_key: bytes | None = None,
    progress: Progress = no_progress,
) -> Counted:
    """Count the places that could carry, in some rows (ascending) of a dataset of `records`."""
    growing = _Growing()
    function = partial(count_batch, watermark=watermark, policy=policy, language=language)
    for part in corpus.map(function, engine, rows):
        growing.add(part)
        progress("counting", growing.rows, len(rows))
    counts = growing.counts()
    counting = watermark.with_counts(counts)
    assert isinstance(counting, Counting)
    eligible = np.zeros(records, np.bool_)
    order = np.zeros(records, np.uint64)
    for row, project, sighting, _ in growing.places:
        if not eligible[row] and counting.is_eligible(sighting, project):
            eligible[row] = True
            order[row] = row if order_key is None else _place(sighting.unit, order_key)
    return Counted(counting, eligible, order, counts.digest)


def count_batch(
    batch: Batch, watermark: Counting, *, policy: Policy, language: str | None
) -> Found:
    """The worker's share: the records with such places."""
    found: Found = []
    for entry in batch.entries():
        tree = parse_entry(entry, language)
        places = [
            each
            for function in functions(tree)
            for each in watermark.sightings(tree, function, policy)
        ]
        found.append((entry.row, entry.project, entry.file, places))
    return found


def _place(unit: str, key: bytes) -> int:
    """The place of a unit in the secret order, by its class and not its id.

    Copies of a function go together: where one carries and the other does not, whoever compares
    them sees the mark.
    """
    digest = hashlib.blake2b(unit.encode(), key=key, digest_size=8)
    return int.from_bytes(digest.digest(), "big")


@dataclass(slots=True)
class _Growing:
    """The counts while they are made; equal texts are kept once."""

    rows: int = 0
    # row, project, what could carry, and its number among all that is learnt from
    places: list[tuple[int, str, Sighting, int]] = field(default_factory=list)
    gathering: Gathering = field(default_factory=Gathering)
    texts: dict[str, str] = field(default_factory=dict)
    everywhere: dict[str, Counter[str]] = field(default_factory=dict)
    within: dict[str, dict[str, Counter[str]]] = field(default_factory=dict)
    homes: dict[str, str] = field(default_factory=dict)  # unit -> the first project that has it
    shared: set[str] = field(default_factory=set)  # units that several projects have

    def add(self, part: Iterable[tuple[int, str, str, list[Sighting]]]) -> None:
        for row, project, file, places in part:
            self.rows += 1
            for each in places:
                number = -1
                if each.spot is not None:
                    number = self.gathering.add(each.spot, row, project, file)
                if each.can_carry:
                    self._add(row, self._same(project), each, number)

    def _add(self, row: int, project: str, each: Sighting, number: int) -> None:
        group, value = self._same(each.group), self._same(each.value)
        self.places.append((row, project, Sighting(group, value, each.unit), number))
        if number >= 0:
            return  # nothing is counted where all is learnt
        self.everywhere.setdefault(group, Counter())[value] += 1
        self.within.setdefault(project, {}).setdefault(group, Counter())[value] += 1
        if self.homes.setdefault(each.unit, project) != project:
            self.shared.add(each.unit)

    def _same(self, text: str) -> str:
        return self.texts.setdefault(text, text)

    def counts(self) -> Counts:
        homes = {unit: self.homes[unit] for unit in sorted(self.shared)}
        return Counts(self.everywhere, self.within, homes, self._learnt())

    def _learnt(self) -> dict[tuple[str, str], tuple[int, ...]]:
        """How likely each name is at each place; copies have the chances of the first one."""
        firsts: dict[tuple[str, str], int] = {}
        for _, _, each, number in self.places:
            if number >= 0:
                firsts.setdefault((each.group, each.unit), number)
        seen = self.gathering.seen()
        numbers = np.array(list(firsts.values()), np.int64)
        chances = choose(seen, numbers)
        sizes = [len(seen.sets[number][1]) for number in seen.numbers[numbers].tolist()]
        parts = np.rint(PARTS * chances).astype(np.int64).tolist()
        return {
            place: tuple(row[:size]) for place, row, size in zip(firsts, parts, sizes, strict=True)
        }
