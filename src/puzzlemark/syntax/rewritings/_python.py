"""What the Python rewritings share: where expressions stand, and whether a built-in is its own."""

from collections.abc import Iterator

from tree_sitter import Node

from puzzlemark.syntax.rewritings.base import walk
from puzzlemark.syntax.tree import Tree

# Around a name that is only read. Any other place may bind it.
_READS = frozenset(
    "call argument_list attribute keyword_argument subscript type generic_type union_type "
    "comparison_operator binary_operator boolean_operator not_operator unary_operator "
    "conditional_expression return_statement expression_statement assert_statement if_statement "
    "elif_clause while_statement pair interpolation await yield raise_statement list_splat "
    "dictionary_splat list_comprehension set_comprehension generator_expression slice".split()
)
# The same where it stands in this field.
_READ_FIELDS = {
    "assignment": "right",
    "augmented_assignment": "right",
    "default_parameter": "value",
    "typed_default_parameter": "value",
    "named_expression": "value",
    "for_statement": "right",
    "for_in_clause": "right",
    "lambda": "body",
}
# Displays; where they are targets the grammar calls them patterns, but for `del` and `as`.
_DISPLAYS = frozenset("tuple list set parenthesized_expression expression_list".split())


def expressions(tree: Tree) -> Iterator[tuple[Node, Node]]:
    """The nodes whose spelling does not matter, each with its parent.

    Left out: annotations, which tools read as they are spelled; `f"{expression=}"`, which prints
    its own source.
    """
    return walk(tree, _is_spelling)


def _is_spelling(node: Node) -> bool:
    if node.type == "interpolation":
        return any(child.type == "=" for child in node.children)
    return node.type == "type"


def is_call_of(tree: Tree, node: Node, name: str) -> bool:
    """Whether a node is `name(...)`; a generator without parentheses of its own does not count."""
    if node.type != "call":
        return False
    function, arguments = (
        node.child_by_field_name("function"),
        node.child_by_field_name("arguments"),
    )
    assert function is not None, "a call without what is called"
    assert arguments is not None, "a call without arguments"
    return (
        function.type == "identifier"
        and arguments.type == "argument_list"
        and tree.text(function) == name
    )


def is_rebound(tree: Tree, name: str) -> bool:
    """Whether the snippet may give a built-in's name another meaning."""
    word = name.encode()
    if word not in tree.source and b"import" not in tree.source:
        return False
    targets: set[int] = set()  # displays whose names may be bound
    for node, parent in walk(tree, lambda _: False):
        if node.type == "wildcard_import":
            return True
        is_display = node.type in _DISPLAYS
        is_it = node.type == "identifier" and tree.source[node.start_byte : node.end_byte] == word
        if (is_display or is_it) and _may_bind(node, parent, targets):
            if is_it:
                return True
            targets.add(node.id)
    return False


def _may_bind(node: Node, parent: Node, targets: set[int]) -> bool:
    if parent.type in _DISPLAYS:
        return parent.id in targets
    if parent.type in _READ_FIELDS:
        return parent.child_by_field_name(_READ_FIELDS[parent.type]) != node
    return parent.type not in _READS
