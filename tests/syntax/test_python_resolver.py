"""One test per hazard of renaming in Python: handled, or refused with its reason."""

import pytest

from puzzlemark.snippet import Snippet, apply_edits
from puzzlemark.syntax.rename import rename
from puzzlemark.syntax.resolvers import python
from puzzlemark.syntax.tree import Tree, parse
from puzzlemark.syntax.variables import Function, Variable, functions
from tests.oracles.python import compiles, difference


def tree_of(code: str) -> Tree:
    return parse(Snippet("it", code, "python"))


def function_of(code: str, index: int = 0) -> Function:
    return list(functions(tree_of(code)))[index]


def variable(code: str, name: str) -> Variable:
    return next(each for each in function_of(code).variables if each.name == name)


def names(code: str) -> list[str]:
    return [each.name for each in function_of(code).variables]


def renamed(code: str, name: str, new: str = "zq") -> str:
    """The code after a rename, approved by the oracle where it is Python 3 at all."""
    tree = tree_of(code)
    after = apply_edits(tree.code, rename(tree, function_of(code), {name: new}, "paper")).decode()
    assert difference(code, after) is None or not compiles(code)
    return after


# -- what is handled ------------------------------------------------------------------------------

HANDLED = {  # § stands where the variable x does
    "an attribute of the same name stays": """
def f(o, §):
    o.x = §
    return o.x.x(§)
""",
    "the label of a keyword argument stays": """
def f(§):
    return g(x=§, **h(x=1))
""",
    "a closure follows": """
def f(§):
    def g(y):
        return lambda: § + y
    return g
""",
    "a nested function's own parameter stays, and its default follows": """
def f(§):
    def g(x=§):
        return x
    return g
""",
    "a lambda's own parameter stays, and its default follows": """
def f(§):
    return lambda y, x=§, *a: x + y
""",
    "a default of the function itself is read outside": """
def f(§=x, *, y=x):
    return §
""",
    "a decorator of a nested function follows": """
def f(§):
    @§.wrap(§)
    def g():
        pass
    return g
""",
    "a comprehension's own variable and the function's are renamed together": """
def f(§):
    return [§ for § in § if §], §
""",
    "the clauses of a comprehension follow": """
def f(§):
    return {a: b for a in § for b in a if b in §}
""",
    "a generator in a call follows": """
def f(§):
    return sum(y * § for y in §)
""",
    "a walrus in a comprehension binds in the function": """
def f(a):
    return [§ for b in a if (§ := b)], §
""",
    "a walrus in a lambda is the lambda's": """
def f(§):
    return (lambda: (x := 1, x)), §
""",
    "fields of an f-string follow": """
def f(§, w):
    return f"{§!r:>{§}} {{x}} {w:=10}" "x{x}" rf"{§}\\d"
""",
    "quotes inside an f-string follow (Python 3.12)": """
def f(§):
    return f"{f"{§["x x"]}"}"
""",
    "del follows": """
def f():
    § = 1
    del §, (§[0])
""",
    "except-as follows": """
def f():
    try:
        g()
    except E as §:
        h(§)
""",
    "an exception group follows": """
def f():
    try:
        g()
    except* E as §:
        h(§)
""",
    "with targets follow": """
def f(a):
    with a as §, a as (b, §), (a):
        §.x = §
""",
    "async for and async with follow": """
async def f(a):
    async with a as §:
        async for § in §:
            await §
    return [y async for y in §]
""",
    "starred and nested targets follow": """
def f(a):
    (b, [c, *§]), d[§] = a
    for b, (c, §) in §:
        § += §
""",
    "star parameters follow": """
def f(*§, **k):
    return g(*§, **k)
""",
    "positional-only and keyword-only parameters follow": """
def f(a, /, b, *, §: int = 1) -> int:
    return a + b + §
""",
    "an annotated name follows, with a value or without": """
def f():
    §: int
    §: int = 1
    return §
""",
    "a captured name in match follows, an attribute's name does not": """
def f(a):
    match a:
        case P(x=§) | [P(x=§)] if §:
            return §
""",
    "match: as, star and the rest of a mapping follow": """
def f(a):
    match a:
        case [1, *§]:
            return §
        case {C.k: (1 | 2) as §}:
            return §
        case {"k": -1, **§}:
            return §
        case §:
            return §
""",
    "match: a value with a dot is read": """
def f(§, a):
    match a:
        case §.RED | §.B.C(1):
            return 1
""",
    "soft keywords may be variables": """
def f(match, §):
    match.x = §
    type = case = §
    return match(§), type
""",
    "a class body reads it, and its own names stay": """
def f(§):
    class C(§, metaclass=§):
        y = §
        def x_(self): return §
    return C
""",
    "a global in a class body does not reach its methods": """
def f(§):
    class C:
        global y
        def m(self): return §, y
    y = §
    return C
""",
    "a comment or a docstring stays": '''
def f(a):
    """Not x, x."""
    § = a  # x is a
    return §
''',
    "comments and line continuations between the parts change nothing": """
def f(§):
    return (§  # x
        .x  # x
        .y(x  # x
        = §)) + \\
  §
""",
    "carriage returns stay": "def f(§):\r\n    y = §\r\n    return y\r\n",
    "tabs and form feeds stay": "def f(§):\n\x0c\ty = §\n\treturn y\n",
    "a byte order mark stays": "\ufeffdef f(§):\n    return §",
    "letters beyond ASCII before an edit do not move it": """
def f(ä, §):
    s = "ééé 漢字 😀"; return s, §  # ü
""",
    "a print statement is read (Python 2)": """
def f(§):
    print >>§, "%s" % §, §
    print §
""",
    "except with a comma binds (Python 2)": """
def f():
    try:
        g()
    except (A, B), §:
        raise §, 1
""",
    "tuple parameters bind (Python 2)": """
def f(a, (b, §)):
    return lambda (c, d): § + c
""",
}


