"""What every watermark promises, run over all that are found."""

import pickle
from dataclasses import fields

import pytest

from puzzlemark import plugins
from puzzlemark.snippet import Snippet, apply_edits, invert_edits
from puzzlemark.syntax.tree import Tree, parse
from puzzlemark.syntax.variables import POLICIES, Policy
from puzzlemark.watermarks.base import (
    Mark,
    Named,
    Refusal,
    from_settings,
    named,
    to_settings,
)

JAVA = """
public static Map<String, Integer> index(List<String> keys, int limit) {
    Map<String, Integer> found = new HashMap<>();
    int position = 0;
    for (String key : keys) {
        int maxLength = Math.min(key.length(), limit);
        String shortened = key.substring(0, maxLength);
        found.put(shortened, position++);
    }
    return found;
}
"""

every_mark = pytest.mark.parametrize("name", sorted(named()))
every_policy = pytest.mark.parametrize("policy", POLICIES)


@pytest.fixture(scope="module")
def trees(stdlib_functions: list[tuple[str, str]]) -> dict[str, list[Tree]]:
    python = [parse(Snippet(id_, code, "python")) for id_, code in stdlib_functions[::3]]
    return {"python": python, "java": [parse(Snippet("j", JAVA, "java"))]}


def outcomes(each: Named, trees: dict[str, list[Tree]], policy: Policy) -> list[tuple[Tree, Mark]]:
    marks: list[tuple[Tree, Mark]] = []
    for tree in trees[each.language]:
        scheme = each.watermark
        natural = scheme.may_occur(tree.source)
        outcome = scheme.plan(tree, policy) if natural else scheme.introduce(tree, policy)
        assert isinstance(outcome, Mark | Refusal)
        if isinstance(outcome, Mark):
            marks.append((tree, outcome))
        else:
            assert outcome.reason
    return marks


@every_mark
def test_a_watermark_is_its_configuration(name: str) -> None:
    watermark = named()[name].watermark
    assert watermark.name in plugins.names("watermarks")
    assert set(to_settings(watermark)) == {field.name for field in fields(watermark)}  # type: ignore[arg-type]
    assert from_settings(watermark.name, to_settings(watermark)) == watermark
    assert pickle.loads(pickle.dumps(watermark)) == watermark  # noqa: S301
    assert hash(watermark) == hash(from_settings(watermark.name, to_settings(watermark)))


@every_policy
@every_mark
def test_its_marks_can_be_put_in_and_taken_out(
    name: str, policy: Policy, trees: dict[str, list[Tree]]
) -> None:
    marks = outcomes(named()[name], trees, policy)
    assert marks, "no carrier among all these functions"
    for tree, mark in marks:
        marked = apply_edits(tree.code, mark.edits)
        assert apply_edits(marked, invert_edits(mark.edits)) == tree.code
        assert mark.target.encode() in marked
        assert (marked == tree.code) is (not mark.edits)
        parse(Snippet("marked", marked.decode(), tree.language.name))


@every_policy
@every_mark
def test_a_marked_snippet_needs_no_further_mark(
    name: str, policy: Policy, trees: dict[str, list[Tree]]
) -> None:
    each = named()[name]
    for tree, mark in outcomes(each, trees, policy)[:40]:
        marked = apply_edits(tree.code, mark.edits).decode()
        again = each.watermark.plan(parse(Snippet("x", marked, tree.language.name)), policy)
        assert isinstance(again, Mark)
        assert again.edits == ()


@every_mark
def test_planning_is_deterministic(name: str, trees: dict[str, list[Tree]]) -> None:
    assert outcomes(named()[name], trees, "paper") == outcomes(named()[name], trees, "paper")


def test_every_scheme_has_a_name_in_the_paper() -> None:
    assert {each.watermark.name for each in named().values()} == set(plugins.names("watermarks"))
