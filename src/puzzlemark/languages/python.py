"""Python."""

import builtins
import keyword

from puzzlemark.languages.base import Language, Measures

# Names that see local variables: a function that mentions one, and does not bind it, is left alone.
FRAME_READERS = frozenset(
    "locals eval exec execfile globals vars dir builtins __builtins__ __builtin__ get_ipython "
    "currentframe _getframe _current_frames getframeinfo getinnerframes getouterframes "
    "getargvalues getclosurevars getgeneratorlocals getcoroutinelocals getasyncgenlocals "
    "walk_stack walk_tb re_evaluate register_globals SQLContext "
    "ic nameof argname varname dict_of unpack_keys unpack_attrs assigned_names "
    "args_with_source".split()
)
# `vars(x)` and `dir(x)` look into x; only without an argument do they look at the caller.
HARMLESS_WITH_ARGUMENTS = frozenset({"vars", "dir"})
# Attributes that reach a frame, or take a text that may name a local: df.query("a > @limit").
FRAME_ATTRIBUTES = frozenset(
    "_getframe _current_frames currentframe getframeinfo getinnerframes getouterframes "
    "getargvalues getclosurevars getgeneratorlocals getcoroutinelocals getasyncgenlocals "
    "f_locals f_globals f_back tb_frame gi_frame cr_frame ag_frame walk_stack walk_tb "
    "co_varnames co_names co_cellvars co_freevars __code__ __closure__ func_code func_closure "
    "query eval sql evaluate re_evaluate objmode dmatrix dmatrices from_formula ols glm mixedlm "
    "register_globals SQLContext nameof argname varname".split()
)
# Attributes that reach a frame only as members of a module: inspect.stack, but not numpy.stack.
# Called by their bare name they do so without an argument, or with a number.
FRAME_MEMBERS = {"stack": "inspect", "trace": "inspect", "exec": "builtins"}
# What is called so, by its bare name or as an attribute, may look the words of a text up among the
# caller's variables: numexpr, patsy, statsmodels, formulaic, duckdb, polars, pandas, pandasql,
# plotnine, cython.inline. docs/languages/python.md says what follows from it.
TEXT_READERS = frozenset(
    "query eval sql evaluate dmatrix dmatrices model_matrix from_formula "
    "ols wls gls glsar glm glmgam gee mixedlm rlm logit probit mnlogit poisson negativebinomial "
    "quantreg phreg feols fepois aes inline execute executemany executescript sqldf query_df "
    "from_query".split()
)

PLUGIN = Language(
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
