"""Scopes of JavaScript, as a table (docs/languages/javascript.md)."""

from tree_sitter import Node

from puzzlemark.languages.javascript import PLUGIN as LANGUAGE
from puzzlemark.syntax.resolvers._scopes import ALL, Binder, Table, resolve_by
from puzzlemark.syntax.tree import Tree
from puzzlemark.syntax.variables import Function

# bound, so that nothing else is taken for them; they are no variables
FUNCTION = Binder(("name",), "outer", silent=True, leaks=True)
CLASS = Binder(("name",), "block", silent=True)
# an expression's own name is seen inside it only, and by any other name there hidden
INNER = Binder(("name",), "block", silent=True, yields=True)
SHORTHAND = frozenset("shorthand_property_identifier shorthand_property_identifier_pattern".split())
TAG = "stands in a JSX tag"

TABLE = Table(
    units=LANGUAGE.functions,
    closures=frozenset("function_expression generator_function arrow_function".split()),
    functions=LANGUAGE.functions | {"class_static_block"},
    scopes=frozenset(
        "statement_block for_statement for_in_statement switch_body catch_clause class".split()
    ),
    bodies=frozenset({"statement_block"}),
    names=SHORTHAND | {"identifier"},
    shorthand=SHORTHAND,
    binders={
        "variable_declaration": (Binder((ALL,), "function"),),
        "lexical_declaration": (Binder((ALL,), "block"),),
        "using_declaration": (Binder((ALL,), "block"),),
        "formal_parameters": (Binder((ALL,), "block", parameter=True),),
        "arrow_function": (Binder(("parameter",), "block", parameter=True),),
        "catch_clause": (Binder(("parameter",), "block"),),
        "for_in_statement": (
            Binder(("left",), "function", needs="var"),
            Binder(("left",), "block", needs="let"),
            Binder(("left",), "block", needs="const"),
            Binder(("left",), "block", needs="using"),
        ),
        "function_declaration": (FUNCTION,),
        "generator_function_declaration": (FUNCTION,),
        "function_expression": (INNER,),
        "generator_function": (INNER,),
        "class_declaration": (CLASS,),
        "class": (CLASS,),
    },
    patterns={
        "variable_declarator": ("name",),
        "array_pattern": (ALL,),
        "object_pattern": (ALL,),
        "rest_pattern": (ALL,),
        "assignment_pattern": ("left",),
        "object_assignment_pattern": ("left",),
        "pair_pattern": ("value",),
    },
    strings=frozenset({"string", "template_string"}),
    comments=LANGUAGE.tokens.comments,
    harmless=frozenset(
        "property_identifier private_property_identifier statement_identifier string_fragment "
        "escape_sequence regex_pattern regex_flags jsx_text html_character_reference number "
        "hash_bang_line".split()
    ),
    doubtful={
        "jsx_opening_element": {"name": TAG},
        "jsx_closing_element": {"name": TAG},
        "jsx_self_closing_element": {"name": TAG},
        "jsx_namespace_name": {ALL: TAG},
    },
    dynamic={"with_statement": "with"},
    dynamic_words={("call_expression", "function"): {b"eval": "direct eval"}},
    namers={
        "variable_declarator": ("name", "value"),
        "assignment_expression": ("left", "right"),
        "augmented_assignment_expression": ("left", "right"),
        "assignment_pattern": ("left", "right"),
        "object_assignment_pattern": ("left", "right"),
    },
    named_values=frozenset("function_expression generator_function arrow_function class".split()),
    namers_reason="a function takes its name from it",
    plain=frozenset(
        # imports and exports stand outside of functions: their names are nobody's variables
        "program import_statement import_clause import_specifier named_imports "
        "namespace_import import_attribute import export_statement "
        "export_clause export_specifier namespace_export decorator "
        "expression_statement if_statement else_clause while_statement do_statement "
        "switch_statement switch_case switch_default try_statement finally_clause "
        "return_statement throw_statement break_statement continue_statement labeled_statement "
        "empty_statement debugger_statement "
        "array object pair spread_element arguments binary_expression unary_expression "
        "update_expression ternary_expression assignment_expression "
        "augmented_assignment_expression sequence_expression parenthesized_expression "
        "call_expression new_expression member_expression subscript_expression optional_chain "
        "await_expression yield_expression meta_property template_substitution regex "
        "class_body class_heritage field_definition computed_property_name "
        "jsx_element jsx_opening_element jsx_closing_element jsx_self_closing_element "
        "jsx_attribute jsx_expression jsx_namespace_name "
        "this super true false null undefined".split()
    ),
)


def resolve(tree: Tree, node: Node) -> Function:
    """The variables of a function, those of the closures inside it as well."""
    return resolve_by(TABLE, tree, node)
