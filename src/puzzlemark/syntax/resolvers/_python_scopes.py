"""One walk over a Python function: what its scopes bind and mention, and what forbids a rename."""

import re
import sys
import unicodedata
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache

import tree_sitter
from tree_sitter import Node

from puzzlemark.languages.python import (
    FRAME_ATTRIBUTES,
    FRAME_MEMBERS,
    FRAME_READERS,
    HARMLESS_WITH_ARGUMENTS,
    PLUGIN,
    TEXT_READERS,
)
from puzzlemark.syntax.tree import load_grammar

WORDS = re.compile(r"\w+")
_UNPACKINGS = frozenset(
    "pattern_list tuple_pattern list_pattern list_splat_pattern dictionary_splat_pattern "
    "expression_list tuple list list_splat parenthesized_expression as_pattern_target".split()
)
_NEVER_TEXT = frozenset(
    "integer float true false none list set tuple dictionary lambda list_comprehension "
    "set_comprehension dictionary_comprehension not_operator comparison_operator".split()
)
_ESCAPE = re.compile(
    r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{1,3})|N\{([^}]*)\}|(.))",
    re.DOTALL,
)
_DYNAMIC_NODES = {
    "wildcard_import": "star import",
    "exec_statement": "exec statement",
    "type_parameter": "type parameters",
    "type_alias_statement": "type statement",
}


@dataclass(eq=False, slots=True)
class Scope:
    """What one block of a function binds and mentions."""

    kind: str  # function, lambda, comprehension, class
    parent: "Scope | None"
    bound: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))  # name -> how
    mentions: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    outside: set[str] = field(default_factory=set)  # declared global
    nonlocals: set[str] = field(default_factory=set)

    def owner(self, name: str) -> "Scope | None":
        """The scope whose binding a name means here; None: one outside of the function."""
        scope: Scope | None = self
        while scope is not None:
            if scope is self or scope.kind != "class":  # a class body hides its names
                if name in scope.outside:
                    return None
                if name in scope.bound and name not in scope.nonlocals:
                    return scope
            scope = scope.parent
        return None


