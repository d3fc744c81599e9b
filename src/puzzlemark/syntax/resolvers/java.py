"""Scopes of Java: the local variables of one method or constructor (docs/languages/java.md).

Two passes. The walk reads the body in the order in which scopes open and close, and notes each
identifier that stands where a variable can stand. The audit then accounts for every other word
that is spelt like a variable: what is not known to be harmless makes the variable keep its name.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator
from string import ascii_letters, digits

from tree_sitter import Node

from puzzlemark.languages.java import (
    ANNOTATIONS,
    CLASS_BODIES,
    COMMENTS,
    INERT_ANNOTATIONS,
    MEMBERS,
    NAME_FIELDS,
    SCOPES,
    STRINGS,
    TRANSPARENT,
)
from puzzlemark.syntax.naming import is_plain_identifier
from puzzlemark.syntax.tree import Tree
from puzzlemark.syntax.variables import Function, Variable, names_a_parameter

_PARTS_OF_NAMES = frozenset(f"{ascii_letters}{digits}_$".encode())


def resolve(tree: Tree, node: Node) -> Function:
    """The variables of a `method_declaration` or `constructor_declaration`."""
    walk = _Walk(tree.source)
    parameters = dict(_bind_parameters(tree, node, walk))
    if (body := node.child_by_field_name("body")) is not None:
        walk.read(body)
    audit = _Audit(tree, node, walk)
    variables = [
        Variable(
            word.decode(),
            tuple(start - tree.offset for start in starts),
            word in parameters,
            _first_reason(word, walk, parameters) or audit.reason(word, word in parameters),
        )
        for word, starts in walk.bindings()
    ]
    variables.sort(key=lambda variable: variable.starts)
    name = node.child_by_field_name("name")
    assert name is not None, f"{node.type} without a name"
    return Function(tree.text(name), tuple(variables), _dynamic(tree, walk))


def _first_reason(word: bytes, walk: "_Walk", parameters: dict[bytes, str | None]) -> str | None:
    if not is_plain_identifier(word.decode()):
        return "name is not plain ASCII"
    return walk.fixed.get(word) or parameters.get(word)


def _dynamic(tree: Tree, walk: "_Walk") -> str | None:
    # javac reads \u0022 as a quote and \u000a as the end of a comment; the parser does not
    if b"\\u" in tree.source:
        return "unicode escape in the snippet"
    return walk.dynamic


def _bind_parameters(
    tree: Tree, function: Node, walk: "_Walk"
) -> Iterator[tuple[bytes, str | None]]:
    formal = function.child_by_field_name("parameters")
    if formal is None or not (parameters := formal.named_children):
        return
    shared = _reason_for_all_parameters(tree, function)
    for parameter in parameters:
        if (name := _parameter_name(parameter)) is not None:
            first = parameter.named_children[0]
            annotated = first.type == "modifiers" and any(_annotations(first))
            yield walk.bind(name), "annotated parameter" if annotated else shared


def _parameter_name(parameter: Node) -> Node | None:
    if parameter.type == "spread_parameter":
        declarators = (c for c in parameter.named_children if c.type == "variable_declarator")
        parameter = next(declarators, parameter)
    elif parameter.type != "formal_parameter":  # a comment, or the receiver `Outer this`
        return None
    return parameter.child_by_field_name("name")


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


class _Walk:
    """Where each name of a function stands, read in the order of scopes.

    `steps` holds what is still to be read, next on top: nodes, and actions such as the end of a
    scope. It is a list and not recursion because generated code nests deeper than Python does.
    """

    def __init__(self, source: bytes) -> None:
        self.source = source
        self.own: defaultdict[bytes, list[int]] = defaultdict(list)  # the function's variables
        self.others: defaultdict[bytes, list[int]] = defaultdict(list)  # fields, lambda parameters
        self.patterns: defaultdict[bytes, list[int]] = defaultdict(list)
        self.fixed: dict[bytes, str] = {}
        self.dynamic: str | None = None
        self._visible: dict[bytes, bool] = {}  # False: it is a lambda's parameter
        self._scopes: list[list[bytes]] = [[]]
        self._steps: list[Node | Callable[[], object]] = []

    def bindings(self) -> Iterator[tuple[bytes, list[int]]]:
        """Each variable with all its offsets."""
        for word in self.own.keys() | self.patterns.keys():
            starts = self.own.get(word, [])
            if word in self.patterns:
                # its scope follows the flow of control; count every use, as it is not renamed
                starts = starts + self.patterns[word] + self.others.get(word, [])
            yield word, sorted(starts)

    def bind(self, name: Node, own: bool = True) -> bytes:
        """Make a name visible until the current scope ends."""
        word = self.source[name.start_byte : name.end_byte]
        if name.type == "identifier":
            if word in self._visible:
                self.fixed[word] = "declared again inside its own scope"
            else:
                self._visible[word] = own
                self._scopes[-1].append(word)
            (self.own if own else self.others)[word].append(name.start_byte)
        return word

    def read(self, body: Node) -> None:
        """Visit a body; node types that are in no table are left to the audit."""
        source, steps, visible = self.source, self._steps, self._visible
        steps.append(body)
        while steps:
            step = steps.pop()
            if not isinstance(step, Node):
                step()
            elif (kind := step.type) == "identifier":
                start = step.start_byte
                word = source[start : step.end_byte]
                (self.own if visible.get(word) else self.others)[word].append(start)
            elif (reader := _READERS.get(kind)) is not None:
                reader(self, step)

    def _read_children(self, node: Node) -> None:
        self._steps.extend(node.named_children[::-1])

    def _read_scope(self, node: Node) -> None:
        self._open()
        self._read_children(node)

    def _open(self) -> None:
        self._scopes.append([])
        self._steps.append(self._close)

    def _close(self) -> None:
        for word in self._scopes.pop():
            del self._visible[word]

    def _read_member(self, node: Node) -> None:
        # `x.name`, `x.name()`, `x::name`: the last identifier is the member's own name
        met_name = False
        for child in reversed(node.named_children):
            kind = child.type
            if kind == "super":  # what stands before it is a type, as in Outer.super.name
                return
            if kind == "identifier" and not met_name:
                met_name = True
            else:
                self._steps.append(child)

    def _read_label(self, node: Node) -> None:
        self._steps.extend(child for child in node.named_children if child.type != "identifier")

    def _read_declarator(self, node: Node) -> None:
        # the scope of a variable begins with its own initializer
        name, *rest = node.named_children
        self.bind(name)
        self._steps.extend(rest)

    def _read_resource(self, node: Node) -> None:
        if (name := node.child_by_field_name("name")) is None:
            self._steps.extend(node.named_children)  # `try (existing)`
            return
        self.bind(name)
        self._push(node, "value")

    def _read_for_each(self, node: Node) -> None:
        # the variable is not yet visible in the expression that it runs over
        name = node.child_by_field_name("name")
        assert name is not None, "for-each without a variable"
        self._open()
        self._push(node, "body")
        self._steps.append(lambda: self.bind(name))
        self._push(node, "value")

    def _read_try(self, node: Node) -> None:
        # resources are visible in the block, not in catch and finally
        for child in reversed(node.named_children):
            if child.type == "block":
                self._open()
            self._steps.append(child)

    def _read_catch(self, node: Node) -> None:
        self._open()
        self._push(node, "body")
        for child in node.named_children:
            if child.type == "catch_formal_parameter":
                name = child.child_by_field_name("name")
                assert name is not None, "catch without a variable"
                self.bind(name)

    def _read_lambda(self, node: Node) -> None:
        self._open()
        self._push(node, "body")
        parameters = node.child_by_field_name("parameters")
        assert parameters is not None, "lambda without parameters"
        for parameter in [parameters] if parameters.type == "identifier" else parameters.children:
            name = parameter if parameter.type == "identifier" else _parameter_name(parameter)
            if name is not None:
                self.bind(name, own=False)

    def _read_cast(self, node: Node) -> None:
        *types, value = node.named_children
        if len(types) > 1:
            # (Runnable & Serializable): javac names the lambda's method after variables around it
            self.dynamic = "cast that may make a lambda serializable"
        self._steps.append(value)

    def _read_instanceof(self, node: Node) -> None:
        if (name := node.child_by_field_name("name")) is not None:
            self._bind_pattern(name)
        self._push(node, "pattern")
        self._push(node, "left")

    def _read_pattern(self, node: Node) -> None:
        # the identifier that begins a record pattern is the record's type
        children = node.named_children
        if node.type != "record_pattern" and children and children[-1].type == "identifier":
            self._bind_pattern(children[-1])
        self._steps.extend(child for child in children if child.type != "identifier")

    def _read_case(self, node: Node) -> None:
        for child in reversed(node.named_children):
            if child.type == "identifier":  # an enum's constant, or a local constant?
                self.fixed[self.source[child.start_byte : child.end_byte]] = (
                    "stands in a case label"
                )
            self._steps.append(child)

    def _bind_pattern(self, name: Node) -> None:
        word = self.source[name.start_byte : name.end_byte]
        self.patterns[word].append(name.start_byte)
        self.fixed[word] = "pattern variable"

    def _push(self, node: Node, field: str) -> None:
        if (child := node.child_by_field_name(field)) is not None:
            self._steps.append(child)


_READERS: dict[str, Callable[[_Walk, Node], None]] = {
    **dict.fromkeys(TRANSPARENT, _Walk._read_children),
    **dict.fromkeys(MEMBERS, _Walk._read_member),
    **dict.fromkeys(SCOPES, _Walk._read_scope),
    "labeled_statement": _Walk._read_label,
    "variable_declarator": _Walk._read_declarator,
    "resource": _Walk._read_resource,
    "enhanced_for_statement": _Walk._read_for_each,
    "try_with_resources_statement": _Walk._read_try,
    "catch_clause": _Walk._read_catch,
    "lambda_expression": _Walk._read_lambda,
    "cast_expression": _Walk._read_cast,
    "instanceof_expression": _Walk._read_instanceof,
    "type_pattern": _Walk._read_pattern,
    "record_pattern": _Walk._read_pattern,
    "record_pattern_body": _Walk._read_pattern,
    "record_pattern_component": _Walk._read_pattern,
    "switch_label": _Walk._read_case,
}


class _Audit:
    """Accounts for the words of a function that are spelt like a variable and are not it."""

    def __init__(self, tree: Tree, function: Node, walk: _Walk) -> None:
        self.tree, self.function, self.walk = tree, function, walk
        self.text = tree.source[function.start_byte : function.end_byte]

    def reason(self, word: bytes, is_parameter: bool) -> str | None:
        """Why a variable must keep its name, or None when every such word is accounted for."""
        if is_parameter and (reason := self._documented(word)):
            return reason
        own = self.walk.own[word]
        if self.text.count(word) == len(own):
            return None
        known = {*own, *self.walk.others.get(word, ())}
        reasons = (self._reason_at(at, word, is_parameter) for at in self._unknown(word, known))
        return next(filter(None, reasons), None)

    def _unknown(self, word: bytes, known: set[int]) -> Iterator[int]:
        text, offset = b" " + self.text + b" ", self.function.start_byte - 1
        at = text.find(word)
        while at >= 0:
            end = at + len(word)
            is_word = text[at - 1] not in _PARTS_OF_NAMES and text[end] not in _PARTS_OF_NAMES
            if is_word and offset + at not in known:
                yield offset + at
            at = text.find(word, end)

    def _documented(self, word: bytes) -> str | None:
        if self.function.start_byte == self.tree.offset:
            return None
        before = self.function.prev_named_sibling
        while before is not None and before.type in COMMENTS:
            if names_a_parameter(self.tree.text(before), word.decode()):
                return "named in a comment"
            before = before.prev_named_sibling
        return None

    def _reason_at(self, start: int, word: bytes, is_parameter: bool) -> str | None:
        node = self.function.descendant_for_byte_range(start, start + len(word))
        assert node is not None, "a word outside of the tree"
        if node.type in COMMENTS:
            comment = self.tree.text(node)
            if comment.startswith("/*-"):  # native code of GWT or J2ObjC, with Java's parameters
                return "mentioned in native code"
            named = is_parameter and names_a_parameter(comment, word.decode())
            return "named in a comment" if named else None
        if node.type == "identifier" and _is_member_name(node):
            return None
        around = {ancestor.type for ancestor in _ancestors(node, self.function)}
        if around & ANNOTATIONS:
            return "mentioned in an annotation"
        if "string_interpolation" not in around and (around | {node.type}) & STRINGS:
            return "equal to a string" if self._is_whole_string(node, word) else None
        if around & CLASS_BODIES:
            return "mentioned in a nested class"
        return "spelt like something else in the function"

    def _is_whole_string(self, node: Node, word: bytes) -> bool:
        while node.type not in STRINGS and node.parent is not None:
            node = node.parent
        return self.tree.text(node).strip('" \t\r\n').encode() == word


def _ancestors(node: Node, root: Node) -> Iterator[Node]:
    parent = node.parent
    while parent is not None and parent != root:
        yield parent
        parent = parent.parent


def _is_member_name(node: Node) -> bool:
    parent = node.parent
    assert parent is not None, "an identifier is never the root"
    if (field := NAME_FIELDS.get(parent.type)) is not None:
        return parent.child_by_field_name(field) == node
    if parent.type == "method_reference":
        before = node.prev_sibling
        return before is not None and before.type == "::"
    return parent.type in ("labeled_statement", "break_statement", "continue_statement")