@pytest.mark.parametrize("case", HANDLED)
def test_handled(case: str) -> None:
    before, after = HANDLED[case].replace("§", "x"), HANDLED[case].replace("§", "zq")
    assert renamed(before, "x") == after


# -- what keeps one variable's name ---------------------------------------------------------------

KEPT = {
    "nonlocal": (
        "def f():\n    x = 0\n    def g():\n        nonlocal x\n        x += 1\n    return g",
        "declared nonlocal",
    ),
    "global in a nested function": (
        "def f(x):\n    def g():\n        global x\n        x = 1\n    return x, g",
        "the same name is also read from outside of the function",
    ),
    "a comprehension's variable read after it, which leaks in Python 2": (
        "def f(a):\n    b = [x for x in a]\n    return x",
        "the same name is also read from outside of the function",
    ),
    "a class body that binds it": (
        "def f():\n    x = 1\n    class C:\n        x = x\n    return x",
        "a class body binds the same name",
    ),
    "a string that spells it": (
        'def f(o, a):\n    x = o\n    return a["x"], x',
        "a string spells its name",
    ),
    "a byte string that spells it": (
        "def f(o, a):\n    x = o\n    return a[rb'''x'''], x",
        "a string spells its name",
    ),
    "an f-string that prints it": (
        'def f(x):\n    return f"{x = }"',
        "an f-string prints its name",
    ),
    "an f-string that prints an expression with it": (
        'def f(x):\n    return f"{g(x)+1=!r}"',
        "an f-string prints its name",
    ),
    "a format that prints it": (
        'def f(a, x):\n    return f"{a:{x=}}"',
        "an f-string prints its name",
    ),
    "a template string, which keeps its expressions": (
        'def f(x):\n    return t"{x}"',
        "an f-string prints its name",
    ),
    "an annotation": ("def f(a):\n    x = a\n    y: x = 1\n    return y", "an annotation names it"),
    "a string annotation": (
        'def f(a):\n    x = a\n    y: "List[x]" = 1\n    return y',
        "an annotation names it",
    ),
    "an annotation of a nested function": (
        "def f(x):\n    def g(a: x) -> None: pass\n    return g",
        "an annotation names it",
    ),
    "a type comment": (
        "def f(a):\n    x = a\n    y = []  # type: List[x]\n    return y",
        "a type comment names it",
    ),
    "a type comment of the signature": (
        "def f(a, x):  # type: (int, Any[x]) -> None\n    return x",
        "a type comment names it",
    ),
    "a private name, which a class would mangle": (
        "def f(__x):\n    return __x",
        "private name, mangled in a class",
    ),
    "a name beyond ASCII": ("def f(é):\n    return é", "name is not ASCII"),
    "a parameter in the docstring": (
        'def f(x):\n    """Square x."""\n    return x * x',
        "parameter named in the docstring",
    ),
    "a parameter in a recursive call": (
        "def f(x):\n    return f(x=x - 1)",
        "parameter passed by keyword in the snippet",
    ),
    "a parameter in a call of the overridden method": (
        "def f(self, x):\n    return super().f(x=x)",
        "parameter passed by keyword in the snippet",
    ),
    "a parameter in a partial application": (
        "def f(x):\n    return partial(f, 1, x=2)",
        "parameter passed by keyword in the snippet",
    ),
    "a parameter in a call elsewhere in the snippet": (
        "def f(x):\n    return x\n\ndef g():\n    return f(x=1)",
        "parameter passed by keyword in the snippet",
    ),
    "a parameter in a decorator's text": (
        '@app.route("/users/<int:x>")\ndef f(x):\n    return x',
        "parameter named in a decorator",
    ),
    "a parameter in a decorator's keyword": (
        "@given(x=integers())\ndef f(x):\n    return x",
        "parameter named in a decorator",
    ),
}


