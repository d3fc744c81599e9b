"""Code that was made to break its readers: refused with a reason, never a crash, never a hang."""

import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import orjson
import pytest

import puzzlemark as pm
from puzzlemark.embedding.marking import first_mark
from puzzlemark.errors import UnparsableSnippet
from puzzlemark.features.measure import measure
from puzzlemark.harvesting.functions import Collected, Origin, Wanted, collect
from puzzlemark.snippet import Snippet
from puzzlemark.syntax.tree import DEEPEST, TOO_DEEP, have_same_shape, parse
from puzzlemark.syntax.variables import MOST_VARIABLES, TOO_MANY, functions
from puzzlemark.watermarks.base import Mark, Refusal, named

N = 30_000  # 12,000 were enough to end the process, when trees were compared as text


def python(statement: str) -> str:
    return f"def f(q):\n    {statement}\n"


def java(statement: str) -> str:
    return f"class A {{ void f(int q) {{ {statement} }} }}"


PYTHON = {
    "brackets": python("x = " + "[" * 100_000 + "]" * 100_000),
    "parentheses": python("x = " + "(" * N + "1" + ")" * N),
    "dictionaries": python("x = " + "{1:" * N + "1" + "}" * N),
    "calls": python("x = " + "f(" * N + ")" * N),
    "calls of calls": python("x = f" + "()" * N),
    "attributes": python("x = a" + ".b" * N),
    "subscripts": python("x = a" + "[0]" * N),
    "sum": python("x = 1" + " + 1" * N),
    "power": python("x = 1" + "**1" * N),
    "and": python("x = a" + " and a" * N),
    "not": python("x = " + "not " * N + "1"),
    "minus": python("x = " + "-" * N + "1"),
    "lambdas": python("x = " + "lambda a: " * N + "1"),
    "comprehensions": python("x = " + "[a for a in " * N + "q" + "]" * N),
    "conditionals": python("x = " + "1 if q else " * N + "1"),
    "targets": python("for " + "(" * N + "x" + ",)" * N + " in q: pass"),
    "with": python("with q as " + "(" * N + "x" + ",)" * N + ": pass"),
    "annotations": python("x: " + "a[" * N + "b" + "]" * N + " = 1"),
    "patterns": python("match q:\n        case " + "[" * N + "x" + "]" * N + ": pass"),
}
JAVA = {
    "parentheses": java("int x = " + "(" * N + "1" + ")" * N + ";"),
    "blocks": java("{" * N + "}" * N),
    "generics": java("A<" * N + "A" + ">" * N + " x;"),
    "ternaries": java("int x = " + "a ? b : " * N + "c;"),
    "concatenation": java('String x = "a"' + ' + "a"' * 50_000 + ";"),
    "lambdas": java("R x = " + "() -> " * N + "1;"),
    "casts": java("int x = " + "(a) " * N + "1;"),
    "calls": java("a" + ".b()" * N + ";"),
    "comparisons": java("x = a" + " < a" * N + ";"),
    "ifs": java("if (q) " * N + ";"),
    "else ifs": java("if (q) ; else " * N + ";"),
    "anonymous classes": java("new A() { void f() { " * 20_000 + "} };" * 20_000),
    "annotations": java("@A(" * N + ")" * N + " int x;"),
    "initializers": java("int[] x = " + "{" * N + "}" * N + ";"),
    "a method alone": "void f(int q) { int x = " + "(" * N + "1" + ")" * N + "; }",
}
DEEP = [
    *(pytest.param("python", code, id=f"python {name}") for name, code in PYTHON.items()),
    *(pytest.param("java", code, id=f"java {name}") for name, code in JAVA.items()),
]


@pytest.mark.parametrize(("language", "code"), DEEP)
def test_code_that_nests_too_deeply_is_refused_with_a_reason(language: str, code: str) -> None:
    with pytest.raises(UnparsableSnippet, match=r"^nested too deeply \(more than 1000 levels\)$"):
        parse(Snippet("it", code, language))


@pytest.mark.parametrize(
    "code",
    [
        "def f(q):\n" + "".join(" " * n + "if q:\n" for n in range(1, 2000)) + " " * 2000 + "x\n",
        python("x = " + 'f"{' * N + "q" + '}"' * N),
        python("x = " + "[{(" * N),
        python("x = " + ")" * N),
        python("f(" * N + '"'),
    ],
    ids=["ifs", "f-strings", "opened only", "closed only", "a quote"],
)
def test_what_the_parser_itself_gives_up_on_is_refused(code: str) -> None:
    with pytest.raises(UnparsableSnippet, match=r"^syntax errors$"):
        parse(Snippet("it", code, "python"))


def test_the_limit_is_exact() -> None:
    # module, expression_statement, and so many lists; the brackets stand one level below
    deepest = DEEPEST - 3
    assert parse(Snippet("it", "[" * deepest + "]" * deepest, "python"))
    with pytest.raises(UnparsableSnippet):
        parse(Snippet("it", "[" * (deepest + 1) + "]" * (deepest + 1), "python"))


