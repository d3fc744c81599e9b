"""Scopes of TypeScript: those of JavaScript, and types (docs/languages/typescript.md)."""

from dataclasses import replace

from tree_sitter import Node

from puzzlemark.languages.typescript import PLUGIN as LANGUAGE
from puzzlemark.syntax.resolvers._scopes import ALL, Binder, resolve_by
from puzzlemark.syntax.resolvers.javascript import CLASS, FUNCTION
from puzzlemark.syntax.resolvers.javascript import TABLE as JAVASCRIPT
from puzzlemark.syntax.tree import Tree
from puzzlemark.syntax.variables import Function

PROPERTY = "parameter and property at once"
PARAMETER = (
    Binder(("pattern",), "block", parameter=True),
    Binder(("pattern",), "block", needs="accessibility_modifier", fixed=PROPERTY),
    Binder(("pattern",), "block", needs="override_modifier", fixed=PROPERTY),
    Binder(("pattern",), "block", needs="readonly", fixed=PROPERTY),
    Binder(("pattern",), "block", needs="decorator", fixed="decorated parameter"),
)
QUERY = "read by a type"
MODULE = "may be the name of a namespace"
MEMBER = "may be a member of an enum"

TABLE = replace(
    JAVASCRIPT,
    signatures=frozenset(
        "function_type constructor_type call_signature construct_signature method_signature "
        "abstract_method_signature function_signature index_signature".split()
    ),
    bound_types=frozenset({"type_identifier"}),
    binders={
        **{kind: rows for kind, rows in JAVASCRIPT.binders.items() if kind != "using_declaration"},
        "required_parameter": PARAMETER,
        "optional_parameter": PARAMETER,
        "index_signature": (Binder(("name",), "block"),),
        "abstract_class_declaration": (CLASS,),
        "enum_declaration": (CLASS,),
        "function_signature": (FUNCTION,),
    },
    harmless=(JAVASCRIPT.harmless - {"html_character_reference"}) | {"type_identifier"},
    not_names={"required_parameter": ("name",), "optional_parameter": ("name",)},
    doubtful={
        "type_query": {ALL: QUERY},
        "nested_type_identifier": {ALL: MODULE},
        "nested_identifier": {ALL: MODULE},
        "enum_body": {ALL: MEMBER},
    },
    namers={**JAVASCRIPT.namers, "required_parameter": ("pattern", "value")},
    plain=frozenset(kind for kind in JAVASCRIPT.plain if not kind.startswith("jsx_"))
    - {"field_definition"}
    | frozenset(
        "internal_module module import_alias import_require_clause "
        "public_field_definition accessibility_modifier override_modifier "
        "as_expression satisfies_expression non_null_expression type_assertion "
        "instantiation_expression ambient_declaration interface_declaration interface_body "
        "type_alias_declaration enum_body enum_assignment extends_clause extends_type_clause "
        "implements_clause property_signature type_parameters type_parameter type_arguments "
        "constraint default_type type_annotation type_predicate type_predicate_annotation "
        "asserts asserts_annotation adding_type_annotation omitting_type_annotation "
        "opting_type_annotation predefined_type literal_type array_type tuple_type optional_type "
        "rest_type union_type intersection_type conditional_type infer_type generic_type "
        "parenthesized_type readonly_type lookup_type index_type_query type_query object_type "
        "mapped_type_clause template_literal_type template_type nested_identifier "
        "nested_type_identifier existential_type flow_maybe_type this_type".split()
    ),
)


def resolve(tree: Tree, node: Node) -> Function:
    """The variables of a function, those of the closures inside it as well."""
    return resolve_by(TABLE, tree, node)


assert LANGUAGE.functions == TABLE.units, "one set of functions for both languages"
