"""One variable more: a new first parameter or statement, for prompts that nobody runs."""

from tree_sitter import Node

from puzzlemark.errors import UnsafeRename
from puzzlemark.snippet import Edit
from puzzlemark.syntax.tree import Tree


def declare_before(tree: Tree, start: int, name: str) -> Edit:
    """The edit that declares a new variable right before the one that first stands at `start`.

    Before a parameter it is one more parameter: `def f(key):` -> `def f(name, key):`. Elsewhere it
    is a statement before the statement: `name = None`.
    """
    parameter, statement = tree.language.declaration
    node = tree.root.descendant_for_byte_range(start + tree.offset, start + tree.offset)
    while node is not None and node.parent is not None:
        if node.parent.type in tree.language.parameter_lists:
            return Edit(node.start_byte - tree.offset, b"", parameter.format(name).encode())
        if node.parent.type in tree.language.blocks:
            text = statement.format(name) + "\n" + _indentation(tree, node)
            return Edit(node.start_byte - tree.offset, b"", text.encode())
        node = node.parent
    raise UnsafeRename("no place to declare another variable")


def _indentation(tree: Tree, node: Node) -> str:
    line = tree.source.rfind(b"\n", 0, node.start_byte) + 1
    before = tree.source[line : node.start_byte].decode()
    return before if not before.strip() else ""