@pytest.mark.parametrize("case", KEPT)
def test_kept(case: str) -> None:
    code, reason = KEPT[case]
    kept = next(each for each in function_of(code).variables if each.name.strip("_") in ("x", "é"))
    assert kept.refusal("paper") == reason
    assert function_of(code).dynamic is None


# -- what is no variable at all -------------------------------------------------------------------

NO_VARIABLE = {
    "an import": "def f():\n    import x\n    return x",
    "the head of a dotted import": "def f():\n    import x.y\n    return x",
    "an import's alias": "def f():\n    from a import (b, c as x)\n    return x",
    "a name that an import binds as well": (
        "def f(a):\n    if a:\n        import x\n    else:\n        x = None\n    return x"
    ),
    "a nested function": "def f():\n    def x(): pass\n    return x",
    "a nested class": "def f():\n    class x: pass\n    return x",
    "a nested function's local": "def f():\n    def g():\n        x = 1\n    return g",
    "a lambda's parameter": "def f():\n    return lambda x: x",
    "a class attribute": "def f():\n    class C:\n        x = 1\n    return C",
    "a declared global": "def f(a):\n    global x\n    x = a",
    "a declared nonlocal": "def f(a):\n    nonlocal x\n    x = a",
    "a global that is read": "def f(a):\n    return x",
    "an attribute": "def f(a):\n    a.x = 1",
    "a keyword": "def f(a):\n    return a(x=1)",
    "a name in parentheses with an annotation alone": "def f():\n    (x): int\n    return x",
    "self": "def f(self, cls):\n    self.x = cls",
}


@pytest.mark.parametrize("case", NO_VARIABLE)
def test_no_variable(case: str) -> None:
    assert not {"x", "self", "cls"} & set(names(NO_VARIABLE[case]))


# -- what makes a function untouchable ------------------------------------------------------------

DYNAMIC = {
    "return locals()": "names are visible to locals()",
    'return "%(x)s" % vars()': "names are visible to vars()",
    "return dir()": "names are visible to dir()",
    'return eval("x + 1")': "names are visible to eval()",
    'exec("x = 1")': "names are visible to exec()",
    'exec "x = 1" in x': "exec statement",
    "return globals()": "names are visible to globals()",
    "return (lambda: locals())": "names are visible to locals()",
    "return sys._getframe(1)": "names are visible to ._getframe",
    "return inspect.currentframe()": "names are visible to .currentframe",
    "return inspect.stack()": "names are visible to .stack",
    "from inspect import currentframe as here": "names are visible to currentframe",
    "return f.__code__": "names are visible to .__code__",
    'return df.query("a > @x")': "names are visible to .query",
    'return pd.eval("x + 1")': "names are visible to .eval",
    'return ne.evaluate("x + 1")': "names are visible to .evaluate",
    'return duckdb.sql("from x")': "names are visible to .sql",
    'return dmatrix.dmatrices("y ~ x")': "names are visible to .dmatrices",
    "ic(x)": "names are visible to ic()",
    "return varname.nameof(x)": "names are visible to .nameof",
    "from os import *": "star import",
    "return `x`": "backquotes",
    "type X = int": "type statement",
    "def g[T](): pass": "type parameters",
    "class C[T]: pass": "type parameters",
    "return ﬁ": "two spellings of one name",
}


