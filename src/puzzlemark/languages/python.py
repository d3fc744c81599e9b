"""Python."""

import builtins
import keyword

from puzzlemark.languages.base import Language, Measures

# Built-ins that see local variables by name: a function that mentions one is left alone.
FRAME_READERS = frozenset(
    "locals eval exec execfile globals vars dir ic nameof argname currentframe _getframe".split()
)
# `vars(x)` and `dir(x)` look into x; only without an argument do they look at the caller.
HARMLESS_WITH_ARGUMENTS = frozenset({"vars", "dir"})
# Attributes that reach a frame, or take a text that may name a local: df.query("a > @limit").
FRAME_ATTRIBUTES = frozenset(
    "_getframe currentframe getframeinfo getinnerframes getouterframes f_locals f_globals f_back "
    "tb_frame gi_frame cr_frame ag_frame walk_stack walk_tb "
    "co_varnames co_names co_cellvars co_freevars __code__ __closure__ "
    "query eval sql evaluate objmode dmatrix dmatrices from_formula ols glm mixedlm "
    "nameof argname varname".split()
)
# Attributes that reach a frame only as members of a module: inspect.stack, but not numpy.stack.
FRAME_MEMBERS = {"stack": "inspect", "trace": "inspect", "exec": "builtins"}

LANGUAGE = Language(
    name="python",
    aliases=frozenset({"py", "python2", "python3"}),
    extensions=(".py", ".pyi"),
    grammar="tree_sitter_python",
    convention="snake",
    functions=frozenset({"function_definition"}),
    reserved=frozenset({*keyword.kwlist, *keyword.softkwlist, *dir(builtins), "print", "exec"}),
    receivers=frozenset({"self", "cls", "mcs", "mcls", "metacls"}),
    measures=Measures(
        decisions=frozenset("if elif for while except case and or assert".split()),
        nesting=frozenset(
            "if_statement for_statement while_statement try_statement with_statement "
            "match_statement".split()
        ),
        expressions=frozenset(
            "assignment augmented_assignment named_expression call attribute subscript "
            "binary_operator unary_operator boolean_operator not_operator comparison_operator "
            "conditional_expression lambda await yield list set tuple dictionary expression_list "
            "list_comprehension set_comprehension dictionary_comprehension "
            "generator_expression".split()
        ),
        declares={
            "parameters": "all",
            "lambda_parameters": "all",
            "typed_parameter": "first",
            "default_parameter": "first",
            "typed_default_parameter": "first",
            "list_splat_pattern": "all",
            "dictionary_splat_pattern": "all",
            "assignment": "first",
            "named_expression": "first",
            "pattern_list": "all",
            "tuple_pattern": "all",
            "list_pattern": "all",
            "for_statement": "left",
            "for_in_clause": "left",
            "as_pattern": "last",
            "as_pattern_target": "all",
            "case_pattern": "last",
            "keyword_pattern": "last",
            "splat_pattern": "all",
        },
        calls={"call": "first"},
        qualified={"attribute": "last"},
        names=frozenset({"identifier", "dotted_name"}),
        unpacked=frozenset({"tuple", "list", "list_splat"}),
        comments=frozenset({"comment"}),
        layout=frozenset({"line_continuation"}),
        opaque=frozenset({"string", "pass_statement", "break_statement", "continue_statement"}),
    ),
    parameter_lists=frozenset({"parameters"}),
    blocks=frozenset({"block", "module"}),
    declaration=("{}, ", "{} = None"),
    optional=(frozenset({"default_parameter", "typed_default_parameter"}), "{}=None, "),
    docstring=("expression_statement", "string"),
)
