"""Scopes of Java: the local variables of one method or constructor (docs/languages/java.md).

Two passes. The walk reads the body in the order in which scopes open and close, and notes each
identifier that stands where a variable can stand. The audit then accounts for every other word
that is spelt like a variable: what is not known to be harmless makes the variable keep its name.
"""

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator
from functools import lru_cache

from tree_sitter import Node

from puzzlemark.languages.java import (
    ANNOTATIONS,
    CLASS_BODIES,
    CODE_COMMENTS,
    COMMENTS,
    INERT_ANNOTATIONS,
    NAME_FIELDS,
    STRINGS,
)
from puzzlemark.syntax.naming import is_plain_identifier
from puzzlemark.syntax.resolvers._java_scopes import Walk, parameter_name
from puzzlemark.syntax.tree import Tree
from puzzlemark.syntax.variables import Function, Variable, names_a_parameter

Spans = list[tuple[int, int]]  # starts and ends, ascending

_TEMPLATES = frozenset({"string_interpolation"})
_WORD = re.compile(rb"[A-Za-z0-9_$]+")


def resolve(tree: Tree, node: Node) -> Function:
    """The variables of a `method_declaration` or `constructor_declaration`."""
    walk = Walk(tree.source)
    parameters = dict(_bind_parameters(tree, node, walk))
    if (body := node.child_by_field_name("body")) is not None:
        walk.read(body)
    audit = _Audit(tree, node, walk)
    variables = [
        Variable(
            word.decode(),
            tuple([start - tree.offset for start in starts]),
            word in parameters,
            _first_reason(word, walk, parameters) or audit.reason(word),
            audit.documented(word) if word in parameters else None,
        )
        for word, starts in walk.bindings()
    ]
    variables.sort(key=lambda variable: variable.starts)
    name = node.child_by_field_name("name")
    assert name is not None, f"{node.type} without a name"
    return Function(tree.text(name), tuple(variables), _dynamic(tree, walk))


def _first_reason(word: bytes, walk: Walk, parameters: dict[bytes, str | None]) -> str | None:
    if not is_plain_identifier(word.decode()):
        return "name is not plain ASCII"
    return walk.fixed.get(word) or parameters.get(word)


def _dynamic(tree: Tree, walk: Walk) -> str | None:
    # javac reads \u0022 as a quote and \u000a as the end of a comment; the parser does not
    if b"\\u" in tree.source:
        return "unicode escape in the snippet"
    return walk.dynamic


def _bind_parameters(tree: Tree, function: Node, walk: Walk) -> Iterator[tuple[bytes, str | None]]:
    formal = function.child_by_field_name("parameters")
    if formal is None or not (parameters := formal.named_children):
        return
    shared = _reason_for_all_parameters(tree, function)
    for parameter in parameters:
        if (name := parameter_name(parameter)) is not None:
            first = parameter.named_children[0]
            annotated = first.type == "modifiers" and any(_annotations(first))
            yield walk.bind(name), "annotated parameter" if annotated else shared


def _reason_for_all_parameters(tree: Tree, function: Node) -> str | None:
    first = function.named_children[0]
    if first.type == "modifiers":
        for annotation in _annotations(first):
            name = annotation.child_by_field_name("name")
            assert name is not None, "annotation without a name"
            if tree.text(name).rpartition(".")[2] not in INERT_ANNOTATIONS:
                return "parameter of an annotated method"
    if function.type == "constructor_declaration":
        owner = function.parent and function.parent.parent
        if owner is not None and owner.type == "record_declaration":
            return "parameter of a record's constructor"
    return None


def _annotations(modifiers: Node) -> Iterator[Node]:
    return (child for child in modifiers.named_children if child.type in ANNOTATIONS)


