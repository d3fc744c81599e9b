"""Scopes of Go, as a table (docs/languages/go.md)."""

from tree_sitter import Node

from puzzlemark.languages.go import PLUGIN as LANGUAGE
from puzzlemark.syntax.resolvers._scopes import ALL, Binder, Table, resolve_by
from puzzlemark.syntax.tree import Tree
from puzzlemark.syntax.variables import Function

# in `func f(a [n]int, n int)` the first n is a constant of the package
PARAMETER = Binder(("name",), "body", parameter=True)

TABLE = Table(
    units=LANGUAGE.functions,
    closures=frozenset(),
    functions=LANGUAGE.functions | {"func_literal"},
    signatures=frozenset({"function_type", "method_elem"}),
    scopes=frozenset(
        "block if_statement for_statement expression_switch_statement type_switch_statement "
        "expression_case type_case default_case communication_case".split()
    ),
    bodies=frozenset({"block"}),
    names=frozenset({"identifier"}),
    binders={
        # the scope of a local begins behind the statement that declares it
        "short_var_declaration": (Binder(("left",), reuses=True),),
        "var_spec": (Binder(("name",)),),
        "const_spec": (Binder(("name",)),),
        "range_clause": (Binder(("left",), needs=":="),),
        "receive_statement": (Binder(("left",), needs=":="),),
        "type_switch_statement": (Binder(("alias",), since="value", shared=True),),
        "parameter_declaration": (PARAMETER,),
        "variadic_parameter_declaration": (PARAMETER,),
        "method_declaration": (Binder(("receiver",), "body", silent=True),),
    },
    patterns={
        "expression_list": (ALL,),
        "parameter_list": (ALL,),  # of the receiver
        "parameter_declaration": ("name",),
    },
    blank=frozenset({b"_"}),
    strings=frozenset({"interpreted_string_literal", "raw_string_literal"}),
    comments=LANGUAGE.tokens.comments,
    harmless=frozenset(
        "field_identifier label_name package_identifier interpreted_string_literal_content "
        "raw_string_literal_content escape_sequence rune_literal int_literal float_literal "
        "imaginary_literal".split()
    ),
    doubtful={"keyed_element": {"key": "may be the name of a field"}},
    sure={
        "keyed_element": frozenset(
            "map_type slice_type array_type implicit_length_array_type".split()
        )
    },
    dynamic_words={("selector_expression", "operand"): {b"C": "cgo"}},
    plain=frozenset(
        "source_file package_clause import_declaration import_spec import_spec_list dot "
        "statement_list expression_statement send_statement inc_statement dec_statement "
        "assignment_statement return_statement go_statement defer_statement break_statement "
        "continue_statement goto_statement fallthrough_statement labeled_statement "
        "empty_statement select_statement for_clause var_declaration var_spec_list "
        "const_declaration type_declaration type_spec type_alias "
        "argument_list variadic_argument binary_expression unary_expression call_expression "
        "selector_expression index_expression slice_expression type_assertion_expression "
        "type_conversion_expression type_instantiation_expression parenthesized_expression "
        "composite_literal literal_value literal_element keyed_element "
        "array_type implicit_length_array_type slice_type struct_type pointer_type map_type "
        "channel_type interface_type generic_type qualified_type parenthesized_type negated_type "
        "type_arguments type_elem type_constraint type_parameter_list type_parameter_declaration "
        "type_identifier "
        "field_declaration field_declaration_list true false nil iota blank_identifier".split()
    ),
)


def resolve(tree: Tree, node: Node) -> Function:
    """The variables of a function or method, those of the functions written inside it as well."""
    return resolve_by(TABLE, tree, node)
