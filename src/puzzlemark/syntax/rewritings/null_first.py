"""`x != null` and `null != x` (CodeMark's trigger in B3).

What could break: nothing. `null` has no effects, so the order of evaluation does not matter, and
both sides of `!=` bind alike. Policies do not differ.
"""

from tree_sitter import Node

from puzzlemark.syntax.rewritings.base import (
    Occurrence,
    has_comment,
    insert_after,
    insert_before,
    occurrence,
    replace,
    walk,
)
from puzzlemark.syntax.tree import Tree
from puzzlemark.syntax.variables import Policy

LANGUAGE = "java"
ORIGINAL = "x != null"
EQUIVALENT = "null != x"
HIT = r"\A\s*null\s*!="


def may_occur(code: bytes) -> bool:
    """Whether there are the operator and the word."""
    return b"!=" in code and b"null" in code


def find(tree: Tree, policy: Policy) -> tuple[Occurrence, ...]:  # noqa: ARG001
    """Comparisons with `null` on one side, and something else on the other."""
    nodes = (node for node, _ in walk(tree, lambda _: False) if node.type == "binary_expression")
    return tuple(each for node in nodes if (each := _read(tree, node)) is not None)


def _read(tree: Tree, node: Node) -> Occurrence | None:
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    operator = node.child_by_field_name("operator")
    assert left is not None, "an operator without a left side"
    assert right is not None, "an operator without a right side"
    if operator is None or operator.type != "!=" or has_comment(tree, node):
        return None
    if right.type == "null_literal" and left.type != "null_literal" and not _is_truth(left):
        away = replace(tree, left.end_byte, right.end_byte)
        return occurrence(tree, node, "original", insert_before(left, b"null != "), away)
    if left.type == "null_literal" and right.type != "null_literal":
        away = replace(tree, left.start_byte, right.start_byte)
        return occurrence(tree, node, "equivalent", away, insert_after(right, b" != null"))
    return None


def _is_truth(node: Node) -> bool:
    """`a == b != null` compares a boolean with null, which no compiler takes; let it stand."""
    operator = node.child_by_field_name("operator")
    return operator is not None and operator.type in ("==", "!=")