class Walk:
    """One pass over a function: records bindings, mentions, and what forbids a rename.

    A stack of nodes to visit, each with its scope, in place of recursion: real code nests deeply.
    """

    def __init__(self, source: bytes) -> None:
        self.source = source
        self.todo: list[tuple[Node, Scope]] = []
        self.scopes: list[Scope] = []
        self.dynamic: str | None = None
        self.frame_readers: list[tuple[str, Scope]] = []
        self.shown: set[str] = set()  # words inside f"{x=}"
        self.strings: set[str] = set()
        self.docstrings: set[int] = set()
        self.words: set[str] = set()  # words inside strings, but docstrings
        self.read: dict[str, str] = {}  # words of a text that something reads -> its name
        self.unread: str | None = None  # what reads a text that does not stand here
        self.annotations: set[str] = set()  # words inside annotations
        self.labels: list[tuple[Node, list[str]]] = []  # calls, and the keyword labels in each

    def finish(self) -> None:
        handlers, todo = _handlers(), self.todo
        while todo:
            node, scope = todo.pop()
            handler = handlers.get(node.kind_id)
            if handler is not None:
                handler(self, node, scope)
            else:
                todo += [(child, scope) for child in node.named_children]

    def later(self, node: Node | None, scope: Scope) -> None:
        if node is not None:
            self.todo.append((node, scope))

    def children(self, node: Node, scope: Scope, skip: Node | None = None) -> None:
        for child in node.named_children:
            if child != skip:
                self.todo.append((child, scope))

    def bytes_of(self, node: Node) -> bytes:
        return self.source[node.start_byte : node.end_byte]

    def text(self, node: Node) -> str:
        return self.source[node.start_byte : node.end_byte].decode()

    # -- scopes -----------------------------------------------------------------------------------

    def open(self, kind: str, parent: Scope | None) -> Scope:
        scope = Scope(kind, parent)
        self.scopes.append(scope)
        return scope

    def function(self, node: Node, parent: Scope | None) -> None:
        """What is inside of a function: its defaults and decorators belong to the outside."""
        scope = self.open("function", parent)
        if node.child_by_field_name("type_parameters") is not None:
            self.dynamic = "type parameters"
        self.later(node.child_by_field_name("return_type"), scope)
        self.parameters(field_of(node, "parameters"), scope)
        if (docstring := docstring_of(node)) is not None:
            self.docstrings.add(docstring.id)
        self.later(node.child_by_field_name("body"), scope)

    def nested_function(self, node: Node, scope: Scope) -> None:
        self.bind(field_of(node, "name"), scope, "def")
        self.defaults(field_of(node, "parameters"), scope)
        self.function(node, scope)

    def nested_lambda(self, node: Node, scope: Scope) -> None:
        inner = self.open("lambda", scope)
        parameters = node.child_by_field_name("parameters")
        if parameters is not None:
            self.defaults(parameters, scope)
            self.parameters(parameters, inner)
        self.later(node.child_by_field_name("body"), inner)

    def nested_class(self, node: Node, scope: Scope) -> None:
        self.bind(field_of(node, "name"), scope, "class")
        if node.child_by_field_name("type_parameters") is not None:
            self.dynamic = "type parameters"
        self.later(node.child_by_field_name("superclasses"), scope)
        self.later(node.child_by_field_name("body"), self.open("class", scope))

    def comprehension(self, node: Node, scope: Scope) -> None:
        inner = self.open("comprehension", scope)
        around: Scope = scope  # of the first iterable, which is evaluated outside
        for child in node.named_children:
            if child.type != "for_in_clause":
                self.later(child, inner)
                continue
            self.target(child.child_by_field_name("left"), inner)
            # a clause may hold several iterables: `for x in 1, 2` (Python 2)
            for iterable in child.children_by_field_name("right"):
                self.later(iterable, around)
            around = inner

    # -- bindings ---------------------------------------------------------------------------------

    def bind(self, node: Node, scope: Scope, how: str = "target") -> None:
        name = self.text(node)
        scope.bound[name].add(how)
        self.note(name, node, scope)

    def target(self, node: Node | None, scope: Scope, how: str = "target") -> None:
        """Bind the names in the target of an assignment; what is not a name is only read."""
        targets = [node] if node is not None else []
        while targets:
            each = targets.pop()
            if each.type == "identifier":
                self.bind(each, scope, how)
            elif each.type in _UNPACKINGS:
                targets += each.named_children
            else:
                self.later(each, scope)

    def bind_left(self, node: Node, scope: Scope) -> None:
        left = field_of(node, "left")
        self.target(left, scope)
        self.children(node, scope, skip=left)

    def assignment(self, node: Node, scope: Scope) -> None:
        left = field_of(node, "left")
        if left.type == "tuple_pattern" and node.child_by_field_name("right") is None:
            self.children(node, scope)  # `(x): int` binds nothing, unlike `x: int`
        else:
            self.bind_left(node, scope)

    def bind_children(self, node: Node, scope: Scope) -> None:
        for child in node.named_children:
            self.target(child, scope)

    def walrus(self, node: Node, scope: Scope) -> None:
        self.later(field_of(node, "value"), scope)
        while scope.kind == "comprehension" and scope.parent is not None:
            scope = scope.parent  # binds in the function around the comprehension
        self.bind(field_of(node, "name"), scope)

    def as_pattern(self, node: Node, scope: Scope) -> None:
        alias = field_of(node, "alias")
        self.target(alias, scope)
        self.children(node, scope, skip=alias)

    def except_clause(self, node: Node, scope: Scope) -> None:
        values = node.children_by_field_name("value")
        name = values[1] if len(values) == 2 else None  # Python 2: except Error, name
        self.target(name, scope)
        self.children(node, scope, skip=name)

    def imports(self, node: Node, scope: Scope) -> None:
        for imported in node.children_by_field_name("name"):
            alias = imported.child_by_field_name("alias")
            self.bind(alias or imported.named_children[0], scope, "import")
            # `from inspect import currentframe` binds the name that would give it away
            for word in FRAME_ATTRIBUTES.intersection(WORDS.findall(self.text(imported))):
                self.dynamic = f"names are visible to {word}"
        for child in node.named_children:
            if child.type in _DYNAMIC_NODES:
                self.refuse(child, scope)

    def global_statement(self, node: Node, scope: Scope) -> None:
        scope.outside.update(map(self.text, node.named_children))

    def nonlocal_statement(self, node: Node, scope: Scope) -> None:
        scope.nonlocals.update(map(self.text, node.named_children))

    def parameters(self, node: Node, scope: Scope) -> None:
        for child in node.named_children:
            kind = child.type
            if kind == "identifier" or kind in _UNPACKINGS:
                self.target(child, scope, "parameter")
            elif kind.endswith("_parameter"):  # default_, typed_, typed_default_
                self.target(child.named_children[0], scope, "parameter")
                self.later(child.child_by_field_name("type"), scope)

    def defaults(self, node: Node, scope: Scope) -> None:
        for child in node.named_children:
            self.later(child.child_by_field_name("value"), scope)

    # -- match ------------------------------------------------------------------------------------

    def case_clause(self, node: Node, scope: Scope) -> None:
        patterns = []
        for child in node.named_children:
            (patterns.append(child) if child.type == "case_pattern" else self.later(child, scope))
        while patterns:
            patterns += self.pattern(patterns.pop(), scope)

    def pattern(self, node: Node, scope: Scope) -> list[Node]:
        """Bind or mention what a pattern names; return the patterns inside it."""
        children = node.named_children
        if node.type == "identifier":  # `as name`, `*rest`
            self.bind(node, scope)
        elif node.type == "dotted_name":  # a capture, unless there is a dot in it
            (self.bind if len(children) == 1 else self.mention)(children[0], scope)
            return []
        elif node.type == "class_pattern":
            self.mention(children[0].named_children[0], scope)
            return children[1:]
        elif node.type == "keyword_pattern":  # an attribute's name, then what it must match
            return children[1:]
        return children

    # -- mentions ---------------------------------------------------------------------------------

    def note(self, name: str, node: Node, scope: Scope) -> None:
        scope.mentions[name].append(node.start_byte)
        if not name.isascii():
            self.refuse_two_spellings(name)

    def refuse_two_spellings(self, name: str) -> None:
        if unicodedata.normalize("NFKC", name) != name:
            self.dynamic = "two spellings of one name"  # Python compares names in NFKC

    def mention(self, node: Node, scope: Scope) -> None:
        # most nodes that are visited come here, so `text` and `note` are written out
        start = node.start_byte
        name = self.source[start : node.end_byte].decode()
        scope.mentions[name].append(start)
        if not name.isascii():
            self.refuse_two_spellings(name)
        if name in FRAME_READERS:
            self.frame_readers.append((name, scope))

    def attribute(self, node: Node, scope: Scope) -> None:
        children = node.named_children
        name = self.text(children[-1])
        if name in FRAME_ATTRIBUTES or (
            name in FRAME_MEMBERS and self.text(children[0]) == FRAME_MEMBERS[name]
        ):
            self.dynamic = f"names are visible to .{name}"
        self.later(children[0], scope)

    def call(self, node: Node, scope: Scope) -> None:
        children = node.named_children
        called, arguments = children[0], children[-1].named_children
        named = [each for each in arguments if each.type == "keyword_argument"]
        if named:
            self.labels.append((node, [self.text(each.named_children[0]) for each in named]))
        self.later(children[-1], scope)
        name = self.text(called.named_children[-1] if called.type == "attribute" else called)
        if name in TEXT_READERS:
            self.read_text(name, arguments)
        if called.type != "identifier":
            self.later(called, scope)
        elif name in HARMLESS_WITH_ARGUMENTS and any(not is_splat(each) for each in arguments):
            self.note(name, called, scope)
        else:
            self.mention(called, scope)
            if name in FRAME_MEMBERS and all(each.type == "integer" for each in arguments):
                self.frame_readers.append((name, scope))

    def read_text(self, name: str, arguments: list[Node]) -> None:
        """Note what a text names, where the call may look its words up among our variables."""
        given = [each for each in arguments if each.type != "comment"]
        first = [each for each in given if each.type != "keyword_argument"][:1]
        texts = first or [each.named_children[-1] for each in given]
        if not all(is_literal(each) or each.type in _NEVER_TEXT for each in texts):
            self.unread = name
        todo = given
        while todo:
            each = todo.pop()
            if each.type in ("string", "concatenated_string"):
                self.read |= dict.fromkeys(WORDS.findall(self.spelled(each)), name)
            todo.extend(each.named_children)

    def keyword_argument(self, node: Node, scope: Scope) -> None:
        self.later(field_of(node, "value"), scope)

    def string(self, node: Node, scope: Scope) -> None:
        text = self.text(node)
        content = text.lstrip("rRbBuUfFtT")
        if content.startswith(
            "`"
        ):  # Python 2: `x` is repr(x), which the grammar takes for a string
            self.dynamic = "backquotes"
        if "t" in text[: -len(content)].lower():  # a template keeps the text of its expressions
            self.shown.update(WORDS.findall(text))
        self.strings.add(content.strip("\"'"))
        if node.id not in self.docstrings:
            self.words.update(WORDS.findall(self.spelled(node)))
        for child in node.named_children:
            if child.type == "interpolation":
                self.todo.append((child, scope))

    def strings_in_a_row(self, node: Node, scope: Scope) -> None:
        if node.id not in self.docstrings:
            self.words.update(WORDS.findall(self.spelled(node)))
        self.children(node, scope)

    def spelled(self, node: Node) -> str:
        """What a string says, without the fields of an f-string; several in a row are one."""
        strings = [node] if node.type == "string" else node.named_children
        said: list[str] = []
        for string in strings:
            is_raw = "r" in self.text(string.children[0]).lower() if string.children else False
            for child in string.named_children:
                if child.type == "string_content":
                    text = self.text(child)
                    said.append(text if is_raw else _ESCAPE.sub(_unescaped, text))
                elif child.type == "interpolation":
                    said.append(" ")
        return "".join(said)

    def interpolation(self, node: Node, scope: Scope) -> None:
        if any(token.type == "=" for token in node.children):
            self.shown.update(WORDS.findall(self.text(node)))
        self.children(node, scope)

    def annotation(self, node: Node, scope: Scope) -> None:  # noqa: ARG002
        self.annotations.update(WORDS.findall(self.text(node)))

    def refuse(self, node: Node, scope: Scope) -> None:
        self.dynamic = _DYNAMIC_NODES[node.type]
        self.children(node, scope)

    # -- conclusions ------------------------------------------------------------------------------

    def dynamic_reason(self) -> str | None:
        free = (name for name, scope in self.frame_readers if scope.owner(name) is None)
        if self.dynamic is None and (name := next(free, None)) is not None:
            return f"names are visible to {name}()"
        return self.dynamic


