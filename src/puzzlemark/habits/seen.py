"""All variables of a dataset whose names are in a set of synonyms, in columns of numbers.

Of each stay some hundred bytes: which member of which set it is called, whose code it is, and the
words around it as numbers of a vocabulary.
"""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from puzzlemark.syntax.naming import words
from puzzlemark.syntax.surroundings import HOLE, REACH, Surroundings

Integers = NDArray[np.int64]
Chances = NDArray[np.float64]  # a row for each variable, a column for each member; 0 beyond its set
Bag = Literal["words", "beside", "title", "locals"]

FOLDS = 8  # of the records: nothing is judged by what was counted or read in its own fold
WIDTH = 2 * REACH + 1
CONTEXTS = ("project", "file", "kind", "heads", "around", "left", "right")
BAGS: tuple[Bag, ...] = ("words", "beside", "title", "locals")


@dataclass(frozen=True, slots=True)
class Spot:
    """One variable as it was found."""

    language: str
    names: tuple[str, ...]  # of its set
    member: int  # the number of its name there
    is_parameter: bool
    around: Surroundings


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """The columns; a context and an item of a bag are numbers of texts."""

    sets: Sequence[tuple[str, tuple[str, ...]]]  # every language and set that was met
    numbers: Integers  # the set of each
    members: Integers  # the name that each has, as its number in the set
    records: Integers
    is_local: NDArray[np.bool_]  # no parameter
    contexts: dict[str, Integers]  # of CONTEXTS
    bags: dict[Bag, tuple[Integers, Integers]]  # whose item it is, and which
    windows: Integers  # WIDTH tokens; -1 is the variable itself
    owners: Integers  # whose window it is
    spelled: Integers  # the token of each member of each set
    tokens: int  # how many different ones there are
    akin: NDArray[np.bool_]  # which members begin other words of the snippet: `idx` and `idxs`
    traits: NDArray[np.float64]  # the same under any name: see TRAITS

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def widest(self) -> int:
        """Members of the largest set."""
        return max((len(names) for _, names in self.sets), default=1)

    @property
    def in_set(self) -> NDArray[np.bool_]:
        """Which columns are members of the variable's set."""
        sizes = np.array([len(names) for _, names in self.sets], np.int64)
        within: NDArray[np.bool_] = np.arange(self.widest)[None] < sizes[self.numbers][:, None]
        return within

    @property
    def lengths(self) -> Chances:
        """Letters of each member of its set; 0 beyond it."""
        table = np.zeros((len(self.sets), self.widest))
        for number, (_, names) in enumerate(self.sets):
            table[number, : len(names)] = [len(name) for name in names]
        result: Chances = table[self.numbers]
        return result

    def groups(self, *contexts: str) -> Integers:
        """Variables of one set with the same contexts share a number."""
        result = self.numbers
        for each in contexts:
            pairs = result * (int(self.contexts[each].max(initial=0)) + 1) + self.contexts[each]
            result = np.unique(pairs, return_inverse=True)[1].astype(np.int64)
        return result

    def count_others(
        self, groups: Integers, among: NDArray[np.bool_], rows: Integers, *, folds: bool = True
    ) -> Chances:
        """How often the others of a variable's group have each name, for some rows.

        The whole fold of its record is left out. To leave out the variable alone would give it
        away: where a group's sum is known, what is missing from it is the name that it had.
        """
        many, width = int(groups.max(initial=-1)) + 1, self.widest
        cells = groups * width + self.members
        whole = _tally(cells[among], many * width).reshape(many, width)
        result: Chances = whole[groups[rows]]
        if not folds:
            return result
        fold = self.records % FOLDS
        for each in range(FOLDS):
            own = _tally(cells[among & (fold == each)], many * width).reshape(many, width)
            here = fold[rows] == each
            result[here] -= own[groups[rows[here]]]
        return result


TRAITS = ("occurrences", "lines", "locals", "words", "short", "length")


