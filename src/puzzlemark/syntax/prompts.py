"""Edits for prompts, which nobody runs: one variable more, and other names in comments."""

import re
from collections.abc import Iterator, Mapping

from tree_sitter import Node

from puzzlemark.errors import UnsafeRename
from puzzlemark.snippet import Edit
from puzzlemark.syntax.tree import Tree, is_docstring

NO_PLACE = "no place to declare another variable"


def declare_before(tree: Tree, start: int, name: str) -> Edit:
    """The edit that declares a new variable right before the one that first stands at `start`.

    Before a parameter it is one more parameter: `def f(key):` -> `def f(name, key):`. Elsewhere it
    is a statement before the statement: `name = None`.
    """
    node = _parameter_or_statement(tree, start)
    at = node.start_byte - tree.offset
    if _is_parameter(tree, node):
        return Edit(at, b"", _parameter(tree, node.prev_named_sibling, name).encode())
    text = tree.language.declaration[1].format(name) + _newline(tree) + _indentation(tree, node)
    return Edit(at, b"", text.encode())


def declare_after(tree: Tree, start: int, name: str) -> Edit:
    """The same right behind the parameter or statement: `def f(key):` -> `def f(key, name):`."""
    node = _parameter_or_statement(tree, start)
    if _is_parameter(tree, node):
        last = tree.language.last_parameters
        if any(each.type in last for each in (node, *node.named_children)):
            raise UnsafeRename(NO_PLACE)
        text = ", " + _parameter(tree, node, name).removesuffix(", ")
        return Edit(node.end_byte - tree.offset, b"", text.encode())
    text = _newline(tree) + _indentation(tree, node) + tree.language.declaration[1].format(name)
    return Edit(_end_of_line(tree, node) - tree.offset, b"", text.encode())


def _parameter_or_statement(tree: Tree, start: int) -> Node:
    """What stands in a list of parameters or in a block, and holds this place."""
    for node in _upwards(
        tree.root.descendant_for_byte_range(start + tree.offset, start + tree.offset)
    ):
        parent = node.parent
        if (
            parent is not None
            and parent.type in tree.language.parameter_lists | tree.language.blocks
        ):
            return node
    raise UnsafeRename(NO_PLACE)


def _upwards(node: Node | None) -> Iterator[Node]:
    while node is not None:
        yield node
        node = node.parent


def _is_parameter(tree: Tree, node: Node) -> bool:
    return node.parent is not None and node.parent.type in tree.language.parameter_lists


def _parameter(tree: Tree, before: Node | None, name: str) -> str:
    """`name, `; behind a parameter with a default it must have one, too: `name=None, `."""
    types, with_default = tree.language.optional
    plain = tree.language.declaration[0]
    return (with_default if before is not None and before.type in types else plain).format(name)


def _end_of_line(tree: Tree, node: Node) -> int:
    """The end of the line on which a statement ends, behind its comment if it has one."""
    end = tree.source.find(b"\n", node.end_byte)
    rest = tree.source[node.end_byte : end if end >= 0 else len(tree.source)]
    if not rest.strip():
        return node.end_byte
    at = node.end_byte + len(rest) - len(rest.lstrip())
    other = tree.root.descendant_for_byte_range(at, at)
    if (
        other is None
        or other.type not in tree.language.tokens.comments
        or other.end_byte < node.end_byte + len(rest.rstrip())
    ):
        raise UnsafeRename(NO_PLACE)  # another statement, or the end of the block
    return other.end_byte


def _newline(tree: Tree) -> str:
    return "\r\n" if b"\r\n" in tree.source else "\n"


def _indentation(tree: Tree, node: Node) -> str:
    line = tree.source.rfind(b"\n", 0, node.start_byte) + 1
    before = tree.source[line : node.start_byte].decode()
    return before if not before.strip() else ""


def reword(tree: Tree, names: Mapping[str, str]) -> tuple[Edit, ...]:
    """Edits that put new names for old ones as whole words of comments and docstrings.

    A comment never matters to what the code does, but a text that still speaks of
    `iterator` would tell a model what a renamed variable was called.
    """
    words = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    pattern = re.compile(rf"(?<!\w)(?:{words})(?!\w)".encode())
    edits: list[Edit] = []
    for node in _prose(tree):
        start = node.start_byte - tree.offset
        for match in pattern.finditer(tree.source[node.start_byte : node.end_byte]):
            old = match[0]
            edits.append(Edit(start + match.start(), old, names[old.decode()].encode()))
    return tuple(sorted(edits))


def _prose(tree: Tree) -> Iterator[Node]:
    comments = tree.language.tokens.comments
    stack = [tree.root]
    while stack:
        node = stack.pop()
        if node.type in comments or is_docstring(tree.language, node):
            yield node
        else:
            stack.extend(node.named_children)
