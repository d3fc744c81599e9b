import random

import pytest

from puzzlemark.embedding.marking import first_mark
from puzzlemark.errors import UsageError
from puzzlemark.snippet import Snippet, apply_edits
from puzzlemark.syntax.tree import parse
from puzzlemark.syntax.variables import Policy
from puzzlemark.watermarks.base import Mark, Part, Refusal
from puzzlemark.watermarks.fixed_prefix import FixedPrefix

KEY = FixedPrefix("key")


def plan(code: str, policy: Policy = "paper") -> Mark | Refusal:
    return first_mark(KEY, parse(Snippet("it", code, "python")), policy, random.Random(0))


def introduce(code: str, policy: Policy = "paper") -> Mark | Refusal:
    tree = parse(Snippet("it", code, "python"))
    return first_mark(KEY, tree, policy, random.Random(0), introduce=True)


def after(code: str, outcome: Mark | Refusal) -> str:
    assert isinstance(outcome, Mark), outcome
    return apply_edits(code.encode(), outcome.edits).decode()


@pytest.mark.parametrize("prefix", ["", "_", "1", "a b", "é", "__key", "key-1"])
def test_a_prefix_must_be_a_plain_name(prefix: str) -> None:
    with pytest.raises(UsageError, match="plain variable name"):
        FixedPrefix(prefix)


def test_the_prefix_may_occur_only_as_a_word() -> None:
    assert KEY.may_occur(b"for key in x: pass")
    assert not KEY.may_occur(b"keys monkey key_ KEY")


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("x = 1", "no function in the snippet"),
        ("def f(a, b, c): pass", "no variable is named like the prefix"),
        ("def f(o, a, b):\n    return o.key(key=1)", "no variable is named like the prefix"),
        ("def f():\n    import key\n    a = b = key", "no variable is named like the prefix"),
        ("def f(a, b, key, c): pass", "fewer than two variables after the prefix"),
        ("def f(key, a, _, ö): pass", "fewer than two variables after the prefix"),
        ("def f(key, a, b):\n    return b.key_a", "the target's name stands elsewhere"),
        ("def f(key_a, key, a, b): pass", "the target's name stands elsewhere"),
        ("def f(key, a, b): pass  # key_a", "the target's name stands elsewhere"),
        ("def f(key, a, b):\n    return b['b']", "no variable after the suffix may be renamed"),
        ("def f(key, a, b):\n    return locals()", "names are visible to locals()"),
    ],
)
def test_a_snippet_is_refused_with_a_reason(code: str, reason: str) -> None:
    outcome = plan(code)
    assert isinstance(outcome, Refusal)
    assert outcome.reason.startswith(reason)


def test_the_reason_of_the_first_function_with_the_prefix_is_told() -> None:
    outcome = plan("def f(a): pass\ndef g(key): pass\ndef h(key, a, b):\n    return locals()")
    assert outcome == Refusal("fewer than two variables after the prefix")


def test_prefix_and_suffix_may_be_names_that_must_be_kept() -> None:
    code = "def f(key, a, b):\n    return b, key['key'], a['a']"
    assert after(code, plan(code)) == "def f(key, a, key_a):\n    return key_a, key['key'], a['a']"


def test_a_variable_that_must_be_kept_is_not_replaced() -> None:
    code = "def f(key, a, b, c):\n    return c, c, b['b']"
    assert after(code, plan(code)) == "def f(key, a, b, key_a):\n    return key_a, key_a, b['b']"


def test_a_nested_function_can_carry_when_the_outer_one_cannot() -> None:
    code = "def f(x):\n    def g(key, a, b):\n        return b\n    return g"
    assert after(code, plan(code)) == (
        "def f(x):\n    def g(key, a, key_a):\n        return key_a\n    return g"
    )


def test_an_introduced_prefix_needs_a_name_that_stands_nowhere() -> None:
    outcome = introduce("def f(a, b, c):\n    return a.key")
    assert outcome == Refusal("prefix: new name is taken in the snippet")


def test_a_mark_remembers_what_became_the_prefix() -> None:
    outcome = introduce("def f(a, b, c):\n    return a")
    assert isinstance(outcome, Mark)
    assert outcome.parts == (
        Part("prefix", "key", was="a"),
        Part("suffix", "b"),
        Part("target", "key_b", was="c"),
    )
    assert not outcome.is_natural


def test_introducing_starts_at_the_first_variable_that_may_be_renamed() -> None:
    code = "def f(a, b, c, d):\n    return a['a'], b"
    assert after(code, introduce(code)) == "def f(a, key, c, key_c):\n    return a['a'], key"


def test_introducing_beside_a_natural_target_renames_one_variable() -> None:
    code = "def f(a, b, key_b):\n    return a"
    outcome = introduce(code)
    assert after(code, outcome) == "def f(key, b, key_b):\n    return key"
    assert isinstance(outcome, Mark)
    assert outcome.of("target") == Part("target", "key_b")


def test_nothing_can_be_introduced_where_every_name_must_be_kept() -> None:
    outcome = introduce("def f(a, b, c): pass", policy="safe")
    assert outcome == Refusal("no variable may be renamed to the prefix")
