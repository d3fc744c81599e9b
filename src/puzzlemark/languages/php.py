"""PHP. A variable's name is what stands behind its `$`."""

from puzzlemark.languages import _php_names as names
from puzzlemark.languages.base import DocComment, Grammar, Language, Lexing, Measures, Tokens

# How the resolver reads a body (docs/languages/php.md).
SUPERGLOBALS = frozenset("GLOBALS _SERVER _GET _POST _FILES _COOKIE _SESSION _REQUEST _ENV".split())
# what PHP itself sets in a function: the answer of a web server, the last error, the arguments
SET_BY_PHP = frozenset("http_response_header php_errormsg argc argv".split())
# functions that read or write the variables of whoever calls them, and `eval`
SCOPE_READERS = frozenset(
    "compact extract get_defined_vars parse_str mb_parse_str eval create_function "
    "reflectionfunction".split()
)
INCLUDES = frozenset(
    "include_expression include_once_expression require_expression require_once_expression".split()
)
STRINGS = frozenset("string encapsed_string heredoc nowdoc shell_command_expression".split())
CLASSES = frozenset(
    "class_declaration trait_declaration interface_declaration enum_declaration".split()
)

PLUGIN = Language(
    name="php",
    title="PHP",
    aliases=frozenset("php5 php7 php8".split()),
    grammar=Grammar("tree_sitter_php", entry="language_php_only"),
    wrapper=(b"class X {", b"\n}"),  # around a method
    example="""\
/** The sum of all prices. */
function total(array $prices, $rate = 1) {
    $count = 0; // so far
    $most = 9;
    foreach ($prices as $price) {
        if ($price < $most) {
            $count += $price * $rate;
        }
    }
    print_r("total", $count);
    return $count;
}
""",
    convention="camel",
    reserved=SUPERGLOBALS
    | SET_BY_PHP
    | frozenset(
        "abstract and array as bool break case catch class clone const continue declare default do "
        "echo else elseif encoding enddeclare endfor endforeach endif endswitch endwhile enum exit "
        "extends final finally float fn for foreach function global goto if implements include "
        "instanceof insteadof int interface list match namespace new null object or parent print "
        "private protected public readonly require return self static string switch throw ticks "
        "trait try unset use while xor yield this true false mixed never void iterable "
        "callable empty isset die eval".split()
    ),
    receivers=frozenset({"this"}),
    synonyms=names.SYNONYMS,
    synonyms_version=names.SYNONYMS_VERSION,
    pool=names.POOL,
    pool_version=names.POOL_VERSION,
    tokens=Tokens(
        comments=frozenset({"comment"}),
        strings=STRINGS,
        numbers=frozenset({"integer", "float"}),
        opaque=STRINGS,
        names=frozenset({"name"}),
    ),
    lexing=Lexing(line_comments=("//", "#"), block_comments=(("/*", "*/"),)),
    functions=frozenset({"function_definition", "method_declaration"}),
    classes=CLASSES,
    class_sign="::",
    attached=frozenset({"attribute_list"}),
    parameter_lists=frozenset({"formal_parameters"}),
    last_parameters=frozenset({"variadic_parameter"}),
    blocks=frozenset({"compound_statement", "program", "colon_block"}),
    declaration=("${}, ", "${} = null;"),
    measures=Measures(
        decisions=frozenset(
            "if elseif for foreach while case catch && || and or xor ?? ??= "
            "conditional_expression match_conditional_expression".split()
        ),
        nesting=frozenset(
            "if_statement for_statement foreach_statement while_statement do_statement "
            "try_statement switch_statement match_expression".split()
        ),
        expressions=frozenset(
            "assignment_expression augmented_assignment_expression "
            "reference_assignment_expression update_expression function_call_expression "
            "member_call_expression nullsafe_member_call_expression scoped_call_expression "
            "object_creation_expression member_access_expression "
            "nullsafe_member_access_expression scoped_property_access_expression "
            "class_constant_access_expression subscript_expression binary_expression "
            "unary_op_expression error_suppression_expression conditional_expression "
            "cast_expression clone_expression throw_expression print_intrinsic "
            "include_expression include_once_expression require_expression "
            "require_once_expression yield_expression array_creation_expression list_literal "
            "anonymous_function arrow_function anonymous_class sequence_expression".split()
        ),
        declares={
            "simple_parameter": "name",
            "variadic_parameter": "name",
            "property_promotion_parameter": "name",
            "assignment_expression": "left",
            "reference_assignment_expression": "left",
            "foreach_statement": "after as",
            "catch_clause": "name",
            "static_variable_declaration": "name",
            "global_declaration": "all",
            "property_element": "name",
        },
        calls={
            "function_call_expression": "function",
            "member_call_expression": "name",
            "nullsafe_member_call_expression": "name",
            "scoped_call_expression": "name",
            "object_creation_expression": "after new",
        },
        qualified={"qualified_name": "last", "relative_name": "last"},
        names=frozenset({"variable_name"}),
        unpacked=frozenset({"list_literal", "pair", "by_ref"}),
        else_if=("if_statement", "else"),
    ),
    binders=frozenset({"variable_name"}),
    phrases=frozenset(
        "binary_expression assignment_expression function_call_expression member_call_expression "
        "scoped_call_expression object_creation_expression member_access_expression "
        "subscript_expression return_statement array_creation_expression".split()
    ),
    extensions=(".php", ".phtml", ".php5", ".inc"),
    skipped_folders=frozenset({"vendor"}),
    doc_comments=(DocComment("/**", "*/", r"\s*\*? ?"),),
)
