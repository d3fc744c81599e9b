"""`s.indexOf(x)` and `s.indexOf(x, 0)` (CodeMark's target in B4).

What could break: a receiver that is no String, as a List, has no `indexOf` with two arguments. What
the snippet declares decides: under policy `paper` nothing may speak against it, under `safe` the
snippet must prove that it is a String or a builder of one.
"""

from tree_sitter import Node

from puzzlemark.syntax.rewritings._java import (
    Declarations,
    Proof,
    given,
    is_method,
    is_own,
    may_have_start,
    read_declarations,
    receiver,
)
from puzzlemark.syntax.rewritings.base import (
    Occurrence,
    arguments,
    has_comment,
    insert_after,
    occurrence,
    replace,
    walk,
)
from puzzlemark.syntax.tree import Tree
from puzzlemark.syntax.variables import Policy

LANGUAGE = "java"
ORIGINAL = "x.indexOf(...)"
EQUIVALENT = "x.indexOf(..., 0)"
# the first `indexOf(` will do for all, and is not given back: every other would be tried in vain
HIT = r"\A(?>[^;\n]*?\bindexOf\()[^;\n]*,\s*0\s*\)"


def may_occur(code: bytes) -> bool:
    """Whether there is the name of the method."""
    return b"indexOf" in code


def find(tree: Tree, policy: Policy) -> tuple[Occurrence, ...]:
    """Receivers of which the snippet does not say that they are something else."""
    calls = [node for node, _ in walk(tree, lambda _: False) if is_method(tree, node, "indexOf")]
    known = read_declarations(tree) if calls else Declarations(tree)
    proof = Proof(known) if calls and policy == "safe" else None
    wanted = (call for call in calls if _may_have_start(known, call, proof))
    return tuple(each for call in wanted if (each := _read(tree, call)) is not None)


def _may_have_start(known: Declarations, call: Node, proof: Proof | None) -> bool:
    if is_own(known.tree, call, "indexOf"):
        return False
    if proof is not None:
        return proof.is_text(receiver(call))
    return may_have_start(known.types_of(receiver(call)))


def _read(tree: Tree, call: Node) -> Occurrence | None:
    inside = given(call)
    values = arguments(tree, inside)
    if len(values) == 1:
        return occurrence(tree, call, "original", insert_after(values[0], b", 0"))
    if len(values) != 2 or tree.text(values[1]) != "0":
        return None
    start, end = values[0].end_byte, values[1].end_byte
    if has_comment(tree, inside, start, end):
        return None
    return occurrence(tree, call, "equivalent", replace(tree, start, end))
