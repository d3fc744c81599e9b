"""What nature would have called a variable: guesses from every place where people chose alike.

A mark is a name that a key drew. All that can give it away is a name that does not fit its place,
so each guess is a distribution over the members of a variable's set, made without the variable
itself: from its file, its project, what it is bound to, and a language model of the words around.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from puzzlemark.detectors._kneser_ney import fit
from puzzlemark.detectors._shadow_cells import HOLE, REACH, Cell

Chances = NDArray[np.float64]  # a row for each cell, a column for each member; 0 beyond its set
Integers = NDArray[np.int64]

BACKING = 2.0  # observations that the wider context is worth
FOLDS = 8  # of the records: nothing is judged by what was counted or read in its own fold
ORDER = 4
SURELY = 1e-9  # of a chance: no logarithm of 0


@dataclass(frozen=True, slots=True)
class Spot:
    """A cell, and where it was found."""

    record: int  # its number among all records, clean ones first
    is_suspect: bool
    language: str
    project: str
    file: str
    cell: Cell


@dataclass(frozen=True)
class Seen:
    """All cells, in columns."""

    spots: Sequence[Spot]
    sets: Sequence[tuple[str, ...]]  # every set of every language that was met
    numbers: Integers  # the set of each cell

    @classmethod
    def of(cls, spots: Sequence[Spot], tables: Mapping[str, tuple[tuple[str, ...], ...]]) -> "Seen":
        """`tables` are the public sets by language."""
        met = sorted({(spot.language, spot.cell.table) for spot in spots})
        place = {each: number for number, each in enumerate(met)}
        numbers = [place[spot.language, spot.cell.table] for spot in spots]
        sets = [tables[language][table] for language, table in met]
        return cls(spots, sets, np.array(numbers, np.int64))

    @cached_property
    def cells(self) -> list[Cell]:
        """Of each spot."""
        return [spot.cell for spot in self.spots]

    @cached_property
    def members(self) -> Integers:
        """The name that each has, as its number in the set."""
        return np.array([cell.member for cell in self.cells], np.int64)

    @cached_property
    def records(self) -> Integers:
        """The record of each."""
        return np.array([spot.record for spot in self.spots], np.int64)

    @cached_property
    def is_suspect(self) -> NDArray[np.bool_]:
        """Which are in the suspect dataset."""
        return np.array([spot.is_suspect for spot in self.spots], np.bool_)

    @cached_property
    def is_local(self) -> NDArray[np.bool_]:
        """Which are no parameters."""
        return np.array([not cell.is_parameter for cell in self.cells], np.bool_)

    @cached_property
    def widest(self) -> int:
        """Members of the largest set."""
        return max(map(len, self.sets), default=1)

    @cached_property
    def in_set(self) -> NDArray[np.bool_]:
        """Which columns are members of the cell's set."""
        sizes = np.array([len(names) for names in self.sets], np.int64)
        within: NDArray[np.bool_] = np.arange(self.widest)[None] < sizes[self.numbers][:, None]
        return within

    def marks(self, has: Callable[[Cell, str], bool]) -> NDArray[np.bool_]:
        """For each cell and each member of its set, whether something holds."""
        result = np.zeros((len(self.spots), self.widest), np.bool_)
        for row, (cell, number) in enumerate(zip(self.cells, self.numbers.tolist(), strict=True)):
            for column, name in enumerate(self.sets[number]):
                result[row, column] = has(cell, name)
        return result

    def groups(self, keys: Sequence[str]) -> Integers:
        """Cells of one set with the same key share a number."""
        joined = [f"{number}|{key}" for number, key in zip(self.numbers, keys, strict=True)]
        return np.unique(np.array(joined, str), return_inverse=True)[1].astype(np.int64)

    def count(self, groups: Integers, among: NDArray[np.bool_]) -> Chances:
        """How often each member is chosen in each group, among some cells."""
        table = np.zeros((int(groups.max(initial=-1)) + 1, self.widest))
        np.add.at(table, (groups[among], self.members[among]), 1.0)
        return table

    def count_others(self, keys: Sequence[str], among: NDArray[np.bool_]) -> Chances:
        """The same for each cell's own group, without the cells of its fold.

        To leave out the cell alone would give it away: where a group's sum is known, what is
        missing from it is the name that the cell had before it was marked for practice.
        """
        groups = self.groups(keys)
        folds = self.records % FOLDS
        counts = np.zeros((len(self.spots), self.widest))
        for fold in range(FOLDS):
            here = folds == fold
            counts[here] = self.count(groups, among & ~here)[groups[here]]
        return counts


@dataclass(frozen=True, slots=True)
class Guess:
    """A distribution for each cell, and by how many observations."""

    chances: Chances
    support: NDArray[np.float64]


def priors(seen: Seen, carries: NDArray[np.bool_], pull: float) -> Chances:
    """The public rule without the cell itself: counts of its project + `pull` x the global share.

    What the owner counts are the places of his dataset that could carry a mark.
    """
    ours = carries & seen.is_suspect
    everywhere = seen.groups([""] * len(seen.spots))
    shares = _shares(seen.count(everywhere, ours))[everywhere]
    projects = seen.groups([spot.project for spot in seen.spots])
    counts = seen.count(projects, ours)[projects]
    counts[ours, seen.members[ours]] -= 1.0
    return counts + pull * shares + SURELY * seen.in_set