@pytest.mark.parametrize("line", DYNAMIC)
def test_dynamic(line: str) -> None:
    assert function_of(f"def f(x):\n    {line}\n").dynamic == DYNAMIC[line]


def test_a_function_with_type_parameters_is_left_alone() -> None:
    assert function_of("def f[T](x: T):\n    return x").dynamic == "type parameters"


@pytest.mark.parametrize(
    "line",
    ["return vars(x)", "return dir(x)", "return np.stack(x)", "return x.locals", "locals = x"],
)
def test_what_only_looks_dynamic_is_allowed(line: str) -> None:
    assert function_of(f"def f(x):\n    {line}\n").dynamic is None


# -- the function as a whole ----------------------------------------------------------------------


def test_a_variable_called_super_keeps_its_name() -> None:
    code = "class C:\n    def f(self, a):\n        for super in a:\n            g(super)\n"
    assert variable(code, "super").refusal("paper") == "the compiler looks for this name"
    assert difference(code, code.replace("super", "zq")) is not None


def test_variables_come_by_first_occurrence() -> None:
    code = "def f(b, a):\n    d, c = a\n    return [e for e in c], lambda z: d"
    assert names(code) == ["b", "a", "d", "c", "e"]


def test_a_variable_knows_every_place_of_its_binding() -> None:
    code = "def f(x):\n    y = x\n    return x.x(x=x)"
    assert variable(code, "x").starts == (6, 18, 31, 37)
    assert [code[start] for start in variable(code, "x").starts] == ["x"] * 4
    assert variable(code, "x").frequency == 4


def test_parameters_are_told_from_other_variables() -> None:
    code = "def f(a, *b, c: int = 1, **d):\n    e = a"
    assert {v.name: v.is_parameter for v in function_of(code).variables} == {
        "a": True, "b": True, "c": True, "d": True, "e": False,
    }  # fmt: skip


def test_a_nested_function_is_a_function_of_its_own() -> None:
    code = "def f(x):\n    def g(y):\n        z = y\n        return x\n    return g"
    assert [v.name for v in function_of(code, 1).variables] == ["y", "z"]


def test_an_expression_of_nine_hundred_terms_is_no_problem() -> None:
    code = "def f(x):\n    return " + " + ".join(["x"] * 900)
    assert variable(code, "x").frequency == 901


def test_a_target_in_nine_hundred_parentheses_is_no_problem() -> None:
    code = "def f(a):\n    " + "(" * 900 + "x" + ",)" * 900 + " = a\n    return x"
    assert variable(code, "x").frequency == 2


def test_the_article_a_in_a_docstring_is_not_the_parameter_a() -> None:
    assert (
        variable('def f(a):\n    """Build a list."""\n    return a', "a").refusal("paper") is None
    )


@pytest.mark.parametrize(
    "text", [":param a: it", "a: it", "`a` is it", "a (int): it", ">>> f(a=1)"]
)
def test_a_docstring_that_documents_the_parameter_a_keeps_it(text: str) -> None:
    code = f'def f(a):\n    """Build.\n\n    {text}\n    """\n    return a'
    assert variable(code, "a").refusal("paper") == "parameter named in the docstring"


# -- what policy safe keeps, because something may look for it ------------------------------------

