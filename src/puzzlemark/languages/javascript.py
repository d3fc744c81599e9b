"""JavaScript, with JSX."""

from puzzlemark.languages import _javascript_names as names
from puzzlemark.languages.base import DocComment, Grammar, Language, Lexing, Measures, Tokens

STRINGS = frozenset({"string", "template_string"})

PLUGIN = Language(
    name="javascript",
    title="JavaScript",
    aliases=frozenset("js jsx mjs cjs ecmascript nodejs".split()),
    grammar=Grammar("tree_sitter_javascript"),
    wrapper=(b"class X {", b"\n}"),  # around a method
    needs_function=True,  # `get(a)` above a block is a call and a block
    example="""\
/** The sum of all prices. */
function total(prices, rate = 1) {
  let count = 0; // so far
  for (const price of prices) {
    if (price > 0) {
      count += price * rate;
    }
  }
  console.log("total", count);
  return count;
}
""",
    convention="camel",
    reserved=frozenset(
        "abstract arguments as async await boolean break byte case catch char class const continue "
        "debugger default delete do double else enum eval export extends false final finally float "
        "for from function get goto if implements import in instanceof int interface let long meta "
        "native new null of package private protected public return set short static super switch "
        "synchronized target this throw throws transient true try typeof undefined using var void "
        "volatile while with yield NaN Infinity globalThis window document self global process "
        "module exports require console Object Array String Number Boolean Symbol Function Math "
        "JSON Date Error Promise RegExp Map Set Proxy Reflect Intl name top parent status event "
        "location history".split()
    ),
    receivers=frozenset({"this"}),
    synonyms=names.SYNONYMS,
    synonyms_version=names.SYNONYMS_VERSION,
    pool=names.POOL,
    pool_version=names.POOL_VERSION,
    tokens=Tokens(
        comments=frozenset({"comment", "html_comment"}),
        strings=STRINGS,
        numbers=frozenset({"number"}),
        opaque=STRINGS | frozenset({"regex"}),
    ),
    lexing=Lexing(
        line_comments=("//",),
        block_comments=(("/*", "*/"),),
        quotes=('"', "'", "`"),
    ),
    functions=frozenset(
        "function_declaration generator_function_declaration function_expression "
        "generator_function arrow_function method_definition".split()
    ),
    classes=frozenset({"class_declaration", "class"}),
    bearers={
        "export_statement": None,
        "expression_statement": None,
        "lexical_declaration": None,
        "variable_declaration": None,
        "variable_declarator": "name",
        "assignment_expression": "left",
        "pair": "key",
        "field_definition": "property",
    },
    attached=frozenset({"decorator"}),
    parameter_lists=frozenset({"formal_parameters"}),
    last_parameters=frozenset({"rest_pattern"}),
    blocks=frozenset({"statement_block", "program"}),
    declaration=("{}, ", "let {} = null;"),
    measures=Measures(
        decisions=frozenset("if for while case catch && || ?? ternary_expression".split()),
        nesting=frozenset(
            "if_statement for_statement for_in_statement while_statement do_statement "
            "try_statement switch_statement with_statement".split()
        ),
        expressions=frozenset(
            "assignment_expression augmented_assignment_expression update_expression "
            "call_expression new_expression member_expression subscript_expression "
            "binary_expression unary_expression ternary_expression await_expression "
            "yield_expression sequence_expression array object arrow_function "
            "function_expression generator_function class jsx_element "
            "jsx_self_closing_element".split()
        ),
        declares={
            "formal_parameters": "all",
            "arrow_function": "parameter",
            "variable_declarator": "name",
            "catch_clause": "parameter",
            "for_in_statement": "left",
            "array_pattern": "all",
            "object_pattern": "all",
            "pair_pattern": "value",
            "rest_pattern": "all",
            "assignment_pattern": "left",
            "object_assignment_pattern": "left",
        },
        calls={"call_expression": "function", "new_expression": "constructor"},
        qualified={"member_expression": "last"},
        names=frozenset({"identifier", "shorthand_property_identifier_pattern"}),
        else_if=("if_statement", "else"),
    ),
    binders=frozenset("variable_declarator formal_parameters arguments".split()),
    phrases=frozenset(
        "binary_expression call_expression member_expression subscript_expression "
        "assignment_expression lexical_declaration variable_declaration return_statement "
        "new_expression".split()
    ),
    extensions=(".js", ".jsx", ".mjs", ".cjs"),
    skipped_folders=frozenset("bower_components dist build vendor".split()),
    doc_comments=(DocComment("/**", "*/", r"\s*\*? ?"),),
)
