"""Scopes of Ruby: an assignment binds, from there on (docs/languages/ruby.md).

A lone word is a variable where an assignment stands before it, in the order in which Ruby reads,
and else the call of a method. So a function is walked through in that order, and every word is one
or the other. A name that is both in one function keeps its name. Names that blocks bind for
themselves are the function's, too: all places of a name are renamed at once, so it does not matter
which of them are one variable.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence

from tree_sitter import Node

from puzzlemark.languages.ruby import (
    CALL_THEIR_BLOCK,
    CONSTANT_READERS,
    PLUGIN,
    SCOPE_READERS,
    TEXT_READERS,
)
from puzzlemark.syntax.naming import is_plain_identifier
from puzzlemark.syntax.resolvers._scopes import EQUAL_TO_STRING, NOT_PLAIN
from puzzlemark.syntax.tree import Tree
from puzzlemark.syntax.variables import Function, Variable, names_a_parameter

IS_METHOD = "also the name of a method that is called"
BY_KEYWORD = "keyword parameter"
LABEL = "label and variable at once"
CAPTURE = "named capture of a regular expression"
UNKNOWN_BLOCK = "the block of an unknown method has it"
READ_OTHERWISE = "a variable that could be a method with arguments"
NESTED_TEXT = "a text inside of a text"

# scopes of others; what stands in these fields of them is not theirs yet
OTHERS = {
    "method": None,
    "singleton_method": "object",
    "class": "superclass",
    "module": None,
    "singleton_class": "value",
}
BLOCKS = frozenset({"block", "do_block", "lambda"})
MAKE_FUNCTIONS = frozenset({"lambda", "proc"})
PATTERNS = frozenset(
    "array_pattern find_pattern hash_pattern alternative_pattern parenthesized_pattern "
    "as_pattern keyword_pattern splat_parameter hash_splat_parameter".split()
)
KNOWN = frozenset(
    "alias argument_list array array_pattern as_pattern alternative_pattern assignment "
    "bare_string bare_symbol begin binary block block_argument block_body block_parameter "
    "block_parameters body_statement break call case case_match chained_string character "
    "class_variable complex conditional constant delimited_symbol "
    "destructured_left_assignment destructured_parameter do do_block element_reference else elsif "
    "empty_statement encoding ensure escape_sequence exception_variable exceptions "
    "expression_reference_pattern false file find_pattern float for forward_argument "
    "forward_parameter global_variable hash hash_key_symbol hash_pattern hash_splat_argument "
    "hash_splat_nil hash_splat_parameter heredoc_beginning heredoc_body heredoc_content "
    "heredoc_end identifier if if_guard if_modifier in in_clause instance_variable integer "
    "interpolation keyword_parameter keyword_pattern lambda lambda_parameters "
    "left_assignment_list line match_pattern method_parameters next nil operator "
    "operator_assignment optional_parameter pair parenthesized_pattern parenthesized_statements "
    "pattern range rational redo regex rescue rescue_modifier rest_assignment retry return "
    "right_assignment_list scope_resolution self setter simple_symbol splat_argument "
    "splat_parameter string string_array string_content subshell super superclass symbol_array "
    "test_pattern then true unary undef unless unless_guard unless_modifier until "
    "until_modifier variable_reference_pattern when while while_modifier yield".split()
)
_CAPTURES = re.compile(r"\(\?<([a-z_]\w*)>")


def resolve(tree: Tree, node: Node) -> Function:
    """The variables of a method, those of the blocks in it as well."""
    walk = Walk(tree.source, node)
    name = node.child_by_field_name("name")
    variables = tuple(_variables(tree, node, walk))
    return Function("" if name is None else tree.text(name), variables, walk.dynamic)


def _variables(tree: Tree, node: Node, walk: "Walk") -> Iterator[Variable]:
    comments = "\n".join((*_comments_before(tree, node), *walk.comments))
    for name, starts in sorted(walk.starts.items(), key=lambda each: each[1]):
        is_parameter = name in walk.parameters
        documented = is_parameter and names_a_parameter(comments, name)
        yield Variable(
            name,
            tuple(start - tree.offset for start in starts),
            is_parameter,
            _why_fixed(walk, name),
            "parameter named in a comment" if documented else None,
            walk.doubtful.get(name),
        )


def _why_fixed(walk: "Walk", name: str) -> str | None:
    if not is_plain_identifier(name):
        return NOT_PLAIN
    if name in walk.methods:
        return IS_METHOD
    if name in walk.strings:
        return EQUAL_TO_STRING
    return walk.fixed.get(name)


def _comments_before(tree: Tree, node: Node) -> Iterator[str]:
    above: Node | None = node
    while above is not None and above.parent is not None and above.parent.type in PLUGIN.bearers:
        above = above.parent  # `private def x`
    before = above.prev_named_sibling if above is not None else None
    while before is not None and before.type == "comment":
        yield tree.text(before)
        before = before.prev_named_sibling


class Scope:
    """A method or a block: the names that it binds, and where it may look for others."""

    __slots__ = ("names", "parent")

    def __init__(self, parent: "Scope | None") -> None:
        self.names: set[str] = set()
        self.parent = parent

    def sees(self, name: str) -> bool:
        """Whether a name is a variable here."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names:
                return True
            scope = scope.parent
        return False


