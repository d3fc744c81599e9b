import random

import pytest

from puzzlemark.embedding.marking import first_mark
from puzzlemark.snippet import Snippet, apply_edits
from puzzlemark.syntax.tree import parse
from puzzlemark.watermarks.base import Introducing, Mark, Part, Refusal
from puzzlemark.watermarks.fixed_prefix import FixedPrefix
from puzzlemark.watermarks.universal import Universal


def plan(code: str) -> Mark | Refusal:
    return first_mark(Universal(), parse(Snippet("it", code, "python")), "paper", random.Random(0))


def test_the_first_two_variables_are_prefix_and_suffix() -> None:
    outcome = plan("def f(self, path, mode):\n    x = open(path, mode)\n    return x")
    assert isinstance(outcome, Mark)
    assert outcome.parts == (
        Part("prefix", "path"),
        Part("suffix", "mode"),
        Part("target", "path_mode", was="x"),
    )
    assert outcome.is_natural


def test_names_that_are_only_underscores_or_beyond_ascii_take_no_part() -> None:
    code = "def f(_, é, a, b, c):\n    return c"
    outcome = plan(code)
    assert isinstance(outcome, Mark)
    assert (
        apply_edits(code.encode(), outcome.edits).decode()
        == "def f(_, é, a, b, a_b):\n    return a_b"
    )


@pytest.mark.parametrize("code", ["def f(): pass", "def f(_): pass", "def f(a, b): pass"])
def test_fewer_than_three_variables_are_refused(code: str) -> None:
    assert plan(code) == Refusal("fewer than two variables after the prefix")


def test_every_snippet_may_carry() -> None:
    assert Universal().may_occur(b"")


def test_there_is_nothing_to_introduce() -> None:
    assert not isinstance(Universal(), Introducing)
    assert isinstance(FixedPrefix("key"), Introducing)
