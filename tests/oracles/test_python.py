"""The oracle is itself on trial: it must accept right renames and reject every wrong one."""

import pytest

from tests.oracles.python import compiles, difference

Replacement = list[str]  # old, new
CLOSURES = """
def f(items, k):
    sq = [i * i for i in items]
    total = 0
    def add(n):
        nonlocal total
        total += n + k
        return lambda sq: (sq, total, items)
    return [add(n=x) for x in sq if x > k], f"{k:>{total}}"
"""
SHAPES = """
def f(a, b=1, *rest, key=None, **more):
    class Inner:
        c = a
        def method(self):
            return a, c
    with a as d, b as (e, g):
        del d
    try:
        e.d = g
    except ValueError as error:
        print(error)
    match e:
        case Point(x=px, y=[h, *tail]) as whole if px:
            return px, h, tail, whole
        case {"k": v, **others}:
            return v, others
    if (n := len(rest)) > 1:
        return n
    return [y for y in b if (last := y)], last, key, more, {y for y in a for z in y if z}
"""
RIGHT: dict[str, tuple[str, *tuple[Replacement, ...]]] = {
    "a captured local": (CLOSURES, ["sq = [", "zq = ["], ["in sq if", "in zq if"]),
    "a local that sorts elsewhere": (CLOSURES, ["i * i for i", "zz * zz for zz"]),
    "a parameter": (
        CLOSURES,
        ["items, k", "aa, k"],
        ["in items]", "in aa]"],
        ["total, items)", "total, aa)"],
    ),
    "a nonlocal in each scope": (
        CLOSURES,
        ["total = 0", "aa = 0"],
        ["nonlocal total\n        total", "nonlocal aa\n        aa"],
        ["(sq, total", "(sq, aa"],
        ["{total}", "{aa}"],
    ),
    "a lambda's own parameter": (CLOSURES, ["lambda sq: (sq", "lambda zq: (zq"]),
    "a comprehension's own variable": (SHAPES, ["for z in y if z}", "for w in y if w}"]),
    "a walrus in a comprehension": (SHAPES, ["last := y)], last", "zq := y)], zq"]),
    "an exception": (SHAPES, ["as error", "as zq"], ["print(error)", "print(zq)"]),
    "a capture": (SHAPES, ["x=px", "x=zq"], ["if px", "if zq"], ["return px", "return zq"]),
    "the rest of a mapping": (SHAPES, ["**others", "**zq"], ["v, others", "v, zq"]),
    "a keyword-only parameter": (SHAPES, ["*rest, key", "*rest, zq"], ["last, key", "last, zq"]),
    "nothing at all": (SHAPES,),
}
WRONG: dict[str, tuple[str, *tuple[Replacement, ...]]] = {
    "a missed occurrence": (CLOSURES, ["sq = [", "zq = ["]),
    "a missed occurrence in a closure": (CLOSURES, ["items, k", "aa, k"], ["in items]", "in aa]"]),
    "a missed nonlocal": (CLOSURES, ["total = 0", "aa = 0"], ["{total}", "{aa}"]),
    "a nonlocal renamed alone": (
        CLOSURES,
        ["nonlocal total\n        total", "nonlocal aa\n        aa"],
    ),
    "a missed f-string field": (
        CLOSURES,
        ["items, k", "items, zq"],
        ["n + k", "n + zq"],
        ["x > k", "x > zq"],
    ),
    "a missed field of a format": (
        CLOSURES,
        ["total = 0", "aa = 0"],
        ["nonlocal total\n        total", "nonlocal aa\n        aa"],
        ["(sq, total", "(sq, aa"],
    ),
    "a collision with a parameter": (CLOSURES, ["sq = [", "k = ["], ["in sq if", "in k if"]),
    "a collision with a captured name": (CLOSURES, ["i * i for i", "total * total for total"]),
    "a collision with a global": (CLOSURES, ["sq = [", "len = ["], ["in sq if", "in k if"]),
    "a keyword label": (CLOSURES, ["add(n=x)", "add(zq=x)"]),
    "another binding of the same spelling": (CLOSURES, ["lambda sq: (sq", "lambda zq: (sq"]),
    "text in a string": (CLOSURES, ['f"{k:>', 'f"zq{k:>']),
    "an attribute": (SHAPES, ["e.d", "e.zq"]),
    "a class attribute": (SHAPES, ["        c = a", "        zq = a"]),
    "a class attribute and a global": (
        SHAPES,
        ["        c = a", "        zq = a"],
        ["a, c", "a, zq"],
    ),
    "a class attribute's pattern": (SHAPES, ["(x=px", "(zq=px"]),
    "the comprehension's element only": (
        SHAPES,
        ["{y for y in a for z in y", "{zq for y in a for z in y"],
    ),
    "the comprehension's variable merged with another": (
        SHAPES,
        ["for z in y if z}", "for y in y if y}"],
    ),
    "a missed del": (SHAPES, ["as d,", "as zq,"]),
    "a missed exception": (SHAPES, ["as error", "as zq"]),
    "a missed capture": (SHAPES, ["*tail", "*zq"]),
    "a missed walrus": (SHAPES, ["n := len", "zq := len"]),
    "a walrus that meets the comprehension's variable": (
        SHAPES,
        ["last := y)], last", "zq := y)], last"],
    ),
    "a nested function's name": (CLOSURES, ["def add", "def zq"], ["[add(", "[zq("]),
    "a class's name": (SHAPES, ["class Inner", "class Zq"]),
    "a name that is not fresh": (SHAPES, ["as error", "as self"], ["print(error)", "print(self)"]),
    "a constant of another type": (SHAPES, ["> 1", "> True"]),
    "another operator": (SHAPES, ["> 1", ">= 1"]),
    "swapped parameters": (CLOSURES, ["items, k)", "k, items)"]),
    "a lost line": (SHAPES, ["        del d\n", "        pass\n"]),
    "a syntax error": (SHAPES, ["as error", "as 1"]),
}


