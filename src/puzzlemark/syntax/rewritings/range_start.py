"""`range(n)` and `range(0, n)` (CodeMark's target in B1).

What could break: a `range` that is not the built-in. A snippet that binds the name anywhere is left
alone; what the module around it binds it does not show, so policy `safe` rewrites nothing.
"""

from tree_sitter import Node

from puzzlemark.syntax.rewritings._python import expressions, is_call_of, is_rebound
from puzzlemark.syntax.rewritings.base import (
    Occurrence,
    arguments,
    has_comment,
    insert_before,
    occurrence,
    replace,
)
from puzzlemark.syntax.tree import Tree
from puzzlemark.syntax.variables import Policy

LANGUAGE = "python"
ORIGINAL = "range(...)"
EQUIVALENT = "range(0, ...)"
HIT = r"\A\s*range\(\s*0\s*,"

_NOT_POSITIONAL = frozenset({"list_splat", "dictionary_splat", "keyword_argument"})


def may_occur(code: bytes) -> bool:
    """Whether there is the word."""
    return b"range" in code


def find(tree: Tree, policy: Policy) -> tuple[Occurrence, ...]:
    """Calls with one argument, or with two of which the first is `0`; under `safe` only these."""
    if is_rebound(tree, "range"):
        return ()
    calls = (node for node, _ in expressions(tree) if is_call_of(tree, node, "range"))
    return tuple(each for call in calls if (each := _read(tree, call, policy)) is not None)


def _read(tree: Tree, call: Node, policy: Policy) -> Occurrence | None:
    inside = call.child_by_field_name("arguments")
    assert inside is not None, "a call without arguments"
    given = arguments(tree, inside)
    if any(each.type in _NOT_POSITIONAL for each in given):
        return None
    if len(given) == 1 and policy == "paper":
        return occurrence(tree, call, "original", insert_before(given[0], b"0, "))
    if len(given) != 2 or tree.text(given[0]) != "0":
        return None
    start, end = given[0].start_byte, given[1].start_byte
    if has_comment(tree, inside, start, end):
        return None
    return occurrence(tree, call, "equivalent", replace(tree, start, end))
