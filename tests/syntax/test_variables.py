import pytest

from puzzlemark.snippet import Snippet
from puzzlemark.syntax.tree import parse
from puzzlemark.syntax.variables import Variable, functions, names_a_parameter

CODE = """
import os

class A:
    def first(self):
        def inner(): pass
        return lambda: inner

async def second(): pass
"""


def test_functions_come_in_document_order_an_outer_one_first() -> None:
    found = list(functions(parse(Snippet("it", CODE, "python"))))
    assert [each.name for each in found] == ["first", "inner", "second"]
    assert [each.index for each in found] == [0, 1, 2]


def test_code_without_a_function_has_none() -> None:
    assert list(functions(parse(Snippet("it", "x = 1", "python")))) == []


def test_policy_paper_refuses_what_is_fixed_only() -> None:
    assert Variable("x", (0,), is_parameter=True).refusal("paper") is None
    assert Variable("x", (0,), is_parameter=False, fixed="why").refusal("paper") == "why"


def test_policy_safe_refuses_parameters_as_well() -> None:
    assert Variable("x", (0,), is_parameter=True).refusal("safe") == "parameter (policy safe)"
    assert Variable("x", (0,), is_parameter=False).refusal("safe") is None
    assert Variable("x", (0,), is_parameter=True, fixed="why").refusal("safe") == "why"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Sort the rows.", "rows"),
        (":param rows: them", "rows"),
        ("rows_and, rows", "rows"),
        ("@param a the first", "a"),
        ("`a` is it", "a"),
        ("    a: it", "a"),
        ("f(a=1)", "a"),
        ("I - it", "I"),
        ("the $x", "x"),
        ("the $x", "$x"),
    ],
)
def test_a_text_speaks_of_a_parameter(text: str, name: str) -> None:
    assert names_a_parameter(text, name)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("", "rows"),
        ("Sort the arrows.", "rows"),
        ("rows_and", "rows"),
        ("This is a test, a==b.", "a"),
        ("I think", "I"),
    ],
)
def test_a_text_does_not_speak_of_a_parameter(text: str, name: str) -> None:
    assert not names_a_parameter(text, name)
