"""The marks of one snippet: which function carries, and how several of them do."""

import random
from pathlib import Path

import orjson
import pytest

import puzzlemark as pm
from puzzlemark.embedding.marking import OUTSIDE, first_mark, mark_snippet
from puzzlemark.snippet import Edit, Snippet, apply_edits, in_order, invert_edits
from puzzlemark.syntax.tree import Tree, parse
from puzzlemark.syntax.variables import Function, Policy, functions
from puzzlemark.watermarks.base import Mark, Part, Refusal, Watermark, named
from puzzlemark.watermarks.fixed_prefix import FixedPrefix
from puzzlemark.watermarks.universal import Universal

FILE = """def small(a):
    return a


def load(path, mode):
    text = open(path, mode).read()
    lines = text.split()
    return lines


class Box:
    def put(self, item, place):
        before = self.get(place)
        self.items[place] = item
        return before

    def get(self, place, default):
        found = self.items.get(place)
        return found or default


def load_again(path, mode):
    text = open(path, mode).read()
    return text
"""
NESTED = """def outer(one, two):
    three = one + two

    def inner(red, green):
        blue = red + green
        return blue

    return inner(three, three)
"""
CLASS = """class A {
    int sum(int first, int second) { int third = first + second; return third; }
    int product(int left, int right) { int result = left * right; return result; }
}
"""


def tree_of(code: str, language: str = "python") -> Tree:
    return parse(Snippet("it", code, language))


def several(
    code: str, watermark: Watermark | None = None, most: int = 9, language: str = "python"
) -> tuple[Mark, ...]:
    rng = random.Random(0)
    chosen = watermark or Universal()
    marks = mark_snippet(chosen, tree_of(code, language), "paper", rng, most=most)
    assert isinstance(marks, tuple), marks
    return marks


def after(code: str, marks: tuple[Mark, ...]) -> str:
    edits = in_order(edit for mark in marks for edit in mark.edits)
    marked = apply_edits(code.encode(), edits)
    assert apply_edits(marked, invert_edits(edits)).decode() == code
    return marked.decode()


def targets(marks: tuple[Mark, ...]) -> list[tuple[int | None, str]]:
    return [(mark.function, mark.of("target").text) for mark in marks]


def test_one_mark_is_in_the_first_function_that_can_carry_it() -> None:
    mark = first_mark(Universal(), tree_of(FILE), "paper", random.Random(0))
    assert isinstance(mark, Mark)
    assert (mark.function, mark.of("target").text) == (1, "path_mode")
    assert several(FILE, most=1) == (mark,)


def test_several_marks_are_each_in_a_function_of_its_own() -> None:
    marks = several(FILE)
    assert targets(marks) == [(1, "path_mode"), (2, "item_place"), (3, "place_default")]
    marked = after(FILE, marks)
    assert "def small(a):\n    return a\n" in marked
    for mark in marks:
        found = {each.index: each for each in functions(tree_of(marked))}
        assert mark.function is not None
        names = [variable.name for variable in found[mark.function].variables]
        assert names[0] == mark.of("prefix").text
        assert mark.of("target").text in names


def test_no_more_marks_are_made_than_asked_for() -> None:
    assert targets(several(FILE, most=2)) == [(1, "path_mode"), (2, "item_place")]


def test_a_name_of_an_earlier_mark_is_not_fresh_any_more() -> None:
    """`load_again` has the same two names as `load`: its target stands in the snippet by then."""
    assert 4 not in [mark.function for mark in several(FILE)]
    alone = FILE[FILE.index("def load_again") :]
    assert targets(several(alone)) == [(0, "path_mode")]


def test_a_prefix_is_introduced_only_once() -> None:
    tree, rng = tree_of(FILE), random.Random(0)
    marks = mark_snippet(FixedPrefix("key"), tree, "paper", rng, most=5, introduce=True)
    assert isinstance(marks, tuple)
    assert [mark.function for mark in marks] == [1]


def test_a_function_inside_a_marked_one_is_left_alone() -> None:
    assert targets(several(NESTED)) == [(0, "one_two")]


def test_edits_are_those_of_the_original_snippet() -> None:
    marks = several(CLASS, language="java")
    assert targets(marks) == [(0, "firstSecond"), (1, "leftRight")]
    assert after(CLASS, marks) == CLASS.replace("third", "firstSecond").replace(
        "result", "leftRight"
    )


