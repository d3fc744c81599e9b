"""Cells: local variables whose names belong to a public set of synonyms, and what is around them.

A cell is all that the attacker keeps of a variable: which member of which set it is called, whether
the scheme could have marked it, and the words that say what nature would have called it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from puzzlemark.errors import UnsafeRename
from puzzlemark.languages.base import Language
from puzzlemark.snippet import Edit, apply_edits
from puzzlemark.syntax.naming import mentions
from puzzlemark.syntax.rename import rename, why_not_fresh
from puzzlemark.syntax.surroundings import Reading, Surroundings
from puzzlemark.syntax.tree import Tree
from puzzlemark.syntax.variables import Function, Variable, functions


@dataclass(frozen=True, slots=True)
class Cell:
    """One variable."""

    table: int  # the number of its set
    member: int  # the number of its name in the set
    is_parameter: bool
    is_free: bool  # every other member could take its place, by the public rule
    is_inside: bool  # it first stands inside a line, not at its start
    function: int  # its number in the record
    around: Surroundings

    def to_json(self) -> list[Any]:
        """Plain data, in the order of the fields; what is around it comes last, as a list."""
        plain = [getattr(self, name) for name in self.__slots__[:-1]]
        return [*plain, [getattr(self.around, name) for name in self.around.__slots__]]

    @classmethod
    def from_json(cls, values: Sequence[Any]) -> "Cell":
        """The reverse."""
        around = dict(zip(Surroundings.__slots__, values[-1], strict=True))
        around["windows"] = tuple(map(tuple, around["windows"]))
        for name in ("heads", "words", "locals"):
            around[name] = tuple(around[name])
        plain = dict(zip(cls.__slots__, values[:-1], strict=False))
        return cls(**plain, around=Surroundings(**around))


@cache
def place_in_sets(language: Language) -> dict[str, tuple[int, int]]:
    """Where each name of the public table stands: its set, and its number there."""
    return {
        name: (number, member)
        for number, names in enumerate(language.synonyms)
        for member, name in enumerate(names)
    }


def find_cells(tree: Tree) -> Iterator[Cell]:
    """The cells of a snippet, function by function."""
    places = place_in_sets(tree.language)
    if not any(mentions(tree.code, name) for name in places):
        return
    reading = Reading(tree)
    for function in functions(tree):
        for variable in function.variables:
            if variable.name in places:
                yield _cell(reading, function, variable, places[variable.name])


def _cell(reading: Reading, function: Function, variable: Variable, place: tuple[int, int]) -> Cell:
    tree = reading.tree
    before = tree.code[: variable.starts[0]]
    return Cell(
        table=place[0],
        member=place[1],
        is_parameter=variable.is_parameter,
        is_free=_is_free(tree, function, variable, tree.language.synonyms[place[0]]),
        is_inside=bool(before[before.rfind(b"\n") + 1 :].strip()),
        function=function.index,
        around=reading.around(function, variable),
    )


def _is_free(tree: Tree, function: Function, variable: Variable, names: Sequence[str]) -> bool:
    """Whether the scheme could give it any name of its set, by the public rule."""
    others = [name for name in names if name != variable.name]
    if function.dynamic is not None or variable.refusal("safe") is not None:
        return False
    without = (Edit(start, variable.name.encode(), b" ") for start in variable.starts)
    if mentions(apply_edits(tree.code, without), variable.name):
        return False  # its own name must be as rare as the others are
    if any(why_not_fresh(tree, name) is not None for name in others):
        return False
    try:
        for name in others:
            rename(tree, function, {variable.name: name}, "safe")
    except UnsafeRename:
        return False
    return True
