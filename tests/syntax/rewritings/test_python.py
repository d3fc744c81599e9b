"""The Python rewritings against `ast`: on nested expressions, and on the standard library."""

import ast
from itertools import combinations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from puzzlemark import plugins
from puzzlemark.snippet import Snippet, apply_edits
from puzzlemark.syntax.rewritings.base import Form, compose, load
from puzzlemark.syntax.tree import parse
from tests.syntax.rewritings.python_expressions import count, expressions, originally

NAMES = tuple(n for n in plugins.names("syntax.rewritings") if load(n).LANGUAGE == "python")
GROUPS = [group for size in (1, 2, 4) for group in combinations(NAMES, size)]


def rewrite(code: str, names: tuple[str, ...], form: Form = "original") -> str:
    tree = parse(Snippet("test", code, "python"))
    found = [each for name in names for each in load(name).find(tree, "paper")]
    return apply_edits(tree.code, compose(o for o in found if o.form == form)).decode()


@settings(max_examples=80)
@given(expressions(), st.sampled_from(GROUPS))
@example("print(f([], range(range(3)[0])))", NAMES)
@example("(f)([])(print())", NAMES)
def test_nested_rewritings_keep_what_the_code_says(expression: str, names: tuple[str, ...]) -> None:
    code = f"def f(n):\n    return {expression}\n"
    assert originally(rewrite(code, names), names) == originally(code, names)


@settings(max_examples=60)
@given(expressions(), st.sampled_from(NAMES))
@example("f(g(x)(f()))", "dunder_call")
@example("f(f((range(x))(x)))", "range_start")
def test_every_occurrence_is_rewritten_and_written_back(expression: str, name: str) -> None:
    code = f"x = {expression}\n"
    after = rewrite(code, (name,))
    assert rewrite(after, (name,)) == after
    tree = parse(Snippet("test", code, "python"))
    originals = [each for each in load(name).find(tree, "paper") if each.form == "original"]
    assert count(after, name) == count(code, name) + len(originals)
    back = rewrite(after, (name,), "equivalent")
    assert ast.dump(ast.parse(back)) == originally(code, (name,))


@pytest.mark.parametrize("names", [*((name,) for name in NAMES), NAMES], ids="+".join)
def test_the_standard_library_says_the_same_afterwards(
    names: tuple[str, ...], stdlib_functions: list[tuple[str, str]]
) -> None:
    changed = 0
    for _, code in stdlib_functions[::2]:
        after = rewrite(code, names)
        changed += after != code
        assert originally(after, names) == originally(code, names)
    assert changed > 3


def test_the_judge_notices_a_wrong_rewriting() -> None:
    assert originally("f(list())", NAMES) == originally("f([])", NAMES)
    assert originally("f(list(x))", NAMES) != originally("f([])", NAMES)
    assert originally("range(1, n)", NAMES) != originally("range(n)", NAMES)
    assert originally("f.__call__(x)", ("list_call",)) != originally("f(x)", ("list_call",))
