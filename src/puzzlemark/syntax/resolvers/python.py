"""Scopes of Python: which name means which binding (language reference, section 4.2).

A function's variables are the names that it binds itself: parameters, assignments, `for`, `with`,
`except ... as`, walrus, `match` captures, and the targets of its own comprehensions. Names bound
by an import, a nested `def` or a `class` are not variables, nor is what is declared global or
nonlocal. docs/languages/python.md lists what is handled and what is refused.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from itertools import chain

import tree_sitter
from tree_sitter import Node

from puzzlemark.syntax.naming import is_mangled, mentions
from puzzlemark.syntax.resolvers._python_scopes import (
    WORDS,
    Walk,
    docstring_of,
    field_of,
    grammar,
)
from puzzlemark.syntax.tree import Tree
from puzzlemark.syntax.variables import Function, Variable, names_a_parameter

# Which places mean a variable follows from the tree and from which names are equal. How a name is
# spelled makes it fixed or doubtful, or the function dynamic, but moves no place.
IGNORES_SPELLING = True
_NOT_VARIABLES = frozenset({"import", "def", "class"})  # ways of binding
BY_KEYWORD = "parameter passed by keyword in the snippet"
_FRAME_WORDS = tuple(
    b"_getframe _current_frames currentframe getouterframes getinnerframes walk_stack walk_tb "
    b"f_back f_locals f_code gi_frame cr_frame ag_frame tb_frame __code__ func_code "
    b"co_varnames co_names co_freevars co_cellvars co_consts co_code getclosurevars "
    b"getsource getsourcelines getgeneratorlocals getcoroutinelocals settrace setprofile".split()
)
# one of these is in each of the words
_PARTS_OF_FRAME_WORDS = tuple(
    b"frame _code co_ locals f_back walk_ getsource getclosure settrace setprofile".split()
)
_INTROSPECTION = re.compile(rb"\b(?:" + b"|".join(_FRAME_WORDS) + rb")\b")
_TYPE_COMMENT = re.compile(rb"#[ \t]*type[ \t]*:(.*)")


def resolve(tree: Tree, node: Node) -> Function:
    """The variables of one `function_definition`."""
    walk = Walk(tree.source)
    walk.function(node, None)
    walk.finish()
    name = walk.text(field_of(node, "name"))
    return Function(name, tuple(_variables(tree, node, name, walk)), walk.dynamic_reason())


def _variables(tree: Tree, node: Node, label: str, walk: Walk) -> Iterator[Variable]:
    starts, how, free = _own_bindings(walk)
    reasons = _reasons(tree, node, walk, free)
    parameters = [name for name in starts if "parameter" in how[name]]
    of_parameters = _reasons_for_parameters(tree, node, label, walk, parameters)
    doubts = _doubts(node, walk)
    unread = f"a text from elsewhere may name it: {walk.unread}()" if walk.unread else None
    if _looks_inside(tree.source):
        unread = unread or "the snippet looks into frames or code objects (policy safe)"
    text = docstring_of(node)
    docstring = tree.text(text) if text is not None else ""
    for name in sorted(starts, key=lambda each: starts[each][0]):
        if name in tree.language.receivers:
            continue
        is_parameter = "parameter" in how[name]
        fixed = reasons.get(name) or _why_spelling_fixed(name)
        documented: str | None = None
        if is_parameter:
            fixed = fixed or of_parameters.get(name)
            if names_a_parameter(docstring, name):
                documented = "parameter named in the docstring"
        doubt = doubts.get(name) or unread
        yield Variable(name, tuple(starts[name]), is_parameter, fixed, documented, doubt)


@lru_cache(maxsize=1)  # the functions of a snippet ask one after another
def _looks_inside(source: bytes) -> bool:
    """Whether anything in the snippet may read the names of another function's variables."""
    # to look for parts of the words first takes a tenth of the time: most snippets have none
    has_one = any(map(source.__contains__, _PARTS_OF_FRAME_WORDS))
    return has_one and _INTROSPECTION.search(source) is not None


def _own_bindings(walk: Walk) -> tuple[dict[str, list[int]], dict[str, set[str]], set[str]]:
    """Offsets and ways of binding of each name that the function, or its comprehensions, bind.

    And the names that mean a binding outside of the function.
    """
    ours: set[int] = {id(walk.scopes[0])}
    starts: dict[str, list[int]] = defaultdict(list)
    how: dict[str, set[str]] = defaultdict(set)
    free: set[str] = set()
    for scope in walk.scopes:  # a scope comes after the one around it
        if scope.kind == "comprehension" and id(scope.parent) in ours:
            ours.add(id(scope))
    for scope in walk.scopes:
        for name, places in scope.mentions.items():
            owner = scope.owner(name)
            if owner is None:
                free.add(name)
            elif id(owner) in ours:
                starts[name] += places
                how[name] |= owner.bound[name]
    mine = (name for name in starts if not how[name] & _NOT_VARIABLES)
    return {name: sorted(starts[name]) for name in mine}, how, free


