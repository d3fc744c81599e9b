"""The ten features again, slow and obvious: recursion, lists and node types by name."""

from collections.abc import Iterator

from tree_sitter import Node

from puzzlemark.syntax.tree import Tree


def naive_measure(tree: Tree) -> tuple[int, ...]:
    measures = tree.language.measures
    top = _top(tree)
    nodes = [node for member in top for node in _walk(tree, member)]
    leaves = [node for node in nodes if not _children(tree, node)]
    expressions = [node for node in nodes if node.type in measures.expressions and node.is_named]
    declared = [node.text for node in nodes if _is_declared(node)]
    called = {name for node in nodes if (name := _called(node)) is not None}
    return (
        1 + sum(node.type in measures.decisions and not _has_own_word(node) for node in nodes),
        _lines(tree),
        len(leaves),
        max((_nesting(tree, member) for member in top), default=0),
        1 + max((_depth(tree, member) for member in top), default=0),
        len(called),
        len(declared),
        len(set(declared)),
        len(expressions),
        len({tuple(_kinds(tree, node)) for node in expressions}),
    )


def _top(tree: Tree) -> list[Node]:
    if not tree.offset:
        return tree.root.children
    body = tree.root.children[0].child_by_field_name("body")
    assert body is not None
    return body.children[1:-1]


def _children(tree: Tree, node: Node) -> list[Node]:
    return [] if node.type in tree.language.tokens.opaque else node.children


def _is_code(tree: Tree, node: Node) -> bool:
    return node.type not in tree.language.tokens.comments | tree.language.tokens.layout


def _walk(tree: Tree, node: Node) -> Iterator[Node]:
    if _is_code(tree, node):
        yield node
        for child in _children(tree, node):
            yield from _walk(tree, child)


def _kinds(tree: Tree, node: Node) -> Iterator[tuple[str, bool]]:
    return ((below.type, below.is_named) for below in _walk(tree, node))


def _depth(tree: Tree, node: Node) -> int:
    return 1 + max((_depth(tree, child) for child in _children(tree, node)), default=0)


def _nesting(tree: Tree, node: Node) -> int:
    inside = max((_nesting(tree, child) for child in _children(tree, node)), default=0)
    return inside + (
        node.is_named and node.type in tree.language.measures.nesting and not _is_else_if(node)
    )


def _has_own_word(node: Node) -> bool:
    """Ruby's `if` is a node with a word in it that is spelled alike: the word is what counts."""
    return node.is_named and any(c.type == node.type and not c.is_named for c in node.children)


def _is_else_if(node: Node) -> bool:
    parent = node.parent
    if parent is None or node.type != "if_statement":
        return False
    if parent.type == "else_clause":  # JavaScript has a node around it
        return True
    return parent.type == "if_statement" and parent.child_by_field_name("alternative") == node


def _lines(tree: Tree) -> int:
    code = bytearray(tree.source)

    def blank(node: Node) -> None:
        if node.type in tree.language.tokens.comments:
            for at in range(node.start_byte, node.end_byte):
                if code[at] not in b"\r\n":
                    code[at] = 0x20
        for child in node.children:
            blank(child)

    blank(tree.root)
    own = bytes(code)[tree.offset : tree.offset + len(tree.code)]
    return sum(bool(line.strip()) for line in own.splitlines())


# Asked of every identifier about its parent, where the walk asks every parent about its children.
_EVERYWHERE_IN = frozenset(
    "parameters lambda_parameters list_splat_pattern dictionary_splat_pattern pattern_list "
    "tuple_pattern list_pattern typed_parameter as_pattern_target splat_pattern "
    "inferred_parameters type_pattern record_pattern_component "
    "formal_parameters array_pattern object_pattern rest_pattern".split()
)
_FIELDS = frozenset(
    [
        ("assignment", "left"),
        ("named_expression", "name"),
        ("default_parameter", "name"),
        ("typed_default_parameter", "name"),
        ("for_statement", "left"),
        ("for_in_clause", "left"),
        ("formal_parameter", "name"),
        ("catch_formal_parameter", "name"),
        ("variable_declarator", "name"),
        ("enhanced_for_statement", "name"),
        ("resource", "name"),
        ("instanceof_expression", "name"),
        ("lambda_expression", "parameters"),
        # Go
        ("parameter_declaration", "name"),
        ("variadic_parameter_declaration", "name"),
        ("short_var_declaration", "left"),
        ("var_spec", "name"),
        ("const_spec", "name"),
        ("range_clause", "left"),
        ("receive_statement", "left"),
        ("type_switch_statement", "alias"),
        # JavaScript and TypeScript
        ("arrow_function", "parameter"),
        ("catch_clause", "parameter"),
        ("for_in_statement", "left"),
        ("pair_pattern", "value"),
        ("assignment_pattern", "left"),
        ("object_assignment_pattern", "left"),
        ("required_parameter", "pattern"),
        ("optional_parameter", "pattern"),
    ]
)
_NAMES = frozenset({"identifier", "shorthand_property_identifier_pattern"})


def _is_declared(node: Node) -> bool:
    parent = node.parent
    if node.type not in _NAMES or parent is None:
        return False
    if parent.type == "expression_list" and parent.parent is not None:
        node, parent = parent, parent.parent  # Go's `a, b := ...`; Python's declares nothing
    while parent.type in {"tuple", "list", "list_splat"} and parent.parent is not None:
        node, parent = parent, parent.parent
        if parent.type == "as_pattern_target":
            return True
    if parent.type == "dotted_name":
        return parent.child_count == 1 and _is_captured(parent)
    if parent.type == "as_pattern":
        return parent.children[-1] == node
    if parent.type in _EVERYWHERE_IN:
        return True
    fields = (field for kind, field in _FIELDS if kind == parent.type)
    return any(node in parent.children_by_field_name(field) for field in fields)


def _is_captured(name: Node) -> bool:
    parent = name.parent
    return parent is not None and parent.type in {"case_pattern", "keyword_pattern"}


def _called(node: Node) -> bytes | None:
    callee: Node | None = None
    if node.type == "call":
        callee = node.child_by_field_name("function")
        if callee is not None and callee.type == "attribute":
            callee = callee.child_by_field_name("attribute")
    elif node.type in {"call_expression", "new_expression"}:  # Go, JavaScript, TypeScript
        callee = node.child_by_field_name("function") or node.child_by_field_name("constructor")
        while callee is not None and callee.type in {"selector_expression", "member_expression"}:
            callee = callee.children[-1]
    elif node.type == "method_invocation":
        callee = node.child_by_field_name("name")
    elif node.type == "object_creation_expression":
        callee = node.child_by_field_name("type")
        if callee is not None and callee.type == "generic_type":
            callee = callee.named_children[0]
        if callee is not None and callee.type == "scoped_type_identifier":
            callee = callee.named_children[-1]
    return callee.text if callee is not None and not callee.children else None
