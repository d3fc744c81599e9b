import random

import pytest

from puzzlemark.embedding.marking import first_mark
from puzzlemark.snippet import Snippet, apply_edits
from puzzlemark.syntax.naming import Joining
from puzzlemark.syntax.tree import parse
from puzzlemark.watermarks.base import (
    Introducing,
    Mark,
    Part,
    Probe,
    ProbeNames,
    Refusal,
    from_settings,
    to_settings,
)
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


CAMEL = "def f(optionalRelease, mandatoryRelease):\n    x = 1\n    return x\n"


@pytest.mark.parametrize(
    ("joining", "target"),
    [
        ("literal", "optionalRelease_mandatoryRelease"),
        ("own", "optionalReleaseMandatoryRelease"),
    ],
)
def test_names_are_joined_as_in_the_paper_or_as_they_are_spelled(
    joining: Joining, target: str
) -> None:
    tree = parse(Snippet("it", CAMEL, "python"))
    mark = first_mark(Universal(joining), tree, "safe", random.Random(0))
    assert isinstance(mark, Mark)
    assert mark.of("target").text == target


def test_a_question_joins_its_placeholder_as_the_mark_was_joined() -> None:
    watermark = Universal("own")
    mark = first_mark(watermark, parse(Snippet("it", CAMEL, "python")), "safe", random.Random(0))
    assert isinstance(mark, Mark)
    marked = apply_edits(CAMEL.encode(), mark.edits).decode()
    names = ProbeNames(random.Random(0))
    probe = watermark.probe(parse(Snippet("it", marked, "python")), mark, names)
    assert isinstance(probe, Probe)
    (target,) = probe.armed.targets.values()
    assert target.startswith("optionalRelease")
    assert not target.startswith("optionalRelease_")


def test_a_name_that_repeats_itself_is_refused_where_names_must_please() -> None:
    tree = parse(Snippet("it", "def f(key, key_x):\n    y = 1\n    return y\n", "python"))
    refusal = first_mark(Universal("own"), tree, "safe", random.Random(0))
    assert refusal == Refusal("the joined name repeats itself")


def test_only_what_differs_from_the_paper_is_written_into_a_manifest() -> None:
    assert to_settings(Universal()) == {}
    assert to_settings(Universal("own")) == {"joining": "own"}
    assert from_settings("universal", {"joining": "own"}) == Universal("own")
