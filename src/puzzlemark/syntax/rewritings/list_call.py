"""`[]` and `list()` (CodeMark's trigger in B1).

What could break: a `list` that is not the built-in. A snippet that binds the name anywhere is left
alone. A snippet does not show what the module or the class around it binds: modules with a command
`list` are not rare. So policy `safe` rewrites nothing.
"""

from tree_sitter import Node

from puzzlemark.syntax.rewritings._python import expressions, is_call_of, is_rebound
from puzzlemark.syntax.rewritings.base import (
    Occurrence,
    arguments,
    has_comment,
    occurrence,
    replace,
)
from puzzlemark.syntax.tree import Tree
from puzzlemark.syntax.variables import Policy

LANGUAGE = "python"
ORIGINAL = "[]"
EQUIVALENT = "list()"
HIT = r"\A\s*list\(\)"

# `del []` and `with x as []`, where the list is a target; `Callable[[], int]`, where it is a type
_NOT_VALUES = frozenset({"delete_statement", "as_pattern_target", "subscript"})

_DISPLAYS = frozenset({"list", "tuple", "expression_list", "parenthesized_expression"})


def may_occur(code: bytes) -> bool:
    """Whether there is a bracket or the word."""
    return b"[" in code or b"list" in code


def find(tree: Tree, policy: Policy) -> tuple[Occurrence, ...]:
    """Empty lists that are values; under policy `safe` only calls of `list`."""
    if is_rebound(tree, "list"):
        return ()
    found: list[Occurrence] = []
    targets: set[int] = set()  # displays that are no values, with all displays inside of them
    for node, parent in expressions(tree):
        if node.type in _DISPLAYS and (parent.id in targets or not _is_value(node, parent)):
            targets.add(node.id)
        elif node.type == "list" and not node.named_children and policy == "paper":
            new = replace(tree, node.start_byte, node.end_byte, b"list()")
            found.append(occurrence(tree, node, "original", new))
        elif is_call_of(tree, node, "list") and _is_bare(tree, node):
            new = replace(tree, node.start_byte, node.end_byte, b"[]")
            found.append(occurrence(tree, node, "equivalent", new))
    return tuple(found)


def _is_value(node: Node, parent: Node) -> bool:
    if parent.type not in _NOT_VALUES:
        return True
    return parent.type == "subscript" and parent.child_by_field_name("value") == node


def _is_bare(tree: Tree, call: Node) -> bool:
    inside = call.child_by_field_name("arguments")
    assert inside is not None, "a call without arguments"
    commented = has_comment(tree, inside) or has_comment(tree, call)
    return not arguments(tree, inside) and not commented