Step = tuple[Callable[[Node, Scope], None], Node, Scope]


class Walk:
    """One pass over a function, in the order in which Ruby reads it.

    `_todo` holds what is still to be done, next on top: how, with which node, in which scope.
    """

    def __init__(self, source: bytes, function: Node) -> None:
        self.source = source
        self.starts: defaultdict[str, list[int]] = defaultdict(list)
        self.parameters: set[str] = set()
        self.fixed: dict[str, str] = {}
        self.doubtful: dict[str, str] = {}
        self.methods: set[str] = set()  # names that something calls, or may call
        self.strings: set[str] = set()
        self.comments: list[str] = []
        self.dynamic: str | None = None
        self._todo: list[Step] = []
        self._texts = self._pair_texts(function)  # each heredoc by where it begins
        scope = Scope(None)
        fields = (function.child_by_field_name(name) for name in ("parameters", "body"))
        parts = [part for part in fields if part is not None]
        # comments may stand beside them
        self._later([c for c in function.named_children if c.type == "comment"], scope)
        self._later([p for p in parts if p.type != "method_parameters"], scope)
        for part in parts:
            if part.type == "method_parameters":
                self._bind_parameters(part, scope, is_block=False, doubt=None)
        while self._todo:
            reader, node, inner = self._todo.pop()
            reader(node, inner)
        for starts in self.starts.values():
            starts.sort()

    # names

    def _text(self, node: Node) -> str:
        return self.source[node.start_byte : node.end_byte].decode()

    def _later(self, nodes: Sequence[Node], scope: Scope) -> None:
        self._todo.extend((self._visit, node, scope) for node in reversed(nodes))

    def _bind(self, node: Node, scope: Scope, here: bool = False) -> str:
        """A name that is given a value; `here`: a parameter, which is the scope's own."""
        name = self._text(node)
        if here or not scope.sees(name):
            scope.names.add(name)
        self.starts[name].append(node.start_byte)
        return name

    def _read_name(self, node: Node, scope: Scope) -> None:
        name = self._text(node)
        if scope.sees(name):
            self.starts[name].append(node.start_byte)
            return
        self.methods.add(name)
        if name in SCOPE_READERS:
            self.dynamic = f"variables are visible to {name}"

    # the walk

    def _visit(self, node: Node, scope: Scope) -> None:
        kind = node.type
        if kind == "identifier":
            self._read_name(node, scope)
        elif kind == "comment":
            self.comments.append(self._text(node))
        elif kind in OTHERS:
            place = OTHERS[kind]
            outside = node.child_by_field_name(place) if place is not None else None
            self._later([outside] if outside is not None else [], scope)
        elif kind not in KNOWN:
            self.dynamic = f"construct that is not known: {kind}"
        elif kind in BLOCKS:
            self._read_block(node, scope, is_block=kind != "lambda", doubt=None)
        elif (reader := _READERS.get(kind)) is not None:
            reader(self, node, scope)
        elif node.child_count:
            self._later(node.named_children, scope)

    def _read_block(self, node: Node, scope: Scope, is_block: bool, doubt: str | None) -> None:
        inner = Scope(scope)
        parameters = node.child_by_field_name("parameters")
        self._later([each for each in node.named_children if each != parameters], inner)
        if parameters is not None:
            self._bind_parameters(parameters, inner, is_block, doubt)

    def _bind_parameters(self, node: Node, scope: Scope, is_block: bool, doubt: str | None) -> None:
        local = {each.id for each in node.children_by_field_name("locals")}
        steps: list[Step] = []
        for child in node.named_children:
            if child.id in local:
                steps.append((self._bind_local, child, scope))
            else:
                steps.append((self._parameter_binder(is_block, doubt), child, scope))
        self._todo.extend(reversed(steps))

    def _bind_local(self, node: Node, scope: Scope) -> None:
        self._bind(node, scope, here=True)

    def _parameter_binder(self, is_block: bool, doubt: str | None) -> Callable[[Node, Scope], None]:
        def bind(node: Node, scope: Scope) -> None:
            if node.type == "identifier":
                name = self._bind(node, scope, here=True)
                if not is_block:
                    self.parameters.add(name)
                elif doubt is not None:
                    self.doubtful[name] = doubt
            elif node.type == "destructured_parameter":
                self._todo.extend((bind, each, scope) for each in reversed(node.named_children))
            elif (name_node := node.child_by_field_name("name")) is not None:
                value = node.child_by_field_name("value")
                self._later([value] if value is not None else [], scope)
                bind(name_node, scope)
                if node.type == "keyword_parameter":
                    self.fixed[self._text(name_node)] = BY_KEYWORD
            else:
                self._visit(node, scope)

        return bind

    def _bind_target(self, node: Node, scope: Scope) -> None:
        """The left side of an assignment; what is not a name is only read."""
        if node.type == "identifier":
            self._bind(node, scope)
        elif node.type in ("left_assignment_list", "destructured_left_assignment"):
            self._todo.extend(
                (self._bind_target, each, scope) for each in reversed(node.named_children)
            )
        elif node.type == "rest_assignment":
            self._todo.extend((self._bind_target, each, scope) for each in node.named_children)
        else:
            self._visit(node, scope)

    def _read_assignment(self, node: Node, scope: Scope) -> None:
        first, *rest = node.named_children
        self._later(rest, scope)
        self._todo.append((self._bind_target, first, scope))

    def _read_exception(self, node: Node, scope: Scope) -> None:
        self._todo.extend((self._bind_target, each, scope) for each in node.named_children)

    def _read_call(self, node: Node, scope: Scope) -> None:
        method = node.child_by_field_name("method")
        receiver = node.child_by_field_name("receiver")
        name = self._text(method) if method is not None else ""
        arguments = node.child_by_field_name("arguments")
        if method is not None and method.type == "identifier" and receiver is None:
            self.methods.add(name)
            if scope.sees(name) and arguments is not None and not self._has_parentheses(arguments):
                self.dynamic = READ_OTHERWISE
        if name in SCOPE_READERS or (name in TEXT_READERS and _has_text(arguments)):
            self.dynamic = f"variables are visible to {name}"
        steps: list[Step] = []
        for child in node.named_children:
            if child == method and child.type == "identifier":
                continue
            reader = self._block_reader(name) if child.type in BLOCKS - {"lambda"} else self._visit
            steps.append((reader, child, scope))
        self._todo.extend(reversed(steps))

    def _has_parentheses(self, arguments: Node) -> bool:
        return self.source[arguments.start_byte : arguments.start_byte + 1] == b"("

    def _block_reader(self, name: str) -> Callable[[Node, Scope], None]:
        doubt = None if name in CALL_THEIR_BLOCK else UNKNOWN_BLOCK
        return lambda node, scope: self._read_block(node, scope, name not in MAKE_FUNCTIONS, doubt)

    def _read_pair(self, node: Node, scope: Scope) -> None:
        key, value = node.child_by_field_name("key"), node.child_by_field_name("value")
        if value is None and key is not None:
            self.fixed[self._text(key).strip("\"'")] = LABEL
        self._later(node.named_children, scope)

    def _read_constant(self, node: Node, scope: Scope) -> None:  # noqa: ARG002
        if (name := self._text(node)) in CONSTANT_READERS:
            self.dynamic = f"variables are visible to {name}"

    def _read_named(self, node: Node, scope: Scope) -> None:  # noqa: ARG002
        """`alias` and `undef`: names of methods."""
        self.methods.update(self._text(each) for each in node.named_children)

    # patterns

    def _read_match(self, node: Node, scope: Scope) -> None:
        pattern = node.child_by_field_name("pattern")
        steps: list[Step] = [
            (self._bind_pattern if child == pattern else self._visit, child, scope)
            for child in node.named_children
        ]
        self._todo.extend(reversed(steps))

    def _bind_pattern(self, node: Node, scope: Scope) -> None:
        if node.type == "identifier":
            self._bind(node, scope)
        elif node.type not in PATTERNS:
            self._visit(node, scope)
        else:
            key = node.child_by_field_name("key")
            if key is not None and node.child_by_field_name("value") is None:
                name = self._text(key).strip("\"'")
                scope.names.add(name)
                self.fixed[name] = LABEL
            self._todo.extend(
                (self._bind_pattern, each, scope) for each in reversed(node.named_children)
            )

    # texts

    def _read_binary(self, node: Node, scope: Scope) -> None:
        self._later(node.named_children, scope)
        left = node.child_by_field_name("left")
        while left is not None and left.type == "parenthesized_statements":
            left = left.named_children[-1] if left.named_children else None
        if left is not None and left.type == "regex":
            self._todo.append((self._bind_captures, left, scope))

    def _bind_captures(self, node: Node, scope: Scope) -> None:
        for name in _CAPTURES.findall(self._text(node)):
            if not scope.sees(name):
                scope.names.add(name)

    def _read_regex(self, node: Node, scope: Scope) -> None:
        self.fixed |= dict.fromkeys(_CAPTURES.findall(self._text(node)), CAPTURE)
        self._later(node.named_children, scope)

    def _read_string(self, node: Node, scope: Scope) -> None:
        parts = node.named_children
        if len(parts) == 1 and parts[0].type == "string_content":
            self.strings.add(self._text(parts[0]))
        self._later(parts, scope)

    def _read_beginning(self, node: Node, scope: Scope) -> None:
        # Ruby reads the text where it is announced, not where it stands
        if (text := self._texts.get(node.start_byte)) is not None:
            self.strings.add("".join(self._text(e) for e in text.named_children[:-1]).strip())
            self._later(text.named_children, scope)

    def _skip(self, node: Node, scope: Scope) -> None:
        """A text that was read where it is announced."""

    def _pair_texts(self, function: Node) -> dict[int, Node]:
        beginnings: list[int] = []
        texts: list[Node] = []
        stack = [(function, False)] if b"<<" in self.source else []
        while stack:
            node, inside = stack.pop()
            if node.type == "heredoc_beginning":
                beginnings.append(node.start_byte)
                if inside:
                    self.dynamic = NESTED_TEXT
            elif node.type == "heredoc_body":
                texts.append(node)
                inside = True
            stack.extend((child, inside) for child in reversed(node.named_children))
        if len(beginnings) != len(texts):
            self.dynamic = NESTED_TEXT
            return {}
        return dict(zip(beginnings, texts, strict=True))


def _has_text(arguments: Node | None) -> bool:
    given = arguments.named_children if arguments is not None else []
    return any(each.type not in ("block_argument", "comment") for each in given)


_READERS: dict[str, Callable[[Walk, Node, Scope], None]] = {
    "assignment": Walk._read_assignment,
    "operator_assignment": Walk._read_assignment,
    "for": Walk._read_assignment,
    "exception_variable": Walk._read_exception,
    "call": Walk._read_call,
    "pair": Walk._read_pair,
    "constant": Walk._read_constant,
    "alias": Walk._read_named,
    "undef": Walk._read_named,
    "in_clause": Walk._read_match,
    "match_pattern": Walk._read_match,
    "test_pattern": Walk._read_match,
    "binary": Walk._read_binary,
    "regex": Walk._read_regex,
    "string": Walk._read_string,
    "bare_string": Walk._read_string,
    "heredoc_beginning": Walk._read_beginning,
    "heredoc_body": Walk._skip,
}