CONTEXTS: dict[str, Callable[[Spot], str]] = {  # those of a project back off to its own counts
    "file": lambda spot: f"{spot.project}|{spot.file}",
    "kind": lambda spot: spot.cell.kind,
    "heads": lambda spot: "/".join(spot.cell.heads),
    "around": lambda spot: " ".join(spot.cell.windows[0][1:-1]),
    "left": lambda spot: " ".join(spot.cell.windows[0][1:REACH]),
    "right": lambda spot: " ".join(spot.cell.windows[0][REACH + 1 : -1]),
    "project_heads": lambda spot: f"{spot.project}|{'/'.join(spot.cell.heads)}",
    "project_kind": lambda spot: f"{spot.project}|{spot.cell.kind}",
    "project_around": lambda spot: f"{spot.project}|{' '.join(spot.cell.windows[0][1:-1])}",
}
OF_PROJECT = ("file", "project_heads", "project_kind", "project_around")


def guess_by_counts(seen: Seen) -> dict[str, Guess]:
    """What the other variables of the same set are called, in ever narrower contexts."""
    everywhere = seen.count_others([""] * len(seen.spots), seen.is_local)
    widest = normal(everywhere + 0.5 * seen.in_set)
    found = {"everywhere": Guess(widest, everywhere.sum(axis=1))}
    counts = seen.count_others([spot.project for spot in seen.spots], seen.is_local)
    project = normal(counts + BACKING * widest)
    found["project"] = Guess(project, counts.sum(axis=1))
    for name, context in CONTEXTS.items():
        counts = seen.count_others(list(map(context, seen.spots)), seen.is_local)
        wider = project if name in OF_PROJECT else widest
        found[name] = Guess(normal(counts + BACKING * wider), counts.sum(axis=1))
    groups = seen.groups([f"{spot.project}|{spot.file}" for spot in seen.spots])
    counts = seen.count(groups, ~seen.is_local)[groups]  # how the file calls its parameters
    found["parameters"] = Guess(normal(counts + BACKING * project), counts.sum(axis=1))
    return found


def guess_by_words(seen: Seen) -> dict[str, Guess]:
    """A language model reads the words around with each member in turn: the likelier, the better.

    Of all occurrences, and of the first alone. The model of a cell was made without its record.
    """
    vocabulary: dict[str, int] = {}
    windows, owners = _encode(seen, vocabulary)
    spelled = np.zeros((len(seen.sets), seen.widest), np.int64)
    for number, names in enumerate(seen.sets):
        spelled[number, : len(names)] = [vocabulary.setdefault(n, len(vocabulary)) for n in names]
    folds = seen.records % FOLDS
    total = np.zeros((len(seen.spots), seen.widest))
    first = np.zeros_like(total)
    opens = np.r_[True, owners[1:] != owners[:-1]] if len(owners) else np.zeros(0, np.bool_)
    own = spelled[seen.numbers, seen.members]
    as_written = np.where(windows < 0, own[owners][:, None], windows)
    for fold in range(FOLDS):
        here = np.flatnonzero(folds[owners] == fold)
        if not len(here):
            continue
        learnt = as_written[folds[owners] != fold]
        model = fit(list(learnt), len(vocabulary), order=ORDER)
        for member in range(seen.widest):
            name = spelled[seen.numbers[owners[here]], member]
            text = np.where(windows[here] < 0, name[:, None], windows[here])
            logs = model.log_probabilities(model.symbols[text])[:, REACH:].sum(axis=1)
            np.add.at(total[:, member], owners[here], logs)
            first[owners[here][opens[here]], member] = logs[opens[here]]
    nothing = np.zeros(len(seen.spots))
    return {
        "words": Guess(likely(total * np.log(10), seen.in_set), nothing),
        "first_words": Guess(likely(first * np.log(10), seen.in_set), nothing),
    }


def likely(logs: Chances, in_set: NDArray[np.bool_]) -> Chances:
    """Log probabilities of whole texts as chances of the members, none of them quite 0."""
    held = np.where(in_set, logs, -np.inf)
    chances = np.exp(held - held.max(axis=1, keepdims=True, initial=-1e300))
    return normal(chances + 1e-6 * in_set)


def _encode(seen: Seen, vocabulary: dict[str, int]) -> tuple[Integers, Integers]:
    """All windows in numbers, -1 for the variable itself, and the cell of each."""
    windows: list[list[int]] = []
    owners: list[int] = []
    for row, cell in enumerate(seen.cells):
        for window in cell.windows:
            windows.append(
                [-1 if t == HOLE else vocabulary.setdefault(t, len(vocabulary)) for t in window]
            )
            owners.append(row)
    width = 2 * REACH + 1
    return np.array(windows, np.int64).reshape(-1, width), np.array(owners, np.int64)


def _shares(counts: Chances) -> Chances:
    shares: Chances = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0)
    return shares


def normal(weights: Chances) -> Chances:
    """Weights as chances."""
    chances: Chances = weights / np.maximum(weights.sum(axis=1, keepdims=True), SURELY)
    return chances
