"""Scopes of PHP: a function's variables are all the `$names` in it (docs/languages/php.md).

PHP has one scope a function, and nothing is declared. Closures inside have scopes of their own,
tied to the function's by `use ($x)` or, in `fn`, by being spelt alike. A name that a function and
its closures share is one variable here, whether it is tied or not: all its places are renamed at
once, so they stay apart or together as they were. Functions and classes inside are others'.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from functools import lru_cache

from tree_sitter import Node

from puzzlemark.languages.php import (
    CLASSES,
    INCLUDES,
    PLUGIN,
    SCOPE_READERS,
    SET_BY_PHP,
    SUPERGLOBALS,
)
from puzzlemark.syntax.naming import is_plain_identifier
from puzzlemark.syntax.resolvers._scopes import EQUAL_TO_STRING, NOT_PLAIN
from puzzlemark.syntax.tree import Tree
from puzzlemark.syntax.variables import Function, Variable, names_a_parameter

UNBOUND = "read and never assigned"
BY_NAME = "parameter passed by name in the snippet"
IN_ASSERT = "an assertion shows its name"
IN_TEXT = "a string names it with its sign"
BY_PHP = "set by PHP itself"
TYPED = "a @var comment names it"
# nodes that make a variable keep its name, by what stands in them
FIXED = {
    "global_declaration": "declared global",
    "function_static_declaration": "declared static",
    "property_promotion_parameter": "parameter and property at once",
}
PARAMETERS = frozenset("simple_parameter variadic_parameter property_promotion_parameter".split())
# what may give a value to the variables in it; a call may take them by reference
TARGETS = frozenset(
    "update_expression by_ref reference_assignment_expression catch_clause "
    "global_declaration function_static_declaration unset_statement".split()
)
LEFT = frozenset("assignment_expression augmented_assignment_expression".split())
GIVEN = frozenset({"variable_name", "subscript_expression"})  # as an argument
# scopes of others
OTHERS = (
    PLUGIN.functions
    | CLASSES
    | frozenset({"declaration_list", "enum_declaration_list", "property_hook_list"})
)
DYNAMIC = {
    "dynamic_variable_name": "variable variable",
    **dict.fromkeys(INCLUDES, "an included file sees the variables"),
}
_EVALUATED = re.compile(rb"[^\w\s\\][imsxuADSUXJ]*e[imsxuADSUXJ]*[\"']\s*\Z")
_ASSERT = re.compile(rb"\bassert\b", re.IGNORECASE)
_SPELT = re.compile(r"\$(\w+)")
_LABELS = re.compile(rb"(?:[(,\n]|\*/)\s*(\w+)\s*:(?!:)")
_VAR = re.compile(r"@[\w-]*var\b[^\n]*")
STRINGS = frozenset({"string", "nowdoc"})  # in which no variable is replaced by its value
KNOWN = frozenset(
    "abstract_modifier anonymous_class anonymous_function anonymous_function_use_clause argument "
    "arguments array_creation_expression array_element_initializer arrow_function "
    "assignment_expression attribute attribute_group attribute_list "
    "augmented_assignment_expression base_clause binary_expression boolean bottom_type "
    "break_statement by_ref case_statement cast_expression cast_type catch_clause "
    "class_constant_access_expression class_interface_clause clone_expression colon_block comment "
    "compound_statement conditional_expression const_declaration const_element continue_statement "
    "declare_directive declare_statement default_statement disjunctive_normal_form_type "
    "do_statement echo_statement else_clause else_if_clause empty_statement encapsed_string "
    "error_suppression_expression escape_sequence exit_statement expression_statement "
    "final_modifier finally_clause float for_statement foreach_statement formal_parameters "
    "function_call_expression function_static_declaration global_declaration goto_statement "
    "heredoc heredoc_body heredoc_end heredoc_start if_statement integer intersection_type "
    "list_literal match_block match_condition_list match_conditional_expression "
    "match_default_expression match_expression member_access_expression member_call_expression "
    "name named_label_statement named_type namespace_name nowdoc nowdoc_body nowdoc_string null "
    "nullsafe_member_access_expression nullsafe_member_call_expression "
    "object_creation_expression operation optional_type pair parenthesized_expression "
    "primitive_type print_intrinsic property_promotion_parameter qualified_name "
    "readonly_modifier reference_assignment_expression reference_modifier relative_name "
    "relative_scope return_statement scoped_call_expression scoped_property_access_expression "
    "sequence_expression shell_command_expression simple_parameter static_modifier "
    "static_variable_declaration string string_content subscript_expression switch_block "
    "switch_statement throw_expression try_statement type_list unary_op_expression union_type "
    "unset_statement update_expression var_modifier variable_name variadic_parameter "
    "variadic_placeholder variadic_unpacking visibility_modifier while_statement "
    "yield_expression".split()
)


def resolve(tree: Tree, node: Node) -> Function:
    """The variables of a function or method, those of the closures in it as well."""
    walk = Walk(tree.source, node)
    if walk.dynamic is None and _ASSERT.search(tree.source) and _stands_in_assertion(tree, node):
        walk.dynamic = IN_ASSERT
    name = node.child_by_field_name("name")
    variables = tuple(_variables(tree, node, walk))
    return Function("" if name is None else tree.text(name), variables, walk.dynamic)


def _variables(tree: Tree, node: Node, walk: "Walk") -> Iterator[Variable]:
    comments = "\n".join((*_comments_before(tree, node), *walk.comments))
    typed = set(_SPELT.findall(" ".join(_VAR.findall("\n".join(walk.comments)))))
    for word, starts in sorted(walk.starts.items(), key=lambda each: each[1]):
        name = word.decode()
        is_parameter = word in walk.parameters
        fixed = _why_fixed(tree, walk, word, name) or (TYPED if name in typed else None)
        documented = is_parameter and names_a_parameter(comments, name)
        yield Variable(
            name,
            tuple(start - tree.offset for start in starts),
            is_parameter,
            fixed,
            "parameter named in a comment" if documented else None,
        )


def _why_fixed(tree: Tree, walk: "Walk", word: bytes, name: str) -> str | None:
    if not is_plain_identifier(name):
        return NOT_PLAIN
    if name in SET_BY_PHP:
        return BY_PHP
    if word in walk.parameters and word in _labels(tree.source):
        return BY_NAME
    if word in walk.strings:
        return EQUAL_TO_STRING
    if name in walk.spelt:
        return IN_TEXT
    return walk.fixed.get(word) or (None if word in walk.bound else UNBOUND)


def _stands_in_assertion(tree: Tree, node: Node) -> bool:
    """A method of a class that an assertion makes: the assertion keeps the text of all of it."""
    above = node.parent
    while above is not None:
        called = above.child_by_field_name("function")
        if called is not None and _last_name(tree.source, called) == b"assert":
            return True
        above = above.parent
    return False


def _comments_before(tree: Tree, node: Node) -> Iterator[str]:
    before = node.prev_named_sibling
    while before is not None and before.type == "comment":
        yield tree.text(before)
        before = before.prev_named_sibling


@lru_cache(maxsize=1)  # the functions of a snippet ask one after another
def _labels(source: bytes) -> frozenset[bytes]:
    """What may be the name of an argument: `x` in `f(x: 1)`. Some are labels of other kinds."""
    return frozenset(_LABELS.findall(source))


def _last_name(source: bytes, node: Node) -> bytes:
    """Of what is called: `\\Compact` -> `compact`; functions and classes know no case."""
    if node.type not in ("name", "qualified_name", "relative_name"):
        return b""
    return source[node.start_byte : node.end_byte].rpartition(b"\\")[-1].lower()


class Walk:
    """One pass over a function: where its names stand, and what forbids to rename them.

    A list of nodes to visit in place of recursion: generated code nests deeply.
    """

    def __init__(self, source: bytes, function: Node) -> None:
        self.source = source
        self.starts: defaultdict[bytes, list[int]] = defaultdict(list)
        self.parameters: set[bytes] = set()
        self.bound: set[bytes] = set()  # that something may give a value to
        self.fixed: dict[bytes, str] = {}
        self.strings: set[bytes] = set()
        self.spelt: set[str] = set()  # `$x` in a string that keeps it as it is
        self.comments: list[str] = []
        self.dynamic: str | None = None
        # each with what it stands in: the reason for which variables keep their names, and whether
        # it may give them a value
        self._todo: list[tuple[Node, str | None, bool]] = []
        self._push(function, None, False)
        while self._todo:
            self._visit(*self._todo.pop())
        for starts in self.starts.values():
            starts.sort()

    def _push(self, node: Node, fixed: str | None, bound: bool) -> None:
        self._todo.extend((child, fixed, bound) for child in node.named_children)

    def _visit(self, node: Node, fixed: str | None, bound: bool) -> None:
        kind = node.type
        if kind == "variable_name":
            self._note(node, fixed, bound)
        elif kind in OTHERS:
            return
        elif kind == "comment":
            self.comments.append(self.source[node.start_byte : node.end_byte].decode())
        elif kind in DYNAMIC:
            self.dynamic = DYNAMIC[kind]
        elif kind not in KNOWN:
            self.dynamic = f"construct that is not known: {kind}"
        elif (reader := _READERS.get(kind)) is not None:
            reader(self, node, fixed, bound)
        elif node.child_count:
            self._push(node, fixed or FIXED.get(kind), bound or kind in TARGETS)

    def _note(self, node: Node, fixed: str | None, bound: bool) -> None:
        name = node.named_children[-1]
        word = self.source[name.start_byte : name.end_byte]
        if word.decode() in SUPERGLOBALS | PLUGIN.receivers:
            return
        # to PHP every byte above 127 belongs to a name; to the grammar not every character does
        if self.source[name.end_byte : name.end_byte + 1] > b"\x7f":
            self.dynamic = "a name that goes on"
        self.starts[word].append(name.start_byte)
        if bound:
            self.bound.add(word)
        if fixed is not None:
            self.fixed[word] = fixed

    def _read_parameter(self, node: Node, fixed: str | None, bound: bool) -> None:
        name = node.child_by_field_name("name")
        for child in node.named_children:
            if child != name:
                self._visit(child, fixed, bound)
        if name is not None:
            variable = name if name.type == "variable_name" else name.named_children[-1]
            self._note(variable, fixed or FIXED.get(node.type), True)
            word = variable.named_children[-1]
            self.parameters.add(self.source[word.start_byte : word.end_byte])

    def _read_assignment(self, node: Node, fixed: str | None, bound: bool) -> None:
        left = node.child_by_field_name("left")
        for child in node.named_children:
            self._todo.append((child, fixed, bound or child == left))

    def _read_foreach(self, node: Node, fixed: str | None, bound: bool) -> None:
        is_target = False
        for child in node.children:
            if child.is_named:
                self._todo.append((child, fixed, bound or is_target))
            is_target = child.type == "as"

    def _read_property(self, node: Node, fixed: str | None, bound: bool) -> None:
        # the name of `A::$x` is a property's; `A::$x()` calls what a variable names
        name = node.child_by_field_name("name")
        for child in node.named_children:
            if child != name or child.type != "variable_name":
                self._todo.append((child, fixed, bound))

    def _read_argument(self, node: Node, fixed: str | None, bound: bool) -> None:
        for child in node.named_children:
            self._todo.append((child, fixed, bound or child.type in GIVEN))

    def _read_call(self, node: Node, fixed: str | None, bound: bool) -> None:
        called = node.child_by_field_name("function")
        name = _last_name(self.source, called) if called is not None else b""
        if name.decode() in SCOPE_READERS:
            self.dynamic = f"variables are visible to {name.decode()}"
        elif name == b"assert":
            fixed = fixed or IN_ASSERT
        elif name == b"preg_replace" and self._is_evaluated(node):
            self.dynamic = "a replacement that is code"
        self._push(node, fixed, bound)

    def _read_new(self, node: Node, fixed: str | None, bound: bool) -> None:
        for child in node.named_children:
            if (name := _last_name(self.source, child).decode()) in SCOPE_READERS:
                self.dynamic = f"variables are visible to {name}"
        self._push(node, fixed, bound)

    def _is_evaluated(self, node: Node) -> bool:
        """Whether a pattern has the modifier `e`: `'/x/e'`, `'{x}ie'`."""
        given = node.child_by_field_name("arguments")
        first = given.named_children[0] if given is not None and given.named_children else None
        text = b"" if first is None else self.source[first.start_byte : first.end_byte]
        return _EVALUATED.search(text) is not None

    def _read_string(self, node: Node, fixed: str | None, bound: bool) -> None:
        text = self.source[node.start_byte : node.end_byte]
        if node.type in STRINGS:
            self.spelt.update(_SPELT.findall(text.decode()))
        self.strings.add(text.strip(b"bB").strip(b"\"'"))
        self._push(node, fixed, bound)

    def _read_heredoc(self, node: Node, fixed: str | None, bound: bool) -> None:
        body = node.child_by_field_name("value")
        if body is not None:
            text = self.source[body.start_byte : body.end_byte]
            self.strings.add(text.strip())
            if node.type in STRINGS:
                self.spelt.update(_SPELT.findall(text.decode()))
        self._push(node, fixed, bound)


_READERS = {
    **dict.fromkeys(PARAMETERS, Walk._read_parameter),
    **dict.fromkeys(LEFT, Walk._read_assignment),
    "foreach_statement": Walk._read_foreach,
    "scoped_property_access_expression": Walk._read_property,
    "argument": Walk._read_argument,
    "function_call_expression": Walk._read_call,
    "object_creation_expression": Walk._read_new,
    "string": Walk._read_string,
    "encapsed_string": Walk._read_string,
    "heredoc": Walk._read_heredoc,
    "nowdoc": Walk._read_heredoc,
}
