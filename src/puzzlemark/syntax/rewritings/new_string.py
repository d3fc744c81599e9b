"""`"text"` and `new String("text")` (CodeMark's trigger in B4).

What could break: a new String is equal to the literal but not the same object, and is no constant
expression. Annotations, `case` labels, constants and operands of `==` are left alone; policy `safe`
keeps to literals that are only read at once, so that nobody can ask which object it was.
"""

from collections.abc import Iterator

from tree_sitter import Node

from puzzlemark.syntax.rewritings._java import (
    Proof,
    declares_type,
    is_method,
    leaves,
    read_declarations,
    receiver,
)
from puzzlemark.syntax.rewritings.base import (
    Occurrence,
    arguments,
    has_comment,
    insert_after,
    insert_before,
    occurrence,
    replace,
    walk,
)
from puzzlemark.syntax.tree import Tree
from puzzlemark.syntax.variables import Policy

LANGUAGE = "java"
ORIGINAL = '"..."'
EQUIVALENT = 'new String("...")'
HIT = r"\A\s*new\s+String\("

_ANNOTATIONS = frozenset({"annotation", "marker_annotation", "annotation_type_declaration"})
# what hands a part of it on as its value, or joins it with another
_JOINED = frozenset({"parenthesized_expression", "binary_expression"})
_FOLDED = _JOINED | {"ternary_expression"}
_NEVER_CONSTANT = frozenset(
    "method_invocation array_access object_creation_expression assignment_expression "
    "update_expression".split()
)
# methods of String that neither return the receiver or an argument nor keep it
_ONLY_READ = frozenset(
    "equals equalsIgnoreCase length charAt isEmpty isBlank contains startsWith endsWith indexOf "
    "lastIndexOf hashCode compareTo compareToIgnoreCase matches getBytes toCharArray codePointAt "
    "contentEquals append".split()
)


def may_occur(code: bytes) -> bool:
    """Whether there is a quotation mark."""
    return b'"' in code


def find(tree: Tree, policy: Policy) -> tuple[Occurrence, ...]:
    """Literals that need not be constants, and new Strings of a literal."""
    if b"String" in tree.source and declares_type(tree, "String"):
        return ()
    labels = frozenset(_words_of_labels(tree)) if b"final" in tree.source else frozenset()
    proof = Proof(read_declarations(tree)) if policy == "safe" else None
    kept: set[int] = set()  # offsets of literals that stay
    joined: set[int] = set()  # of those that become part of a new String anyway
    found: list[Occurrence] = []
    for node, parent in walk(tree, lambda each: _must_be_constant(tree, each, labels, policy)):
        if _asks_for_identity(node):
            kept |= {leaf.start_byte for leaf in leaves(node, _FOLDED)}
        if node.type == "binary_expression" and parent.type not in _JOINED:
            joined |= _joined(node)
        if node.type == "object_creation_expression" and (inner := _copied(tree, node)) is not None:
            kept.add(inner.start_byte)
            opening = replace(tree, node.start_byte, inner.start_byte)
            closing = replace(tree, inner.end_byte, node.end_byte)
            found.append(occurrence(tree, node, "equivalent", opening, closing))
        elif node.type != "string_literal" or node.start_byte in kept:
            continue
        elif proof is None or node.start_byte in joined or _is_only_read(proof, node, parent):
            opening, closing = insert_before(node, b"new String("), insert_after(node, b")")
            found.append(occurrence(tree, node, "original", opening, closing))
    return tuple(found)


def _copied(tree: Tree, node: Node) -> Node | None:
    """The literal of `new String("text")`."""
    kind, inside = node.child_by_field_name("type"), node.child_by_field_name("arguments")
    if kind is None or inside is None or tree.text(kind) != "String" or has_comment(tree, inside):
        return None
    if node.named_children != [kind, inside]:  # a body, or an object before `.new`
        return None
    values = arguments(tree, inside)
    return values[0] if len(values) == 1 and values[0].type == "string_literal" else None


def _must_be_constant(tree: Tree, node: Node, labels: frozenset[str], policy: Policy) -> bool:
    kind = node.type
    if kind in _ANNOTATIONS or kind == "switch_label":
        return True
    if kind != "variable_declarator" or node.parent is None:
        return False
    value, name = node.child_by_field_name("value"), node.child_by_field_name("name")
    if value is None or name is None or value.type not in _FOLDED | {"string_literal"}:
        return False
    if node.parent.type == "constant_declaration":
        return True
    if not _is_final(tree, node.parent):
        return False
    is_field = node.parent.type == "field_declaration"
    return is_field or policy == "safe" or tree.text(name) in labels


def _is_final(tree: Tree, declaration: Node) -> bool:
    modifiers = (child for child in declaration.named_children if child.type == "modifiers")
    return any("final" in tree.text(each).split() for each in modifiers)


def _words_of_labels(tree: Tree) -> Iterator[str]:
    for node, _ in walk(tree, lambda _: False):
        if node.type in _ANNOTATIONS or node.type == "switch_label":
            yield from tree.text(node).replace("(", " ").replace(")", " ").replace(",", " ").split()


def _asks_for_identity(node: Node) -> bool:
    """`text == "a"`, `synchronized ("a")`; but `"a" != null` asks for no identity."""
    if node.type == "synchronized_statement":
        return True
    operator = node.child_by_field_name("operator")
    if operator is None or operator.type not in ("==", "!="):
        return False
    return all(child.type != "null_literal" for child in node.children)


def _joined(node: Node) -> set[int]:
    """The parts of a concatenation, if one of them is no constant: that makes a new String."""
    parts = list(leaves(node, _JOINED))
    if any(part.type in _NEVER_CONSTANT for part in parts):
        return {part.start_byte for part in parts}
    return set()


def _is_only_read(proof: Proof, node: Node, parent: Node) -> bool:
    if parent.type == "method_invocation":
        return _reads(proof.tree, parent) and receiver(parent) == node
    call = parent.parent if parent.type == "argument_list" else None
    if call is None or not _reads(proof.tree, call):
        return False
    return proof.is_text(receiver(call))


def _reads(tree: Tree, call: Node) -> bool:
    return any(is_method(tree, call, name) for name in _ONLY_READ)