@pytest.mark.parametrize("name", sorted(named()))
def test_every_scheme_can_mark_several_functions_or_says_why_not(name: str) -> None:
    each = named()[name]
    code = {"python": FILE + NESTED, "java": CLASS}[each.language]
    rng = random.Random(0)
    marks = mark_snippet(each.watermark, tree_of(code, each.language), "paper", rng, most=4)
    if isinstance(marks, Refusal):
        assert marks.reason
        return
    marked = tree_of(after(code, marks), each.language)
    assert len({mark.function for mark in marks}) == len(marks)
    for mark in marks:
        assert mark.function is not None
        assert each.watermark.locate(marked, mark), "found in the function that it names"


def test_statements_are_found_in_the_function_that_a_mark_names() -> None:
    code = "def f(x):\n    return x\n\n\ndef g(y):\n    return y\n"
    watermark = named()["S1"].watermark
    one, other = several(code, watermark)
    marked = tree_of(after(code, (one, other)))
    first, second = watermark.locate(marked, one), watermark.locate(marked, other)
    assert first[-1].end < marked.code.index(b"def g") < second[0].start


def test_pairs_of_codemark_are_marked_function_by_function() -> None:
    code = "".join(
        f"def {name}(n):\n    found = []\n    for i in range(n):\n        found.append(i)\n\n\n"
        for name in ("f", "g")
    )
    watermark = named()["B1"].watermark
    assert [mark.function for mark in several(code, watermark)] == [0, 1]
    (whole,) = several(code, watermark, most=1)
    assert whole.function is None
    assert after(code, (whole,)) == after(code, several(code, watermark))


class Greedy(Universal):
    """Changes what is not its function's."""

    def plan(
        self,
        tree: Tree,  # noqa: ARG002
        function: Function,
        policy: Policy,  # noqa: ARG002
        rng: random.Random,  # noqa: ARG002
    ) -> Mark | Refusal:
        return Mark((Part("target", "x", ""),), (Edit(0, b"", b"x = 1\n"),), function.index)


def test_a_mark_outside_its_function_is_refused() -> None:
    code = "y = 2\n\n\ndef f(a):\n    return a\n"
    outcome = mark_snippet(Greedy(), tree_of(code), "paper", random.Random(0), most=2)
    assert outcome == OUTSIDE


def test_a_dataset_with_several_marks_a_record_is_shown_asked_about_and_reverted(
    tmp_path: Path,
) -> None:
    path, marked, back = (tmp_path / name for name in ("in.jsonl", "out.jsonl", "back.jsonl"))
    codes = [FILE, "def f(a):\n    return a\n", FILE.replace("mode", "kind")]
    lines = [orjson.dumps({"id": f"r{n}", "code": code}) for n, code in enumerate(codes)]
    path.write_bytes(b"\n".join(lines) + b"\n")
    summary = pm.embed(
        path,
        marked,
        mark="U1",
        policy="paper",
        tau=0,
        min_rate=1,
        max_rate=1,
        marks_per_record=2,
    )
    assert (summary.marked, summary.counts) == (2, {"marked": 2, "natural": 4})
    loaded = pm.load_manifest(summary.manifest)
    assert loaded.header.marks_per_record == 2
    assert [[mark.function for mark in carrier.marks] for carrier in loaded] == [[1, 2], [1, 2]]
    shown = pm.show(marked, summary.manifest, limit=3)
    assert [(each.row, each.function) for each in shown.marks] == [(0, 1), (0, 2), (2, 1)]
    assert shown.total == 4
    for each in shown.marks:
        texts = {part.text for part in each.parts}
        assert {each.after.code[span.start : span.end] for span in each.after.spans} == texts
    probes = pm.probe(marked, summary.manifest, pairs=10, paper=True)
    assert probes.header.marks == 4
    asked = {probe.armed.prompt.count("def ") for probe in probes.probes}
    assert asked == {2, 3}, "about the second function, and about the third"
    pm.revert(marked, back, summary.manifest)
    assert back.read_bytes() == path.read_bytes()
    again = tmp_path / "again.jsonl"
    pm.apply(path, again, summary.manifest)
    assert again.read_bytes() == marked.read_bytes()