def test_a_wide_tree_is_not_a_deep_one() -> None:
    assert parse(Snippet("it", "x = [" + "[1], " * N + "]", "python"))


ALLOWED = {
    "python": "def f(key, q):\n    value = [1]\n    third = "
    + "lambda a: " * 300
    + f"g({'[' * 300}[], list(), range(3), third{']' * 300})\n    with q as {'(' * 300}x"
    + ",)" * 300
    + f":\n        print(third{'.b' * 900})\n    return x, third\n",
    "java": "boolean f(String key, List<List<A>> q) { int value = 1; String third = key"
    + ' + "a"' * 900
    + f"; if (third != null) g({'(' * 900}q{')' * 900}.isEmpty(), q{'.get(0)' * 900}.isEmpty());"
    + f"return this{'.a()' * 900}.indexOf(third{'.trim()' * 900}) > 0; }}",
}


@contextmanager
def little_recursion() -> Iterator[None]:
    """What recurses once a level fails long before the deepest level that is allowed."""
    before, depth, frame = sys.getrecursionlimit(), 0, sys._getframe()
    while frame.f_back is not None:
        depth, frame = depth + 1, frame.f_back
    sys.setrecursionlimit(depth + 250)
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


@pytest.mark.parametrize("language", ["python", "java"])
def test_code_that_nests_as_deeply_as_is_allowed_is_read_without_recursion(language: str) -> None:
    tree = parse(Snippet("it", ALLOWED[language], language))
    marks = [each.watermark for each in named().values() if each.language == language]
    for mark in marks:
        first_mark(mark, tree, "paper", random.Random(0))  # loads what it needs
    with little_recursion():
        measured = measure(tree)
        planned = [first_mark(mark, tree, "paper", random.Random(0)) for mark in marks]
    assert measured[4] > 900  # mdt, the depth of the tree
    assert any(isinstance(each, Mark) and each.edits for each in planned)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("x = a + b", "x = c + d", True),
        ("x = a + b", "x = a - b", False),  # `str(node)` does not show the operator
        ("x = a + b", "x = a + 1", False),
        ("f(a)(b)", "f(a, b)", False),
        ("f(a)\ng(b)", "f(a)", False),
        ("[[], []]", "[[[]]]", False),
        ("if a: b", "if a: b\nelse: c", False),
    ],
)
def test_trees_have_the_same_shape_or_not(one: str, other: str, same: bool) -> None:
    left, right = (parse(Snippet("it", code, "python")).root for code in (one, other))
    assert have_same_shape(left, right) is same
    assert have_same_shape(right, left) is same


MANY = {
    "python": "def f(a):\n" + "".join(f"    x{n} = a\n" for n in range(20_000)),
    "java": "void f(int a) {" + "".join(f"int x{n} = a;\n" for n in range(20_000)) + "}",
}


@pytest.mark.parametrize("language", ["python", "java"])
def test_a_function_with_absurdly_many_variables_is_refused_with_a_reason(language: str) -> None:
    tree = parse(Snippet("it", MANY[language], language))
    (function,) = functions(tree)
    assert function.dynamic == TOO_MANY == "more than 10000 variables in a function"
    mark = first_mark(named()["U1"].watermark, tree, "safe", random.Random(0))
    assert mark == Refusal(TOO_MANY)


def test_ten_thousand_variables_are_not_too_many() -> None:
    code = "def f():\n" + "".join(f"    x{n} = 1\n" for n in range(MOST_VARIABLES))
    tree = parse(Snippet("it", code, "python"))
    assert isinstance(first_mark(named()["U1"].watermark, tree, "safe", random.Random(0)), Mark)


ORDINARY = """def f{0}(first, second):
    third = first + second
    fourth = third * {0}
    return fourth - third
"""


def test_embed_counts_hostile_records_and_marks_the_others(tmp_path: Path) -> None:
    codes = [*PYTHON.values(), MANY["python"], *(ORDINARY.format(n) for n in range(20))]
    records = ({"id": f"f{n}", "language": "python", "code": code} for n, code in enumerate(codes))
    source = tmp_path / "in.jsonl"
    source.write_bytes(b"".join(orjson.dumps(record) + b"\n" for record in records))
    summary = pm.embed(
        source, tmp_path / "out.jsonl", mark="U1", policy="safe", tau=0, min_rate=1, max_rate=1
    )
    assert summary.kept == {TOO_DEEP: len(PYTHON), TOO_MANY: 1}
    assert summary.marked == 20


def test_harvest_counts_a_file_that_nests_too_deeply() -> None:
    collected = Collected()
    collect("a.py", PYTHON["brackets"].encode(), Wanted("python"), Origin("shelf"), collected)
    assert collected.skipped_files == {TOO_DEEP: 1}