@dataclass(slots=True)
class Gathering:
    """`Seen` while it is made: `add` every variable, then `seen()`."""

    texts: dict[str, int] = field(default_factory=dict)
    tokens: dict[str, int] = field(default_factory=dict)
    sets: dict[tuple[str, tuple[str, ...]], int] = field(default_factory=dict)
    columns: "dict[str, array[int]]" = field(default_factory=dict)
    bags: "dict[Bag, tuple[array[int], array[int]]]" = field(default_factory=dict)
    windows: "array[int]" = field(default_factory=lambda: array("q"))
    owners: "array[int]" = field(default_factory=lambda: array("q"))
    akin: list[tuple[bool, ...]] = field(default_factory=list)
    traits: "array[float]" = field(default_factory=lambda: array("d"))

    def add(self, spot: Spot, record: int, project: str, file: str) -> int:
        """Its number, from 0."""
        around, row = spot.around, len(self.akin)
        first = around.windows[0]
        whose = {
            "numbers": self.sets.setdefault((spot.language, spot.names), len(self.sets)),
            "members": spot.member,
            "records": record,
            "is_local": int(not spot.is_parameter),
            "project": self._text(project),
            "file": self._text(f"{project}|{file}"),
            "kind": self._text(around.kind),
            "heads": self._text("/".join(around.heads)),
            "around": self._text(" ".join(first[1:-1])),
            "left": self._text(" ".join(first[1:REACH])),
            "right": self._text(" ".join(first[REACH + 1 : -1])),
        }
        for name, value in whose.items():
            self.columns.setdefault(name, array("q")).append(value)
        bags: dict[Bag, Sequence[str]] = {
            "words": around.words,
            "beside": tuple(dict.fromkeys(t for w in around.windows for t in _beside(w))),
            "title": tuple(dict.fromkeys(word.lower() for word in words(around.function))),
            "locals": around.locals,
        }
        for bag, items in bags.items():
            owners, texts = self.bags.setdefault(bag, (array("q"), array("q")))
            owners.extend([row] * len(items))
            texts.extend(map(self._text, items))
        for window in around.windows:
            self.owners.append(row)
            self.windows.extend(-1 if t == HOLE else self._token(t) for t in window)
        self.akin.append(tuple(_is_akin(around, name) for name in spot.names))
        self.traits.extend(_traits(around))
        return row

    def seen(self) -> Seen:
        """The columns."""
        widest = max((len(names) for _, names in self.sets), default=1)
        spelled = np.zeros((len(self.sets), widest), np.int64)
        for (_, names), number in self.sets.items():
            spelled[number, : len(names)] = list(map(self._token, names))
        akin = np.zeros((len(self.akin), widest), np.bool_)
        for row, each in enumerate(self.akin):
            akin[row, : len(each)] = each
        columns = {
            name: _numbers(self.columns.get(name, array("q")))
            for name in ("numbers", "members", "records", "is_local", *CONTEXTS)
        }
        empty = (array("q"), array("q"))
        return Seen(
            sets=tuple(self.sets),
            numbers=columns["numbers"],
            members=columns["members"],
            records=columns["records"],
            is_local=columns["is_local"].astype(np.bool_),
            contexts={name: columns[name] for name in CONTEXTS},
            bags={
                bag: (
                    _numbers(self.bags.get(bag, empty)[0]),
                    _numbers(self.bags.get(bag, empty)[1]),
                )
                for bag in BAGS
            },
            windows=_numbers(self.windows).reshape(-1, WIDTH),
            owners=_numbers(self.owners),
            spelled=spelled,
            tokens=len(self.tokens),
            akin=akin,
            traits=np.array(self.traits, np.float64).reshape(len(self.akin), len(TRAITS)),
        )

    def _text(self, text: str) -> int:
        return self.texts.setdefault(text, len(self.texts))

    def _token(self, text: str) -> int:
        return self.tokens.setdefault(text, len(self.tokens))


def _beside(window: Sequence[str]) -> tuple[str, ...]:
    """The neighbours of one occurrence, one, two and both."""
    second, left, right, far = (window[REACH + at] for at in (-2, -1, 1, 2))
    return (
        f"{left} \1",
        f"\1 {right}",
        f"{second} {left} \1",
        f"\1 {right} {far}",
        f"{left} \1 {right}",
    )


def _is_akin(around: Surroundings, name: str) -> bool:
    """Whether another word of the snippet begins with a name, or is one of its words."""
    whole = name.lower()
    return any(
        word == whole or (len(whole) > 2 and word.startswith(whole)) for word in around.words
    )


def _traits(around: Surroundings) -> tuple[float, ...]:
    sizes = [len(name) for name in around.locals]
    short = sum(size <= 3 for size in sizes) / len(sizes) if sizes else -1.0
    length = sum(sizes) / len(sizes) if sizes else 0.0
    counts = (around.occurrences, around.lines, len(around.locals), len(around.words))
    return (*map(float, counts), short, length)


def _numbers(values: "array[int]") -> Integers:
    return np.array(values, np.int64)


def _tally(cells: Integers, size: int) -> NDArray[np.float64]:
    return np.bincount(cells, minlength=size).astype(np.float64)
