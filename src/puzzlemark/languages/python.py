"""Python."""

import builtins
import io
import keyword
import tokenize
from itertools import accumulate

from puzzlemark.errors import UnparsableSnippet
from puzzlemark.languages._pools import PYTHON
from puzzlemark.languages.base import (
    Docstring,
    Grammar,
    Language,
    Lexing,
    Measures,
    Tokens,
    name_sets,
)

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

# Sets of local names that people use alike; docs/watermarks/synonyms.md says which were left out.
# A member stands in at least some 5 % of the places of its set, counted in CodeSearchNet.
SYNONYMS = """
result res ret output out | i idx index | val value v | key k | item element entry elem
e exc err error ex | msg message | text txt | resp response | req request | cfg config conf
ctx context | num count cnt | filename fname file_name | filepath file_path fpath | f fh fp
content contents | tmp temp | instance inst | func fn | callback cb | current curr | prev previous
arr array | url uri | cmd command | pos position | loc location | addr address | doc document
img image | src source | dest dst | attr attribute | attrs attributes | sess session
directory folder | desc description | opts options | items elements entries | values vals
indices idxs inds | ts timestamp | proc process | meta metadata | orig original | ch char
col column | cols columns | mat matrix | filenames fnames | buf buffer | group grp
expr expression | stmt statement | ref reference | rec record | dist distance | pkg package
mod module | ext extension | seq sequence | lineno line_number line_num | freq frequency
coords coordinates | sig signature | prob probability | tok token | retval rv | var variable
temp_dir tmpdir tmp_dir | new_val new_value | max_val max_value | outfile out_file output_file
infile in_file input_file | basename base_name
"""


def decode(content: bytes) -> str:
    """A file's text, by its byte order mark or coding cookie (PEP 263), else as UTF-8."""
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
        return content.decode(encoding)
    except UnicodeDecodeError as exc:
        raise ValueError(f"not valid {exc.encoding}") from exc
    except (SyntaxError, LookupError) as exc:
        raise ValueError("unknown or contradictory encoding") from exc


def strip_comments(code: str) -> str:
    """Drop comments, and strings that open a line of code or stand in the first column."""
    lines = io.StringIO(code).readlines()
    starts = list(accumulate(map(len, lines), initial=0))
    kept: list[str] = []
    at, before = 0, tokenize.INDENT
    try:
        for token in tokenize.generate_tokens(iter([*lines, ""]).__next__):
            opens = before in (tokenize.INDENT, tokenize.NEWLINE) or token.start[1] == 0
            if token.type == tokenize.COMMENT or (token.type == tokenize.STRING and opens):
                kept.append(code[at : starts[token.start[0] - 1] + token.start[1]])
                at = starts[token.end[0] - 1] + token.end[1]
            before = token.type
    except (tokenize.TokenError, SyntaxError, StopIteration) as exc:
        raise UnparsableSnippet("cannot be split into tokens") from exc
    return "".join((*kept, code[at:]))


PLUGIN = Language(
    name="python",
    title="Python",
    aliases=frozenset({"py", "python2", "python3"}),
    grammar=Grammar("tree_sitter_python"),
    example="""\
def total(prices, rate=1):
    \"\"\"The sum of all prices.\"\"\"
    count = 0  # so far
    for price in prices:
        if price > 0:
            count += price * rate
    print("total", count)
    return count
""",
    convention="snake",
    reserved=frozenset({*keyword.kwlist, *keyword.softkwlist, *dir(builtins), "print", "exec"}),
    receivers=frozenset({"self", "cls", "mcs", "mcls", "metacls"}),
    synonyms=name_sets(SYNONYMS),
    synonyms_version=1,
    pool=PYTHON,
    pool_version=1,
    tokens=Tokens(
        comments=frozenset({"comment"}),
        strings=frozenset({"string"}),
        numbers=frozenset({"integer", "float"}),
        opaque=frozenset({"string", "pass_statement", "break_statement", "continue_statement"}),
        layout=frozenset({"line_continuation"}),
    ),
    lexing=Lexing(
        line_comments=("#",),
        long_quotes=('"""', "'''"),
        prefixes="rRuUbBfF",
        strip=strip_comments,
    ),
    functions=frozenset({"function_definition"}),
    classes=frozenset({"class_definition"}),
    attached=frozenset({"decorator"}),
    parameter_lists=frozenset({"parameters"}),
    last_parameters=frozenset({"dictionary_splat_pattern"}),
    optional=(frozenset({"default_parameter", "typed_default_parameter"}), "{}=None, "),
    blocks=frozenset({"block", "module"}),
    joint="; ",
    told_apart=frozenset({"assignment", "string"}),
    declaration=("{}, ", "{} = None"),
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
    ),
    binders=frozenset({"assignment", "argument_list"}),
    phrases=frozenset(
        "binary_operator comparison_operator call subscript expression_statement "
        "return_statement attribute keyword_argument".split()
    ),
    extensions=(".py", ".pyi"),
    formatter="ruff",
    decode=decode,
    docstring=Docstring(
        "expression_statement",
        "string",
        r"""[uUrR]{0,2}(?P<quote>"{3}|'{3}|"|')(?P<text>(?s:.*))(?P=quote)""",
    ),
)
