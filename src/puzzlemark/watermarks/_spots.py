"""Spots for statements in a function: where one may be inserted, or stand for another."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice

from tree_sitter import Node

from puzzlemark.languages.base import NodeTypes
from puzzlemark.snippet import Edit
from puzzlemark.syntax.tree import Tree, is_docstring, parse
from puzzlemark.syntax.variables import function_nodes

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


def block_of(tree: Tree, function: Node) -> Node | None:
    """A function's body, if it has one and that holds statements: `x => x + 1` has none of them."""
    body = function.child_by_field_name("body")
    if body is None or body.type in tree.language.blocks:
        return body
    holds = tree.language.blocks | tree.language.tokens.comments
    is_list = body.child_count > 0 and all(each.type in holds for each in body.named_children)
    return body if is_list else None


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
    return [Spot(body.children[0].end_byte - tree.offset, b"", " ", " ", "")]


def alike(tree: Tree, body: Node, statement: str) -> list[Spot]:
    """The statements of the same kind as this one, at any depth: to be replaced by it."""
    told_apart = tree.language.told_apart
    wanted = _kind(parse(replace(tree.snippet, code=statement)).root.named_children[0], told_apart)
    return [
        Spot(each.start_byte - tree.offset, tree.text(each).encode(), "", separator(tree, each), "")
        for each in _walk(body)
        if _kind(each, told_apart) == wanted
    ]


def separator(tree: Tree, statement: Node) -> str:
    """What stands between this statement and another one beside it: a line's end, or less."""
    line = tree.source.rfind(b"\n", 0, statement.start_byte) + 1
    indentation = _BLANK.match(tree.source, max(line, tree.offset), statement.start_byte)
    assert indentation is not None, "an expression that matches nothing as well"
    if indentation.end() < statement.start_byte:
        return tree.language.joint
    return _line_end(tree.source) + indentation[0].decode()


@lru_cache(maxsize=1)  # the statements of a snippet ask one after another
def _line_end(source: bytes) -> str:
    return "\r\n" if b"\r\n" in source else "\n"


def _before(tree: Tree, statement: Node) -> Spot:
    gap = separator(tree, statement)
    return Spot(statement.start_byte - tree.offset, b"", "", gap, gap)


def _statements(tree: Tree, body: Node) -> list[Node]:
    language = tree.language
    others = language.tokens.comments | language.clauses
    inside = [each for each in body.named_children if each.type not in others]
    is_list = [each.type for each in inside if each.type in language.blocks]
    if body.type not in language.blocks and len(inside) == len(is_list) == 1:
        return _statements(tree, inside[0])  # some grammars put a list between body and statements
    return inside


def _opening(tree: Tree, statements: Sequence[Node]) -> int:
    """How many statements must stay at the front: a docstring, a call of another constructor."""
    if not statements:
        return 0
    first, language = statements[0], tree.language
    return int(is_docstring(language, first) or first.type in language.openings)


def _walk(body: Node) -> Iterator[Node]:
    stack = [body]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(node.named_children))


def _kind(statement: Node, told_apart: NodeTypes) -> tuple[str, str]:
    # assignments and docstrings of Python are expression statements as well
    inner = next((each.type for each in statement.named_children), "")
    return statement.type, inner if inner in told_apart else ""
