"""Java."""

from puzzlemark.languages._pools import JAVA
from puzzlemark.languages.base import (
    DocComment,
    Grammar,
    Language,
    Lexing,
    Measures,
    Tokens,
    name_sets,
)

# How the resolver reads a body. A node type that is in no table here is not read at all: a variable
# that is mentioned in one keeps its name.
SCOPES = frozenset("block constructor_body for_statement switch_block".split())
# an identifier directly inside one of these is a variable, a field, or what begins a dotted name
TRANSPARENT = frozenset(
    "expression_statement local_variable_declaration if_statement while_statement do_statement "
    "return_statement throw_statement yield_statement assert_statement synchronized_statement "
    "try_statement finally_clause resource_specification switch_expression switch_rule "
    "switch_block_statement_group pattern guard explicit_constructor_invocation argument_list "
    "parenthesized_expression binary_expression unary_expression update_expression "
    "assignment_expression ternary_expression array_access array_creation_expression "
    "dimensions_expr array_initializer object_creation_expression".split()
)
MEMBERS = frozenset("method_invocation field_access method_reference".split())
# where an identifier is the name of a member, not of a variable
NAME_FIELDS = {
    "method_invocation": "name",
    "field_access": "field",
    "method_declaration": "name",
    "element_value_pair": "key",
}
COMMENTS = frozenset({"line_comment", "block_comment"})
# comments that hold code which some tool compiles: GWT, J2ObjC, and preprocessors for Java
CODE_COMMENTS = ("/*-{", "/*-[", "//#", "/*#", "/*$")
STRINGS = frozenset({"string_literal", "character_literal"})
ANNOTATIONS = frozenset({"annotation", "marker_annotation"})
CLASS_BODIES = frozenset(
    "class_body interface_body enum_body annotation_type_body class_declaration record_declaration "
    "enum_declaration interface_declaration annotation_type_declaration".split()
)
# Annotations that never give the names of parameters a meaning. Any other may: a web framework
# binds them to a request, Lombok's @Builder makes methods of them.
INERT_ANNOTATIONS = frozenset(
    "Override Deprecated SuppressWarnings SafeVarargs Generated Nullable NonNull Nonnull NotNull "
    "CheckForNull NullableDecl NonNullDecl Nonnegative Nonempty CheckReturnValue "
    "CanIgnoreReturnValue SchedulerSupport BackpressureSupport Beta Internal PublicEvolving "
    "Experimental VisibleForTesting GwtIncompatible GwtCompatible SuppressFBWarnings TargetApi "
    "GuardedBy ThreadSafe Test".split()
)
# Sets of local names that people use alike, whatever the type; see docs/watermarks/synonyms.md.
SYNONYMS = """
result res ret | i idx index | val value v | key k | item element elem | e ex exception
msg message | str string | req request | cfg config conf configuration | ctx context | count cnt
fileName filename | tmp temp | current cur curr | prev previous | arr array | cmd command
pos position | loc location | addr address | doc document | img image | src source
dest dst destination | attr attribute att | attrs attributes | param parameter | params parameters
prop property | props properties | conn connection | dir directory folder | desc description
values vals | ts timestamp | meta metadata | orig original | col column | cols columns
buf buffer buff | it iter iterator | clazz cls klass | len length | is inputStream
os outputStream | obj object | expr expression | stmt statement | rs resultSet | ref reference
fld field | ext extension | tok token | ctor constructor
"""

PLUGIN = Language(
    name="java",
    title="Java",
    grammar=Grammar("tree_sitter_java"),
    wrapper=(b"class X {", b"\n}"),
    example="""\
/** The sum of all prices. */
int total(int[] prices) {
    int count = 0; // so far
    for (int price : prices) {
        if (price > 0) {
            count += price;
        }
    }
    System.out.println("total" + count);
    return count;
}
""",
    convention="camel",
    reserved=frozenset(
        "abstract assert boolean break byte case catch char class const continue default do double "
        "else enum extends final finally float for goto if implements import instanceof int "
        "interface long native new package private protected public return short static strictfp "
        "super switch synchronized this throw throws transient try void volatile while true false "
        "null var yield record sealed permits non when module open opens exports requires uses "
        "provides to with transitive".split()
    ),
    receivers=frozenset({"this"}),
    synonyms=name_sets(SYNONYMS),
    synonyms_version=1,
    pool=JAVA,
    pool_version=1,
    tokens=Tokens(
        comments=COMMENTS,
        strings=STRINGS,
        numbers=frozenset({"decimal_integer_literal", "decimal_floating_point_literal"}),
        opaque=STRINGS | frozenset({"type_identifier", "integral_type", "floating_point_type"}),
    ),
    lexing=Lexing(line_comments=("//",), block_comments=(("/*", "*/"),)),
    code_comments=CODE_COMMENTS,
    functions=frozenset({"method_declaration", "constructor_declaration"}),
    classes=frozenset(
        "class_declaration interface_declaration enum_declaration record_declaration "
        "annotation_type_declaration".split()
    ),
    attached=ANNOTATIONS,
    parameter_lists=frozenset({"formal_parameters"}),
    last_parameters=frozenset({"spread_parameter"}),
    blocks=frozenset({"block", "constructor_body", "switch_block_statement_group"}),
    openings=frozenset({"explicit_constructor_invocation"}),
    declaration=("Object {}, ", "Object {} = null;"),
    measures=Measures(
        decisions=frozenset("if for while case when catch && || ternary_expression assert".split()),
        nesting=frozenset(
            "if_statement for_statement enhanced_for_statement while_statement do_statement "
            "try_statement try_with_resources_statement switch_expression "
            "synchronized_statement".split()
        ),
        expressions=frozenset(
            "assignment_expression update_expression method_invocation object_creation_expression "
            "field_access array_access array_creation_expression array_initializer "
            "binary_expression unary_expression instanceof_expression ternary_expression "
            "cast_expression lambda_expression method_reference class_literal "
            "template_expression".split()
        ),
        declares={
            "formal_parameter": "name",
            "catch_formal_parameter": "name",
            "inferred_parameters": "all",
            "lambda_expression": "first",
            "variable_declarator": "first",
            "enhanced_for_statement": "name",
            "resource": "name",
            "instanceof_expression": "name",
            "type_pattern": "last",
            "record_pattern_component": "last",
        },
        calls={"method_invocation": "name", "object_creation_expression": "type"},
        qualified={"scoped_type_identifier": "last", "generic_type": "first"},
        names=frozenset({"identifier"}),
        else_if=("if_statement", "else"),
    ),
    binders=frozenset({"variable_declarator", "formal_parameter", "enhanced_for_statement"}),
    phrases=frozenset(
        "binary_expression assignment_expression method_invocation "
        "local_variable_declaration return_statement object_creation_expression "
        "field_access array_creation_expression".split()
    ),
    extensions=(".java",),
    formatter="prettier",
    doc_comments=(DocComment("/**", "*/", r"\s*\*? ?"),),
)
