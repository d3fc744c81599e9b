"""`print(x)` and `print(x, flush=True)` (CodeMark's target in B2).

What could break: a `print` that is not the built-in of Python 3; a `file=` or a standard output
that can write but not flush, as the stand-ins of tests and services. A snippet shows neither, so
policy `safe` rewrites nothing. Output comes sooner, and a program that prints much becomes slower.
"""

from tree_sitter import Node

from puzzlemark.syntax.rewritings._python import expressions, is_call_of, is_rebound
from puzzlemark.syntax.rewritings.base import (
    Occurrence,
    Splice,
    arguments,
    has_comment,
    insert_after,
    occurrence,
    replace,
)
from puzzlemark.syntax.tree import Tree
from puzzlemark.syntax.variables import Policy

LANGUAGE = "python"
ORIGINAL = "print(...)"
EQUIVALENT = "print(..., flush=True)"
HIT = r"\A\s*print\((?:(?!\bprint\()[\s\S])*?\bflush\s*=\s*True"  # before the next print

# In Python 3 nothing can be done with what print returns, so what looks like it is Python 2:
# `print ("%s") % x`, `print ("a"), b`
_PYTHON_2 = frozenset({"print_statement", "exec_statement"})
_USES_VALUE = frozenset({"binary_operator", "attribute", "subscript", "comparison_operator"})


def may_occur(code: bytes) -> bool:
    """Whether there is the word."""
    return b"print" in code


def find(tree: Tree, policy: Policy) -> tuple[Occurrence, ...]:
    """Calls that say nothing about flushing, or `flush=True`, in a snippet of Python 3.

    Under policy `safe` only those that say `flush=True`.
    """
    if is_rebound(tree, "print"):
        return ()
    found: list[Occurrence] = []
    for node, parent in expressions(tree):
        if node.type in _PYTHON_2:
            return ()
        if not is_call_of(tree, node, "print"):
            continue
        if parent.type in _USES_VALUE or _is_beside_others(parent):
            return ()
        if (each := _read(tree, node, policy)) is not None:
            found.append(each)
    return tuple(found)


def _is_beside_others(parent: Node) -> bool:
    return parent.type == "expression_statement" and parent.named_child_count > 1


def _read(tree: Tree, call: Node, policy: Policy) -> Occurrence | None:
    inside = call.child_by_field_name("arguments")
    assert inside is not None, "a call without arguments"
    given = arguments(tree, inside)
    labels = {_label(tree, each): each for each in given if each.type == "keyword_argument"}
    if any(each.type == "dictionary_splat" for each in given):
        return None  # it may say `flush` itself
    if "flush" not in labels:
        if policy == "safe":
            return None
        return occurrence(tree, call, "original", _flushing(inside, given))
    start, end = _span_of(labels["flush"], given, inside)
    if tree.text(labels["flush"]).replace(" ", "") != "flush=True":
        return None
    if has_comment(tree, inside, start, end):
        return None
    return occurrence(tree, call, "equivalent", replace(tree, start, end))


def _label(tree: Tree, argument: Node) -> str:
    name = argument.child_by_field_name("name")
    assert name is not None, "a keyword argument without a keyword"
    return tree.text(name)


def _flushing(inside: Node, given: list[Node]) -> Splice:
    if given:
        return insert_after(given[-1], b", flush=True")
    return insert_after(inside.children[0], b"flush=True")


def _span_of(flush: Node, given: list[Node], inside: Node) -> tuple[int, int]:
    """The argument with the comma that goes away with it."""
    at = given.index(flush)
    if at > 0:
        return given[at - 1].end_byte, flush.end_byte
    following = given[1].start_byte if len(given) > 1 else inside.end_byte - 1
    return flush.start_byte, following