_HANDLERS: dict[str, Callable[[Walk, Node, Scope], None]] = {
    "identifier": Walk.mention,
    "attribute": Walk.attribute,
    "call": Walk.call,
    "keyword_argument": Walk.keyword_argument,
    "assignment": Walk.assignment,
    "augmented_assignment": Walk.bind_left,
    "for_statement": Walk.bind_left,
    "named_expression": Walk.walrus,
    "as_pattern": Walk.as_pattern,
    "except_clause": Walk.except_clause,
    "except_group_clause": Walk.except_clause,
    "delete_statement": Walk.bind_children,
    "global_statement": Walk.global_statement,
    "nonlocal_statement": Walk.nonlocal_statement,
    "import_statement": Walk.imports,
    "import_from_statement": Walk.imports,
    "function_definition": Walk.nested_function,
    "lambda": Walk.nested_lambda,
    "class_definition": Walk.nested_class,
    "list_comprehension": Walk.comprehension,
    "set_comprehension": Walk.comprehension,
    "dictionary_comprehension": Walk.comprehension,
    "generator_expression": Walk.comprehension,
    "case_clause": Walk.case_clause,
    "string": Walk.string,
    "concatenated_string": Walk.strings_in_a_row,
    "interpolation": Walk.interpolation,
    "format_expression": Walk.interpolation,
    "type": Walk.annotation,
    **dict.fromkeys(_DYNAMIC_NODES, Walk.refuse),
}