def _reasons(tree: Tree, node: Node, walk: Walk, free: set[str]) -> dict[str, str]:
    """Why names must be kept: a later line goes before an earlier one."""
    comments = b" ".join(_TYPE_COMMENT.findall(tree.source, node.start_byte, node.end_byte))
    reasons = dict.fromkeys(WORDS.findall(comments.decode()), "a type comment names it")
    reasons |= dict.fromkeys(walk.annotations, "an annotation names it")
    # Python 2 comprehensions leak their variables; and a reader may stumble
    reasons |= dict.fromkeys(free, "the same name is also read from outside of the function")
    for scope in walk.scopes:
        if scope.kind == "class":
            reasons |= dict.fromkeys(scope.bound, "a class body binds the same name")
    for scope in walk.scopes:
        reasons |= dict.fromkeys(scope.nonlocals, "declared nonlocal")
    reasons |= {
        name: f"a text that {reader}() reads names it" for name, reader in walk.read.items()
    }
    reasons |= dict.fromkeys(walk.strings, "a string spells its name")
    return reasons | dict.fromkeys(walk.shown, "an f-string prints its name")


def _doubts(node: Node, walk: Walk) -> dict[str, str]:
    """Why policy `safe` keeps names: what may look for them is written elsewhere."""
    doubts: dict[str, str] = {}
    for scope in walk.scopes:
        if scope.kind == "class":  # a metaclass may give the body names of its own
            doubts |= dict.fromkeys(scope.mentions, "a class body reads it (policy safe)")
    for decorator in _decorators(node):  # @njit(locals={"x": ...}), @cython.locals(x=...)
        words = WORDS.findall(walk.text(decorator))
        doubts |= dict.fromkeys(words, "named in a decorator (policy safe)")
    return doubts | dict.fromkeys(walk.words, "named in a string (policy safe)")


def _why_spelling_fixed(name: str) -> str | None:
    # `__x` means `_A__x` in a class A, and so `_A__x` may mean `__x`
    if name.startswith("__") or is_mangled(name):
        return "private name, mangled in a class"
    if name == "super":  # a method that mentions it gets a cell with its class
        return "the compiler looks for this name"
    return None if name.isascii() else "name is not ASCII"


def _reasons_for_parameters(
    tree: Tree, node: Node, label: str, walk: Walk, parameters: Sequence[str]
) -> dict[str, str]:
    """Why parameters must be kept: something in the snippet may pass them by their name."""
    if not parameters:
        return {}
    calls = (keys for call, keys in walk.labels if mentions(walk.bytes_of(call), label))
    reasons = dict.fromkeys(chain.from_iterable(calls), BY_KEYWORD)
    if _is_alone(tree.root, node):
        return reasons
    labels = _labels_of(tree.root)
    for name in parameters:
        first, last = labels.get(name.encode(), (node.start_byte, node.start_byte))
        if first < node.start_byte or last >= node.end_byte:
            reasons[name] = BY_KEYWORD
    for decorator in _decorators(node):
        words = WORDS.findall(walk.text(decorator))
        reasons |= dict.fromkeys(words, "parameter named in a decorator")
    return reasons


def _is_alone(root: Node, node: Node) -> bool:
    """Whether nothing but this function stands in the snippet."""
    return [child for child in root.named_children if child.type != "comment"] == [node]


@lru_cache(maxsize=1)  # the functions of a snippet ask one after another
def _labels_of(root: Node) -> dict[bytes, tuple[int, int]]:
    """Where each keyword label stands first and last in the whole snippet."""
    labels: dict[bytes, tuple[int, int]] = {}
    for label in tree_sitter.QueryCursor(_labels()).captures(root).get("label", []):
        name, start = label.text or b"", label.start_byte
        first, last = labels.get(name, (start, start))
        labels[name] = min(first, start), max(last, start)
    return labels


@cache  # making it takes longer than to look through a function
def _labels() -> tree_sitter.Query:
    return tree_sitter.Query(grammar(), "(keyword_argument name: (identifier) @label)")


def _decorators(node: Node) -> list[Node]:
    around = node.parent
    if around is None or around.type != "decorated_definition":
        return []
    return [child for child in around.named_children if child.type == "decorator"]