STRING = "named in a string (policy safe)"
DOUBTS = {
    "a word in any string": ("x = 1\n    log('the x of it')", STRING),
    "a word after an escape": ("x = 1\n    log('a\\nx')", STRING),
    "an escaped letter": ("x = 1\n    log('a \\x78')", STRING),
    "an escaped letter by number": ("x = 1\n    log('a \\170')", STRING),
    "an escaped letter by name": ("x = 1\n    log('a \\N{LATIN SMALL LETTER X}')", STRING),
    "the text of an f-string": ("x = 1\n    log(f'the x of {it}')", STRING),
    "strings in a row": ("xy = 1; x = xy\n    log('the x' 'y of it', 'and x')", STRING),
    "bytes": ("x = 1\n    log(b'the x of it')", STRING),
    "a docstring of its own is no such string": ('"""The x."""\n    x = 1', None),
    "a raw string has no escapes": ("x = 1\n    log(r'a\\x78')", None),
    "a part of a word": ("x = 1\n    log('xs and x_')", None),
    "a comment": ("x = 1  # the x", None),
    "a text from elsewhere": (
        "x = 1\n    run.execute(a)",
        "a text from elsewhere may name it: execute()",
    ),
    "a text with fields": (
        "x = 1\n    execute(f'select {a}')",
        "a text from elsewhere may name it: execute()",
    ),
    "a text by keyword": ("x = 1\n    ols(formula=a)", "a text from elsewhere may name it: ols()"),
    "no text at all": ("x = 1\n    task.execute()", None),
    "a number, a list, a lambda": ("x = 1\n    poisson(3), logit([a]), execute(lambda: a)", None),
    "a text that names others": ("x = 1\n    execute('select 1 where ?', a)", None),
    "a class body": ("x = 1\n    class A:\n        y = x", "a class body reads it (policy safe)"),
    "a method of a class": ("x = 1\n    class A:\n        def g(self): return x", None),
}


@pytest.mark.parametrize(("body", "reason"), DOUBTS.values(), ids=DOUBTS)
def test_policy_safe_keeps_what_something_may_look_for(body: str, reason: str | None) -> None:
    found = variable(f"def f(a, it):\n    {body}\n    return a", "x")
    assert found.refusal("safe") == reason
    assert found.refusal("paper") is None


def test_policy_safe_keeps_what_a_decorator_names() -> None:
    code = "@locals(x=int)\ndef f(a):\n    x = y = a\n    return x"
    assert variable(code, "x").refusal("safe") == "named in a decorator (policy safe)"
    assert variable(code, "y").refusal("safe") is None


@pytest.mark.parametrize("reader", ["evaluate", "dmatrix", "sql", "execute", "o.execute", "sqldf"])
def test_a_text_that_something_reads_keeps_the_variables_it_names(reader: str) -> None:
    code = f"def f(a):\n    x = y = a\n    return {reader}('a * x')"
    assert variable(code, "x").refusal("paper") == (
        f"a text that {reader.rpartition('.')[2]}() reads names it"
    )
    assert variable(code, "y").refusal("safe") is None


@pytest.mark.parametrize("name", ["_A__x", "__A__x", "_a_b__c"])
def test_a_name_that_may_be_mangled_is_kept(name: str) -> None:
    found = variable(f"def f(a):\n    {name} = a\n    return {name}", name)
    assert found.refusal("paper") == "private name, mangled in a class"


@pytest.mark.parametrize(
    "call", ["vars(*a)", "dir(**a)", "stack()", "stack(1)", "builtins.x", "getclosurevars(a)"]
)
def test_what_sees_local_variables_leaves_nothing_to_rename(call: str) -> None:
    assert function_of(f"def f(a):\n    b = {call}").dynamic is not None


@pytest.mark.parametrize("call", ["vars(a)", "dir(a)", "stack(a)", "a.stack()", "stack([a], 1)"])
def test_what_only_looks_like_it_is_harmless(call: str) -> None:
    assert function_of(f"def f(a):\n    b = {call}").dynamic is None


def test_a_snippet_that_may_look_into_frames_is_told_by_a_part_of_the_word() -> None:
    for word in python._FRAME_WORDS:
        assert any(part in word for part in python._PARTS_OF_FRAME_WORDS), word
