"""`f(x)` and `f.__call__(x)` (CodeMark's trigger in B2).

What could break: a class whose instances can be called. There `C.__call__` is the method of the
instances, not the constructor: `partial.__call__(f)` fails. Whether a name is such a class is
written elsewhere, also of a built-in's name; so policy `safe` keeps to methods of literals.
"""

from tree_sitter import Node

from puzzlemark.syntax.rewritings._python import expressions
from puzzlemark.syntax.rewritings.base import (
    Occurrence,
    has_comment,
    insert_after,
    occurrence,
    replace,
    walk,
)
from puzzlemark.syntax.tree import Tree
from puzzlemark.syntax.variables import Policy

LANGUAGE = "python"
ORIGINAL = "f(...)"
EQUIVALENT = "f.__call__(...)"
HIT = r"\A[^\n]*\.__call__\("

# Classes with callable instances, known by name; `type` is one. And `super`: the language itself
# gives its call without arguments a meaning.
CALLABLE_CLASSES = frozenset(
    "type super partial itemgetter attrgetter methodcaller staticmethod ref WeakMethod "
    "MethodType FunctionType LambdaType Mock MagicMock AsyncMock vectorize poly1d TestCase "
    "FunctionTestCase TestSuite".split()
)
_LITERALS = frozenset({"string", "list", "dictionary", "set", "tuple"})


def may_occur(code: bytes) -> bool:
    """Whether there is a parenthesis."""
    return b"(" in code


def find(tree: Tree, policy: Policy) -> tuple[Occurrence, ...]:
    """Calls but those of `print`, which are another rewriting's."""
    callable_classes = CALLABLE_CLASSES | _with_call_method(tree)
    found: list[Occurrence] = []
    for node, _ in expressions(tree):
        if node.type != "call" or has_comment(tree, node):
            continue
        function = node.child_by_field_name("function")
        assert function is not None, "a call without what is called"
        name = _last(tree, function)
        if function.type == "attribute" and name == "__call__":
            found.extend(_equivalent(tree, node, function))
        elif name not in callable_classes and _may_change(function, name, policy):
            found.append(occurrence(tree, node, "original", insert_after(function, b".__call__")))
    return tuple(found)


def _equivalent(tree: Tree, node: Node, function: Node) -> list[Occurrence]:
    owner = function.child_by_field_name("object")
    assert owner is not None, "an attribute of nothing"
    if has_comment(tree, function) or (owner.type == "call" and _is_super(tree, owner)):
        return []  # `super().__call__(x)` is the method of a parent class
    away = replace(tree, owner.end_byte, function.end_byte)
    return [occurrence(tree, node, "equivalent", away)]


def _is_super(tree: Tree, call: Node) -> bool:
    function = call.child_by_field_name("function")
    return function is not None and tree.text(function) == "super"


def _may_change(function: Node, name: str, policy: Policy) -> bool:
    if function.type in ("integer", "float") or (function.type, name) == ("identifier", "print"):
        return False
    if policy == "paper":
        return True
    owner = function.child_by_field_name("object") if function.type == "attribute" else None
    return owner is not None and owner.type in _LITERALS


def _last(tree: Tree, function: Node) -> str:
    """`f` of `f` and of `a.b.f`; nothing of other expressions."""
    node: Node | None = function
    if function.type == "attribute":
        node = function.child_by_field_name("attribute")
    return tree.text(node) if node is not None and node.type == "identifier" else ""


def _with_call_method(tree: Tree) -> frozenset[str]:
    """The classes of the snippet, if any of them defines `__call__`: another may inherit it."""
    if b"def __call__" not in tree.source:
        return frozenset()
    classes = (node for node, _ in walk(tree, lambda _: False) if node.type == "class_definition")
    names = (each.child_by_field_name("name") for each in classes)
    return frozenset(tree.text(name) for name in names if name is not None)