def grammar() -> tree_sitter.Language:
    return load_grammar(PLUGIN.grammar)


@cache
def _handlers() -> dict[int, Callable[[Walk, Node, Scope], None]]:
    # numbers in place of names: reading a node's type makes a new str each time
    python = grammar()
    kinds = filter(python.node_kind_is_named, range(python.node_kind_count))
    named = ((kind, python.node_kind_for_id(kind)) for kind in kinds)
    return {kind: _HANDLERS[name] for kind, name in named if name in _HANDLERS}


def docstring_of(node: Node) -> Node | None:
    """The string, or several in a row, that open a function's body."""
    body = node.child_by_field_name("body")
    first = next((c for c in body.named_children if c.type != "comment"), None) if body else None
    if first is None or first.type != "expression_statement":
        return None
    opening = first.named_children[0]
    return opening if opening.type in ("string", "concatenated_string") else None


def is_splat(node: Node) -> bool:
    """`*x` or `**x`, which may be nothing."""
    return node.type in ("list_splat", "dictionary_splat", "comment")


def is_literal(node: Node) -> bool:
    """Whether a text stands here whole: a string, or several in a row, without a field."""
    strings = node.named_children if node.type == "concatenated_string" else [node]
    return all(
        each.type == "string" and all(part.type != "interpolation" for part in each.named_children)
        for each in strings
    )


def _unescaped(escape: re.Match[str]) -> str:
    x, u, long, octal, name, other = escape.groups()
    if number := x or u or long:
        return chr(min(int(number, 16), sys.maxunicode))
    if octal:
        return chr(int(octal, 8))
    if name:
        return unicodedata.lookup(name) if _is_character(name) else " "
    return " " if other in "abfnrtv\n" else str(other)


def _is_character(name: str) -> bool:
    try:
        unicodedata.lookup(name)
    except KeyError:
        return False
    return True


def field_of(node: Node, name: str) -> Node:
    """A child that the grammar promises."""
    child = node.child_by_field_name(name)
    assert child is not None, f"{node.type} without {name}"
    return child