def edited(source: str, *replacements: Replacement) -> str:
    for old, new in replacements:
        assert source.count(old) == 1, f"{old!r} stands {source.count(old)} times"
        source = source.replace(old, new)
    return source


@pytest.mark.parametrize("case", RIGHT)
def test_the_oracle_accepts(case: str) -> None:
    source, replacements = RIGHT[case][0], RIGHT[case][1:]
    assert difference(source, edited(source, *replacements)) is None


@pytest.mark.parametrize("case", WRONG)
def test_the_oracle_rejects(case: str) -> None:
    source, replacements = WRONG[case][0], WRONG[case][1:]
    assert difference(source, edited(source, *replacements)) is not None


@pytest.mark.parametrize("case", RIGHT)
def test_the_oracle_rejects_every_right_rename_that_forgets_one_place(case: str) -> None:
    source, replacements = RIGHT[case][0], RIGHT[case][1:]
    for missed in range(len(replacements)) if len(replacements) > 1 else ():
        others = [each for at, each in enumerate(replacements) if at != missed]
        assert difference(source, edited(source, *others)) is not None, replacements[missed]


def test_the_oracle_accepts_an_annotated_parameter_beside_a_lambda_that_keeps_its_own() -> None:
    before = "def f():\n    def g(x: int): return x\n    return g, lambda x: x\n"
    assert difference(before, before.replace("g(x: int): return x", "g(q: int): return q")) is None


def test_the_oracle_knows_that_a_function_called_top_is_not_the_module() -> None:
    assert (
        difference(
            "def top(x):\n    y = x\n    return y\n", "def top(x):\n    q = x\n    return q\n"
        )
        is None
    )


def test_python_2_does_not_compile() -> None:
    assert not compiles("print 1")
