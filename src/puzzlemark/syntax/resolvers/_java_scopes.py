"""Where each name of a Java method stands: one pass over its body, in the order of scopes."""

from collections import defaultdict
from collections.abc import Callable, Iterator

from tree_sitter import Node

from puzzlemark.languages.java import MEMBERS, SCOPES, TRANSPARENT

_Reader = Callable[["Walk", Node], object]
_Step = tuple[_Reader, Node]


class Walk:
    """Where each name of a function stands, read in the order of scopes.

    `steps` holds what is still to be done, next on top: how, and with which node. It is a list and
    not recursion because generated code nests deeper than Python does.
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
        self._steps: list[_Step] = []

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
        """Visit a body; node types that have no reader are left to the audit."""
        self._push(body)
        while self._steps:
            reader, node = self._steps.pop()
            reader(self, node)

    def _push(self, *nodes: Node | None) -> None:
        # in the order in which they are to be read
        for node in reversed(nodes):
            if node is not None and (reader := _READERS.get(node.type)) is not None:
                self._steps.append((reader, node))

    def _read_name(self, node: Node) -> None:
        start = node.start_byte
        word = self.source[start : node.end_byte]
        (self.own if self._visible.get(word) else self.others)[word].append(start)

    def _read_children(self, node: Node) -> None:
        # nothing that stands beside an identifier here binds: no need to keep their order
        for child in reversed(node.named_children):
            kind = child.type
            if kind == "identifier":
                self._read_name(child)
            elif (reader := _READERS.get(kind)) is not None:
                self._steps.append((reader, child))

    def _read_member(self, node: Node) -> None:
        # `x.name`, `x.name()`, `x::name`: the last identifier is the member's own name
        met_name = False
        for child in reversed(node.named_children):
            kind = child.type
            if kind == "super":  # what stands before it is a type, as in Outer.super.name
                return
            if kind == "identifier":
                if met_name:
                    self._read_name(child)
                met_name = True
            elif (reader := _READERS.get(kind)) is not None:
                self._steps.append((reader, child))

    def _read_scope(self, node: Node) -> None:
        self._open(node)
        self._push(*node.named_children)

    def _open(self, node: Node) -> None:
        self._scopes.append([])
        self._steps.append((Walk._close, node))

    def _close(self, _: Node) -> None:
        for word in self._scopes.pop():
            del self._visible[word]

    def _read_label(self, node: Node) -> None:
        self._push(*(child for child in node.named_children if child.type != "identifier"))

    def _read_declarator(self, node: Node) -> None:
        # the scope of a variable begins with its own initializer
        name, *rest = node.named_children
        self.bind(name)
        self._push(*rest)

    def _read_resource(self, node: Node) -> None:
        if (name := node.child_by_field_name("name")) is None:
            self._read_children(node)  # `try (existing)`
            return
        self.bind(name)
        self._push(node.child_by_field_name("value"))

    def _read_for_each(self, node: Node) -> None:
        # the variable is not yet visible in the expression that it runs over
        name = node.child_by_field_name("name")
        assert name is not None, "for-each without a variable"
        self._open(node)
        self._push(node.child_by_field_name("body"))
        self._steps.append((Walk.bind, name))
        self._push(node.child_by_field_name("value"))

    def _read_try(self, node: Node) -> None:
        # resources are visible in the block, not in catch and finally
        for child in reversed(node.named_children):
            if child.type == "block":
                self._open(child)
            self._push(child)

    def _read_catch(self, node: Node) -> None:
        self._open(node)
        self._push(node.child_by_field_name("body"))
        for child in node.named_children:
            if child.type == "catch_formal_parameter":
                name = child.child_by_field_name("name")
                assert name is not None, "catch without a variable"
                self.bind(name)

    def _read_lambda(self, node: Node) -> None:
        self._open(node)
        self._push(node.child_by_field_name("body"))
        parameters = node.child_by_field_name("parameters")
        assert parameters is not None, "lambda without parameters"
        for parameter in [parameters] if parameters.type == "identifier" else parameters.children:
            name = parameter if parameter.type == "identifier" else parameter_name(parameter)
            if name is not None:
                self.bind(name, own=False)

    def _read_cast(self, node: Node) -> None:
        *types, value = node.named_children
        if len(types) > 1:
            # (Runnable & Serializable): javac names the lambda's method after variables around it
            self.dynamic = "cast that may make a lambda serializable"
        self._push(value)

    def _read_instanceof(self, node: Node) -> None:
        if (name := node.child_by_field_name("name")) is not None:
            self._bind_pattern(name)
        self._push(node.child_by_field_name("left"), node.child_by_field_name("pattern"))

    def _read_pattern(self, node: Node) -> None:
        # the identifier that begins a record pattern is the record's type
        children = node.named_children
        if node.type != "record_pattern" and children and children[-1].type == "identifier":
            self._bind_pattern(children[-1])
        self._push(*(child for child in children if child.type != "identifier"))

    def _read_case(self, node: Node) -> None:
        for child in node.named_children:
            if child.type == "identifier":  # an enum's constant, or a local constant?
                word = self.source[child.start_byte : child.end_byte]
                self.fixed[word] = "stands in a case label"
        self._read_children(node)

    def _bind_pattern(self, name: Node) -> None:
        word = self.source[name.start_byte : name.end_byte]
        self.patterns[word].append(name.start_byte)
        self.fixed[word] = "pattern variable"


_READERS: dict[str, _Reader] = {
    "identifier": Walk._read_name,
    **dict.fromkeys(TRANSPARENT, Walk._read_children),
    **dict.fromkeys(MEMBERS, Walk._read_member),
    **dict.fromkeys(SCOPES, Walk._read_scope),
    "labeled_statement": Walk._read_label,
    "variable_declarator": Walk._read_declarator,
    "resource": Walk._read_resource,
    "enhanced_for_statement": Walk._read_for_each,
    "try_with_resources_statement": Walk._read_try,
    "catch_clause": Walk._read_catch,
    "lambda_expression": Walk._read_lambda,
    "cast_expression": Walk._read_cast,
    "instanceof_expression": Walk._read_instanceof,
    "type_pattern": Walk._read_pattern,
    "record_pattern": Walk._read_pattern,
    "record_pattern_body": Walk._read_pattern,
    "record_pattern_component": Walk._read_pattern,
    "switch_label": Walk._read_case,
}


def parameter_name(parameter: Node) -> Node | None:
    """The identifier that a formal parameter binds, if it binds one."""
    if parameter.type == "spread_parameter":
        declarators = (c for c in parameter.named_children if c.type == "variable_declarator")
        parameter = next(declarators, parameter)
    elif parameter.type != "formal_parameter":  # a comment, or the receiver `Outer this`
        return None
    return parameter.child_by_field_name("name")
