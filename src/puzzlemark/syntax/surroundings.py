"""What stands around a variable and says what people would call it, without its own name.

    with open(path) as ▢:        kind "as_pattern_target as_pattern", heads "open()",
        use(▢)                   windows "open ( path ) as ▢ : \\n" and so on

Two variables with the same surroundings are bound to the same kind of thing in the same words.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from tree_sitter import Node

from puzzlemark.syntax.naming import words
from puzzlemark.syntax.tree import Tree
from puzzlemark.syntax.variables import Function, Variable

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
class Surroundings:
    """Every text is as it stands, with HOLE for the variable."""

    function: str  # its name
    kind: str  # how the variable is bound: "for_statement block"
    heads: tuple[str, ...]  # what it gets: a function that is called, a type
    windows: tuple[tuple[str, ...], ...]  # REACH tokens, HOLE, REACH tokens of each occurrence
    words: tuple[str, ...]  # of the other names in the snippet, in small letters
    locals: tuple[str, ...]  # the names of the function's other variables
    occurrences: int
    lines: int  # of the snippet


@dataclass(frozen=True)
class Reading:
    """A snippet, split into tokens once for all its variables."""

    tree: Tree

    @cached_property
    def _tokens(self) -> tuple[list[int], list[str]]:
        found = list(TOKEN.finditer(self.tree.code))
        texts = [token.group().decode("utf-8", "replace") for token in found]
        return [token.start() for token in found], texts

    def around(self, function: Function, variable: Variable) -> Surroundings:
        """What stands around a variable of a function."""
        starts, tokens = self._tokens
        at = [bisect_left(starts, start) for start in variable.starts]
        node = _node_at(self.tree, variable.starts[0])
        others = (each.name for each in function.variables if each is not variable)
        return Surroundings(
            function=function.name,
            kind=_kind(node),
            heads=tuple(_heads(self.tree, node)),
            windows=tuple(_windows(tokens, at)),
            words=_words(tokens, set(at)),
            locals=tuple(others)[:MOST_WORDS],
            occurrences=variable.frequency,
            lines=self.tree.code.count(b"\n") + 1,
        )


def _node_at(tree: Tree, start: int) -> Node | None:
    at = start + tree.offset
    return tree.root.descendant_for_byte_range(at, at + 1)


def _kind(node: Node | None) -> str:
    """`for i in x` -> "for_statement block", `as f` -> "as_pattern_target as_pattern"."""
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
