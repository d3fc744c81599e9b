"""Cells: local variables whose names belong to a public set of synonyms, and what is around them.

A cell is all that the attacker keeps of a variable: which member of which set it is called, whether
the scheme could have marked it, and the words that say what nature would have called it.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from tree_sitter import Node

from puzzlemark.errors import UnsafeRename
from puzzlemark.languages.base import Language
from puzzlemark.snippet import Edit, apply_edits
from puzzlemark.syntax.naming import mentions, words
from puzzlemark.syntax.rename import rename, why_not_fresh
from puzzlemark.syntax.tree import Tree
from puzzlemark.syntax.variables import Function, Variable, functions

REACH = 3  # tokens on each side of an occurrence that are looked at
MOST_WINDOWS = 10  # occurrences of one variable that are looked at
MOST_WORDS = 60  # different words of a function that are looked at
HOLE = "\N{WHITE SQUARE}"  # stands for the variable itself
FAR = ""  # before the first token and after the last
TOKEN = re.compile(rb"[A-Za-z_\x80-\xff][\w\x80-\xff]*|\d+|[^\s\w]|\n")
CALLED = re.compile(r"([A-Za-z_]\w*)\s*\(")
NAMED = re.compile(r"[A-Za-z_]\w*")
GIVEN = ("right", "value", "type", "function")  # fields that say what a variable gets


@dataclass(frozen=True, slots=True)
class Cell:
    """One variable; every text is as it stands, with HOLE for the variable."""

    table: int  # the number of its set
    member: int  # the number of its name in the set
    is_parameter: bool
    is_free: bool  # every other member could take its place, by the public rule
    is_inside: bool  # it first stands inside a line, not at its start
    function: int  # its number in the record
    name: str  # of the function
    kind: str  # how it is bound: "for_statement"
    heads: tuple[str, ...]  # what it gets: a function that is called, a type
    windows: tuple[tuple[str, ...], ...]  # REACH tokens, HOLE, REACH tokens of each occurrence
    words: tuple[str, ...]  # of the other names in the function
    locals: tuple[str, ...]  # the names of its other variables
    occurrences: int
    lines: int
    start: int  # byte offset of its first occurrence

    def to_json(self) -> list[Any]:
        """Plain data, in the order of the fields."""
        return [getattr(self, name) for name in self.__slots__]

    @classmethod
    def from_json(cls, values: Sequence[Any]) -> "Cell":
        """The reverse."""
        cell = dict(zip(cls.__slots__, values, strict=True))
        cell["windows"] = tuple(map(tuple, cell["windows"]))
        for name in ("heads", "words", "locals"):
            cell[name] = tuple(cell[name])
        return cls(**cell)


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
    found = list(TOKEN.finditer(tree.code))
    starts = [token.start() for token in found]
    tokens = [token.group().decode("utf-8", "replace") for token in found]
    for function in functions(tree):
        for variable in function.variables:
            if variable.name in places:
                yield _cell(tree, function, variable, places, starts, tokens)


def _cell(
    tree: Tree,
    function: Function,
    variable: Variable,
    places: dict[str, tuple[int, int]],
    starts: list[int],
    tokens: list[str],
) -> Cell:
    number, member = places[variable.name]
    names = tree.language.synonyms[number]
    at = [bisect_left(starts, start) for start in variable.starts]
    first = variable.starts[0]
    before = tree.code[:first]
    node = _node_at(tree, first)
    return Cell(
        table=number,
        member=member,
        is_parameter=variable.is_parameter,
        is_free=_is_free(tree, function, variable, names),
        is_inside=bool(before[before.rfind(b"\n") + 1 :].strip()),
        function=function.index,
        name=function.name,
        kind=_kind(node),
        heads=tuple(_heads(tree, node)),
        windows=tuple(_windows(tokens, at)),
        words=_words(tokens, set(at)),
        locals=tuple(v.name for v in function.variables if v is not variable)[:MOST_WORDS],
        occurrences=variable.frequency,
        lines=tree.code.count(b"\n") + 1,
        start=first,
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


def _node_at(tree: Tree, start: int) -> Node | None:
    at = start + tree.offset
    return tree.root.descendant_for_byte_range(at, at + 1)


def _kind(node: Node | None) -> str:
    """`for i in x` -> "for_statement", `as f` -> "as_pattern_target as_pattern"."""
    if node is None or node.parent is None:
        return ""
    parent = node.parent
    above = parent.parent.type if parent.parent is not None else ""
    return f"{parent.type} {above}"


def _heads(tree: Tree, node: Node | None) -> Iterator[str]:
    """What the variable gets: `res = requests.get(url)` -> "get()", `int i = 0` -> "int"."""
    for _ in range(3):
        node = node.parent if node is not None else None
        if node is None or node.type in tree.language.blocks:
            return
        for field in GIVEN:
            given = node.child_by_field_name(field)
            if given is not None:
                yield _head(tree.text(given)[:200])


def _head(text: str) -> str:
    """The function that is called, or the first name, or the first sign: `[]` -> "["."""
    called = CALLED.search(text)
    if called is not None:
        return f"{called[1]}()"
    named = NAMED.match(text)
    return named[0] if named else text[:1]


def _windows(tokens: list[str], at: Sequence[int]) -> Iterator[tuple[str, ...]]:
    own = set(at)
    for index in at[:MOST_WINDOWS]:
        around = range(index - REACH, index + REACH + 1)
        yield tuple(
            HOLE if place in own else tokens[place] if 0 <= place < len(tokens) else FAR
            for place in around
        )


def _words(tokens: list[str], own: set[int]) -> tuple[str, ...]:
    names = dict.fromkeys(
        token for place, token in enumerate(tokens) if place not in own and NAMED.match(token)
    )
    split = dict.fromkeys(word.lower() for name in names for word in words(name))
    return tuple(split)[:MOST_WORDS]
