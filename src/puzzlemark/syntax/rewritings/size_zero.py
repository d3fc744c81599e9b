"""`x.isEmpty()` and `x.size() == 0` (CodeMark's target in B3).

What could break: a receiver that has no `size()`, as a String, or one that means something else.
Under policy `paper` what the snippet declares decides: nothing may speak against a collection.
Under `safe` nothing is rewritten: a class may implement the two methods as it likes, and endless
collections have no size.
"""

from tree_sitter import Node

from puzzlemark.syntax.rewritings._java import (
    Declarations,
    given,
    is_method,
    is_own,
    may_have_size,
    read_declarations,
    receiver,
)
from puzzlemark.syntax.rewritings.base import (
    Occurrence,
    Splice,
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
ORIGINAL = "x.isEmpty()"
EQUIVALENT = "x.size() == 0"
HIT = r"\A[^;\n]*\.\s*size\(\)\s*==\s*0\b"

# `==` binds less tightly than what is around it here
_TIGHTER = frozenset({"unary_expression", "cast_expression", "instanceof_expression"})
_LOOSER = frozenset({"&&", "||", "&", "|", "^"})
# a comparison is no statement, and nothing can be asked of a boolean
_NO_PLACE = frozenset(
    "expression_statement for_statement method_invocation field_access array_access "
    "method_reference".split()
)


def may_occur(code: bytes) -> bool:
    """Whether there is the name of either method."""
    return b"isEmpty" in code or b"size" in code


def find(tree: Tree, policy: Policy) -> tuple[Occurrence, ...]:
    """Receivers of which the snippet does not say that they are something else."""
    known = read_declarations(tree)
    found: list[Occurrence] = []
    for node, parent in walk(tree, lambda _: False):
        if is_method(tree, node, "isEmpty") and _is_value(tree, node, parent):
            if policy == "paper" and _may_have_size(known, node):
                found.append(_original(tree, node, parent))
        elif _is_comparison(tree, node) and may_have_size(
            known.types_of(receiver(node.children[0]))
        ):
            found.append(_equivalent(tree, node, parent))
    return tuple(sorted(found, key=lambda each: (each.start, -each.end)))


def _is_value(tree: Tree, node: Node, parent: Node) -> bool:
    if given(node).named_children or has_comment(tree, node):
        return False
    if parent.type in _NO_PLACE:
        return parent.child_by_field_name("condition") == node  # of a `for`
    return True


def _may_have_size(known: Declarations, node: Node) -> bool:
    if is_own(known.tree, node, "size"):
        return False
    return may_have_size(known.types_of(receiver(node)))


def _original(tree: Tree, node: Node, parent: Node) -> Occurrence:
    name = node.child_by_field_name("name")
    assert name is not None, "a call without a name"
    rename = replace(tree, name.start_byte, name.end_byte, b"size")
    if not _needs_parentheses(parent):
        return occurrence(tree, node, "original", rename, insert_after(node, b" == 0"))
    opening, closing = insert_before(node, b"("), insert_after(node, b" == 0)")
    return occurrence(tree, node, "original", opening, rename, closing)


def _needs_parentheses(parent: Node) -> bool:
    operator = parent.child_by_field_name("operator")
    if parent.type == "binary_expression":
        return operator is None or operator.type not in _LOOSER
    return parent.type in _TIGHTER


def _is_comparison(tree: Tree, node: Node) -> bool:
    if node.type != "binary_expression" or node.child_count != 3 or node.children[1].type != "==":
        return False
    left, _, right = node.children
    if not is_method(tree, left, "size") or has_comment(tree, left) or given(left).named_children:
        return False
    return tree.text(right) == "0"


def _equivalent(tree: Tree, node: Node, parent: Node) -> Occurrence:
    call = node.children[0]
    name = call.child_by_field_name("name")
    assert name is not None, "a call without a name"
    splices = [
        replace(tree, name.start_byte, name.end_byte, b"isEmpty"),
        replace(tree, call.end_byte, node.end_byte),
    ]
    if _is_only_for_it(tree, parent):
        splices += _without_parentheses(tree, node, parent)
        node = parent
    return occurrence(tree, node, "equivalent", *splices)


def _is_only_for_it(tree: Tree, parent: Node) -> bool:
    """Whether the parentheses around the comparison are there because of it."""
    around = parent.parent if parent.type == "parenthesized_expression" else None
    return around is not None and not has_comment(tree, parent) and _needs_parentheses(around)


def _without_parentheses(tree: Tree, node: Node, parent: Node) -> tuple[Splice, Splice]:
    return (
        replace(tree, parent.start_byte, node.start_byte),
        replace(tree, node.end_byte, parent.end_byte),
    )
