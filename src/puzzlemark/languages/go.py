"""Go."""

from puzzlemark.languages import _go_names as names
from puzzlemark.languages.base import DocComment, Grammar, Language, Lexing, Measures, Tokens

STRINGS = frozenset({"interpreted_string_literal", "raw_string_literal", "rune_literal"})

PLUGIN = Language(
    name="go",
    title="Go",
    aliases=frozenset({"golang"}),
    grammar=Grammar("tree_sitter_go"),
    example="""\
// total is the sum of all prices.
func total(prices []int) int {
	count, most := 0, 1 // so far
	for _, price := range prices {
		if price > most {
			count += price
		}
	}
	fmt.Println("total", count)
	return count
}
""",
    convention="camel",
    reserved=frozenset(
        "break case chan const continue default defer else fallthrough for func go goto if import "
        "interface map package range return select struct switch type var "
        "any bool byte comparable complex64 complex128 error float32 float64 int int8 int16 int32 "
        "int64 rune string uint uint8 uint16 uint32 uint64 uintptr true false iota nil "
        "append cap clear close complex copy delete imag len make max min new panic print println "
        "real recover init main C".split()
    ),
    synonyms=names.SYNONYMS,
    synonyms_version=names.SYNONYMS_VERSION,
    pool=names.POOL,
    pool_version=names.POOL_VERSION,
    tokens=Tokens(
        comments=frozenset({"comment"}),
        strings=STRINGS,
        numbers=frozenset({"int_literal", "float_literal"}),
        opaque=STRINGS,
    ),
    lexing=Lexing(
        line_comments=("//",),
        block_comments=(("/*", "*/"),),
        long_quotes=("`",),
    ),
    functions=frozenset({"function_declaration", "method_declaration"}),
    owner=("receiver", "type_identifier"),
    parameter_lists=frozenset({"parameter_list"}),
    last_parameters=frozenset({"variadic_parameter_declaration"}),
    blocks=frozenset({"statement_list"}),
    joint="; ",
    declaration=("{} any, ", "var {} any"),
    measures=Measures(
        decisions=frozenset("if for case && ||".split()),
        nesting=frozenset(
            "if_statement for_statement expression_switch_statement type_switch_statement "
            "select_statement".split()
        ),
        expressions=frozenset(
            "assignment_statement short_var_declaration inc_statement dec_statement "
            "send_statement call_expression selector_expression index_expression "
            "slice_expression binary_expression unary_expression composite_literal func_literal "
            "type_assertion_expression type_conversion_expression "
            "type_instantiation_expression".split()
        ),
        declares={
            "parameter_declaration": "name",
            "variadic_parameter_declaration": "name",
            "short_var_declaration": "left",
            "var_spec": "name",
            "const_spec": "name",
            "range_clause": "left",
            "receive_statement": "left",
            "type_switch_statement": "alias",
        },
        calls={"call_expression": "function"},
        qualified={"selector_expression": "last"},
        names=frozenset({"identifier"}),
        unpacked=frozenset({"expression_list"}),
        else_if=("if_statement", "else"),
    ),
    binders=frozenset("parameter_declaration var_spec expression_list argument_list".split()),
    phrases=frozenset(
        "binary_expression call_expression selector_expression index_expression "
        "short_var_declaration assignment_statement return_statement composite_literal".split()
    ),
    extensions=(".go",),
    skipped_folders=frozenset({"vendor", "testdata"}),
    doc_comments=(DocComment("//"), DocComment("/*", "*/", r"\s*\*? ?")),
)