class _Audit:
    """Accounts for the words of a function that are spelt like a variable and are not it."""

    def __init__(self, tree: Tree, function: Node, walk: Walk) -> None:
        self.tree, self.function, self.walk = tree, function, walk
        self.text = tree.source[function.start_byte : function.end_byte]
        self.places = _find_words(tree.source)
        self.classes: Spans | None = None  # found when a word asks for them
        self.comments: str | None = None  # read when a parameter asks for them

    def reason(self, word: bytes) -> str | None:
        """Why a variable must keep its name, or None when every such word is accounted for."""
        own, everywhere = self.walk.own[word], self.places.get(word, [])
        first = bisect_left(everywhere, self.function.start_byte)
        places = everywhere[first : bisect_left(everywhere, self.function.end_byte)]
        if len(places) == len(own):
            return None
        known = {*own, *self.walk.others.get(word, ())}
        reasons = (self._reason_at(at, word) for at in places if at not in known)
        return next(filter(None, reasons), None)

    def documented(self, word: bytes) -> str | None:
        """Whether a comment before or inside the function names this parameter."""
        if self.comments is None:
            self.comments = "\n".join(self._comments())
        named = names_a_parameter(self.comments, word.decode())
        return "parameter named in a comment" if named else None

    def _comments(self) -> Iterator[str]:
        if self.function.start_byte > self.tree.offset:
            before = self.function.prev_named_sibling
            while before is not None and before.type in COMMENTS:
                yield self.tree.text(before)
                before = before.prev_named_sibling
        if b"//" in self.text or b"/*" in self.text:
            for node in _descendants(self.function):
                if node.type in COMMENTS:
                    yield self.tree.text(node)

    def _reason_at(self, start: int, word: bytes) -> str | None:
        node = self.function.descendant_for_byte_range(start, start + len(word))
        assert node is not None, "a word outside of the tree"
        if node.type in COMMENTS:
            is_code = self.tree.text(node).startswith(CODE_COMMENTS)
            return "mentioned in code inside a comment" if is_code else None
        if node.type == "identifier" and _is_member_name(node):
            return None
        # looked up, not climbed to: each `node.parent` begins at the root of the tree again
        root = self.tree.root
        if _stands_in(_spans_of(root, ANNOTATIONS), start):
            return "mentioned in an annotation"
        in_template = _stands_in(_spans_of(root, _TEMPLATES), start)
        if _stands_in(_spans_of(root, STRINGS), start) and not in_template:
            return "equal to a string" if self._is_whole_string(node, word) else None
        if self.classes is None:
            self.classes = list(_outermost(self.function, CLASS_BODIES))
        if _stands_in(self.classes, start):
            return "mentioned in a nested class"
        return "spelt like something else in the function"

    def _is_whole_string(self, node: Node, word: bytes) -> bool:
        while node.type not in STRINGS and node.parent is not None:
            node = node.parent
        return self.tree.text(node).strip('" \t\r\n').encode() == word


def _descendants(node: Node) -> Iterator[Node]:
    stack = [node]
    while stack:
        yield (each := stack.pop())
        stack.extend(each.named_children)


# Of a whole snippet, and kept: its functions ask one after another, and may stand in each other.


@lru_cache(maxsize=1)
def _find_words(source: bytes) -> dict[bytes, list[int]]:
    """Where each word of the source stands."""
    places: defaultdict[bytes, list[int]] = defaultdict(list)
    for word in _WORD.finditer(source):
        places[word[0]].append(word.start())
    return dict(places)


@lru_cache(maxsize=4)
def _spans_of(root: Node, kinds: frozenset[str]) -> Spans:
    return list(_outermost(root, kinds))


def _stands_in(spans: Spans, start: int) -> bool:
    at = bisect_right(spans, start, key=lambda span: span[0]) - 1
    return at >= 0 and start < spans[at][1]


def _outermost(root: Node, kinds: frozenset[str]) -> Iterator[tuple[int, int]]:
    """Where nodes of these types stand below another, those inside of them left out; ascending."""
    stack = list(reversed(root.named_children))
    while stack:
        node = stack.pop()
        if node.type in kinds:
            yield node.start_byte, node.end_byte
        else:
            stack.extend(reversed(node.named_children))


def _is_member_name(node: Node) -> bool:
    parent = node.parent
    assert parent is not None, "an identifier is never the root"
    if (field := NAME_FIELDS.get(parent.type)) is not None:
        return parent.child_by_field_name(field) == node
    if parent.type == "method_reference":
        before = node.prev_sibling
        return before is not None and before.type == "::"
    return parent.type in ("labeled_statement", "break_statement", "continue_statement")
