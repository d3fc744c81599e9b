"""Spots for statements in a function: where one may be inserted, or stand for another."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice

from tree_sitter import Node

from puzzlemark.snippet import Edit
from puzzlemark.syntax.tree import Tree, parse
from puzzlemark.syntax.variables import function_nodes

ON_ONE_LINE = {"python": "; "}  # what separates statements there; elsewhere a blank does
# What must stay the first statement of a body; docstrings are the language's own affair.
OPENINGS = frozenset({"explicit_constructor_invocation"})

_BLANK = re.compile(rb"\s*")


@dataclass(frozen=True, slots=True)
class Spot:
    """A place for one statement or more, and what separates them from their neighbours."""

    start: int
    old: bytes  # the statement that they replace; none in a gap
    lead: str
    joint: str
    tail: str

    @property
    def end(self) -> int:
        """Offset just after what is replaced."""
        return self.start + len(self.old)

    def fill(self, *statements: str) -> Edit:
        """The edit that puts statements here."""
        text = self.lead + self.joint.join(statements) + self.tail
        return Edit(self.start, self.old, text.encode())


def node_at(tree: Tree, index: int) -> Node:
    """The node of the function with this index."""
    return next(islice(function_nodes(tree), index, None))


def span_of(tree: Tree, index: int | None) -> tuple[int, int]:
    """Start and end of a function in the snippet; None: of the whole snippet."""
    if index is None:
        return 0, len(tree.code)
    node = node_at(tree, index)
    return node.start_byte - tree.offset, node.end_byte - tree.offset


def gaps(tree: Tree, body: Node) -> list[Spot]:
    """The gaps of a body in order: before each statement, but not before one that must be first.

    None is behind a statement, unless there is no other: in Java what follows a `return` or an
    endless loop is a compile error, while what precedes a statement is reached if that one is.
    """
    statements = _statements(tree, body)
    opening = _opening(tree, statements)
    if len(statements) > opening:
        return [_before(tree, each) for each in statements[opening:]]
    if statements:
        last = statements[-1]
        gap = separator(tree, last)
        return [Spot(last.end_byte - tree.offset, b"", gap, gap, "")]
    return [Spot(body.start_byte - tree.offset + len("{"), b"", " ", " ", "")]


def alike(tree: Tree, body: Node, statement: str) -> list[Spot]:
    """The statements of the same kind as this one, at any depth: to be replaced by it."""
    wanted = _kind(parse(replace(tree.snippet, code=statement)).root.named_children[0])
    return [
        Spot(each.start_byte - tree.offset, tree.text(each).encode(), "", separator(tree, each), "")
        for each in _walk(body)
        if _kind(each) == wanted
    ]


def separator(tree: Tree, statement: Node) -> str:
    """What stands between this statement and another one beside it: a line's end, or less."""
    line = tree.source.rfind(b"\n", 0, statement.start_byte) + 1
    indentation = _BLANK.match(tree.source, max(line, tree.offset), statement.start_byte)
    assert indentation is not None, "an expression that matches nothing as well"
    if indentation.end() < statement.start_byte:
        return ON_ONE_LINE.get(tree.language.name, " ")
    return _line_end(tree.source) + indentation[0].decode()


@lru_cache(maxsize=1)  # the statements of a snippet ask one after another
def _line_end(source: bytes) -> str:
    return "\r\n" if b"\r\n" in source else "\n"


def _before(tree: Tree, statement: Node) -> Spot:
    gap = separator(tree, statement)
    return Spot(statement.start_byte - tree.offset, b"", "", gap, gap)


def _statements(tree: Tree, body: Node) -> list[Node]:
    comments = tree.language.measures.comments
    return [each for each in body.named_children if each.type not in comments]


def _opening(tree: Tree, statements: Sequence[Node]) -> int:
    """How many statements must stay at the front: a docstring, a call of another constructor."""
    if not statements:
        return 0
    first, docstring = statements[0], tree.language.docstring
    inner = [each.type for each in first.named_children]
    is_docstring = docstring is not None and (first.type, inner) == (docstring[0], [docstring[1]])
    return int(is_docstring or first.type in OPENINGS)


def _walk(body: Node) -> Iterator[Node]:
    stack = [body]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(node.named_children))


def _kind(statement: Node) -> tuple[str, str]:
    # assignments and docstrings of Python are expression statements as well
    inner = next((each.type for each in statement.named_children), "")
    return statement.type, inner if inner in ("assignment", "string") else ""
