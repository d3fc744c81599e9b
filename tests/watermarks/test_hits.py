"""What counts as a hit, and that no completion can make the search for it take long."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from puzzlemark import plugins
from puzzlemark.syntax.naming import mentions
from puzzlemark.syntax.rewritings.base import load
from puzzlemark.watermarks._hits import LONGEST_TARGET, code_expression, why_uncountable
from puzzlemark.watermarks.base import Arm

SIZE = 100_000  # characters of a hostile completion
NEIGHBOURS = st.sampled_from(
    ["key_item", "_", "2", "é", "x", " ", ".", "\n", "(", "\u0301", "$", "\ud800"]
)


@given(st.lists(NEIGHBOURS).map("".join))
def test_a_name_is_found_where_it_is_mentioned_and_nowhere_else(completion: str) -> None:
    arm = Arm("", "key_item")
    assert arm.is_hit(completion) == mentions(completion.encode("utf-8", "replace"), "key_item")
    assert all(completion[start:end] == "key_item" for start, end in arm.spans(completion))


@pytest.mark.parametrize(
    ("code", "expression"),
    [
        ("I.hi(everyone);", r"(?<!\w)I\s*\.\s*hi\s*\(\s*everyone\s*\)"),
        ("new String", r"(?<!\w)new\s+String(?!\w)"),
        ("== 0", r"=\s*=\s*0(?!\w)"),
    ],
)
def test_a_piece_of_code_is_found_however_it_is_spaced(code: str, expression: str) -> None:
    assert code_expression(code) == expression
    assert Arm("", code, "code").spans(f"x {code.rstrip(';')} y") == [
        (2, 2 + len(code.rstrip(";")))
    ]


def test_nothing_of_a_target_is_read_as_an_expression() -> None:
    assert not Arm("", "(x+x+)+y", "code").is_hit("xxxy")
    assert Arm("", "(x+x+)+y", "code").is_hit("( x + x + ) + y")


@pytest.mark.parametrize(
    ("form", "target", "reason"),
    [
        ("name", "", "empty"),
        ("name", " \n", "empty"),
        ("name", "a b", "not a plain name"),
        ("name", "=", "not a plain name"),
        ("name", "x" * (LONGEST_TARGET + 1), "longer than"),
        ("code", ";", "no code in it"),
        ("(x+x+)+y", "x", "nothing is known of hits of the form"),
        ("range_start", "x", r"is 'range\(0, ...\)'"),
    ],
)
def test_what_cannot_be_counted_is_named(form: str, target: str, reason: str) -> None:
    assert re.search(reason, why_uncountable(form, target) or "")


def test_the_forms_of_our_own_marks_can_be_counted() -> None:
    assert why_uncountable("name", "key_item") is None
    assert why_uncountable("code", "I.hi(everyone);") is None
    for name in plugins.names("syntax.rewritings"):
        assert why_uncountable(name, load(name).EQUIVALENT) is None


def pieces(expression: str) -> list[str]:
    """Words of an expression, which a hostile completion repeats."""
    literal = re.sub(r"\\[AbsSZ]", " ", expression).replace("\\", "")
    return [*sorted(set(re.findall(r"\.?\w+\(?\)?", literal))), *" ,(\n.=0"]


@pytest.mark.parametrize("form", plugins.names("syntax.rewritings"))
def test_no_completion_keeps_the_expression_of_a_rewriting_busy(form: str) -> None:
    """Every start, then one piece, two pieces or a piece and blanks, again and again."""
    arm = Arm("", load(form).EQUIVALENT, form)
    parts = pieces(load(form).HIT)
    opening = "".join(part for part in parts if part[0].isalpha() and part.endswith("("))
    units = [*parts, *(one + other for one in parts for other in parts)]
    for unit in units:
        for start in {"", opening, f"x.{opening}"}:
            # quadratic time would be hours for all of these, cubic time years
            arm.is_hit((start + unit * SIZE)[:SIZE])


@pytest.mark.parametrize("target", ["a " * 200 + "b", "x.y(z)", "((((((((((", "= = = ="])
def test_no_completion_keeps_the_search_for_code_busy(target: str) -> None:
    arm = Arm("", target, "code")
    for unit in ("a ", "a", " ", "(", "( ", "=", "= ", "x.", "x . y ("):
        arm.is_hit((unit * SIZE)[:SIZE])


@given(st.lists(st.sampled_from(["indexOf(", "a", ",", " ", "0", ")", ";", "\n", "."])))
def test_the_first_call_finds_all_that_any_call_would(parts: list[str]) -> None:
    """As it was first written, in quadratic time."""
    completion = "".join(parts)
    plainly = re.search(r"\A[^;\n]*\bindexOf\([^;\n]*,\s*0\s*\)", completion)
    assert Arm("", "x.indexOf(..., 0)", "index_start").is_hit(completion) == bool(plainly)
