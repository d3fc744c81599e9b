"""TypeScript without JSX; `tsx` is the language with it."""

from dataclasses import replace

from puzzlemark.languages.base import Grammar
from puzzlemark.languages.javascript import PLUGIN as JAVASCRIPT

JSX = frozenset({"jsx_element", "jsx_self_closing_element"})
RESERVED = JAVASCRIPT.reserved | frozenset(
    "accessor any assert asserts declare global infer is keyof module namespace never number "
    "object override readonly satisfies string symbol type unknown constructor unique".split()
)
# JavaScript's sets without what is a word of types: a set of one name is none
SYNONYMS = tuple(
    left
    for names in JAVASCRIPT.synonyms
    if len(left := tuple(name for name in names if name not in RESERVED)) > 1
)

PLUGIN = replace(
    JAVASCRIPT,
    name="typescript",
    title="TypeScript",
    aliases=frozenset({"ts", "mts", "cts"}),
    grammar=Grammar("tree_sitter_typescript", "language_typescript"),
    example="""\
/** The sum of all prices. */
function total(prices: number[], rate: number = 1): number {
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
    reserved=RESERVED,
    synonyms=SYNONYMS,
    tokens=replace(
        JAVASCRIPT.tokens,
        opaque=JAVASCRIPT.tokens.opaque | frozenset({"predefined_type", "type_identifier"}),
    ),
    classes=JAVASCRIPT.classes
    | frozenset({"abstract_class_declaration", "interface_declaration", "internal_module"}),
    bearers={
        **{kind: place for kind, place in JAVASCRIPT.bearers.items() if kind != "field_definition"},
        "public_field_definition": "name",
    },
    declaration=("{}: any, ", "let {}: any = null;"),
    optional=(frozenset({"optional_parameter"}), "{}?: any, "),
    measures=replace(
        JAVASCRIPT.measures,
        expressions=(JAVASCRIPT.measures.expressions - JSX)
        | frozenset("as_expression satisfies_expression non_null_expression".split()),
        declares={
            **JAVASCRIPT.measures.declares,
            "required_parameter": "pattern",
            "optional_parameter": "pattern",
        },
    ),
    binders=frozenset(
        "variable_declarator required_parameter optional_parameter arguments".split()
    ),
    extensions=(".ts", ".mts", ".cts"),
)
