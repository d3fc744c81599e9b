"""Properties of renaming, over random small programs."""

import random
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from puzzlemark.embedding.marking import first_mark
from puzzlemark.errors import UnsafeRename
from puzzlemark.snippet import Edit, Snippet, apply_edits, invert_edits
from puzzlemark.syntax.rename import rename
from puzzlemark.syntax.tree import Tree, parse
from puzzlemark.syntax.variables import POLICIES, Policy, functions
from puzzlemark.watermarks.base import Mark
from puzzlemark.watermarks.fixed_prefix import FixedPrefix
from puzzlemark.watermarks.universal import Universal
from tests.oracles.python import compiles, difference

NAMES = st.sampled_from(["a", "b", "c", "row_count", "key", "self", "é", "_"])
SMALL = NAMES | st.sampled_from(["1", "'a'", "'é'", "None"])


def grow(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    forms = [
        "({0} + {1})",
        "{2}({0}, {2}={1})",
        "{2}.{3}",
        "[{2} for {2} in {0}]",
        "(lambda {2}={0}: {1})",
        "[{0} for {2} in {1} if ({3} := {0})]",
        "f'{{{2}}}'",
        "{{{2}: {0} for {2}, {3} in {1}}}",
    ]
    return st.builds(str.format, st.sampled_from(forms), inner, inner, NAMES, NAMES)


EXPRESSIONS = st.recursive(SMALL, grow, max_leaves=6)
LINES = st.builds(
    str.format,
    st.sampled_from(
        [
            "{2} = {0}",
            "{2}, *{3} = {0}",
            "{2} += {0}",
            "for {2} in {0}: {3} = {1}",
            "with {0} as {2}: pass",
            "del {2}",
            "try: {0}\n    except {1} as {2}: {3}",
            "def {2}({3}={0}): return {1}",
            "class {2}: {3} = {0}",
            "import {2}",
            "global {2}",
            "{2}: int = {0}",
            "# {2} é",
            "return {0}",
        ]
    ),
    EXPRESSIONS,
    EXPRESSIONS,
    NAMES,
    NAMES,
)


@st.composite
def programs(draw: st.DrawFn) -> str:
    parameters = draw(st.lists(NAMES, max_size=4, unique=True))
    body = draw(st.lists(LINES, min_size=1, max_size=5))
    return f"def f({', '.join(parameters)}):\n    " + "\n    ".join([*body, "pass\n"])


def open_tree(code: str) -> Tree:
    return parse(Snippet("it", code, "python"))


def renaming_back(code: str, index: int, names: dict[str, str]) -> list[Edit]:
    """The old names at each place that is resolved to a new one in the renamed code."""
    there = {each.name: each for each in list(functions(open_tree(code)))[index].variables}
    return [
        Edit(start, new.encode(), old.encode())
        for old, new in names.items()
        for start in there[new].starts
    ]


@settings(deadline=None)
@given(programs(), st.sampled_from(POLICIES), st.data())
def test_a_rename_is_approved_by_the_oracle_and_can_be_undone(
    code: str, policy: Policy, draw: st.DataObject
) -> None:
    tree = open_tree(code)
    function = draw.draw(st.sampled_from(list(functions(tree))))
    free = [each.name for each in function.variables if each.refusal(policy) is None]
    chosen = draw.draw(st.lists(st.sampled_from(free), unique=True)) if free else []
    names = {old: f"zq_{old}" for old in chosen}
    try:
        edits = rename(tree, function, names, policy)
    except UnsafeRename:
        assert function.dynamic is not None
        return
    after = apply_edits(tree.code, edits)
    assert apply_edits(after, invert_edits(edits)) == tree.code
    assert apply_edits(after, renaming_back(after.decode(), function.index, names)) == tree.code
    if compiles(code):
        assert difference(code, after.decode()) is None


@settings(deadline=None)
@given(programs(), st.sampled_from(POLICIES), st.sampled_from([FixedPrefix("key"), Universal()]))
def test_a_mark_is_approved_by_the_oracle_and_stands_by_nature_afterwards(
    code: str, policy: Policy, watermark: FixedPrefix | Universal
) -> None:
    tree = open_tree(code)
    for introduce in (False, True) if isinstance(watermark, FixedPrefix) else (False,):
        mark = first_mark(watermark, tree, policy, random.Random(0), introduce=introduce)
        if not isinstance(mark, Mark):
            continue
        after = apply_edits(tree.code, mark.edits).decode()
        assert apply_edits(after.encode(), invert_edits(mark.edits)) == tree.code
        assert not compiles(code) or difference(code, after) is None
        marked = parse(replace(tree.snippet, code=after))
        again = first_mark(watermark, marked, policy, random.Random(0))
        assert again == Mark(
            tuple(replace(part, was=None) for part in mark.parts), function=mark.function
        )
