"""CodeMark: which snippets carry, what becomes of them, and what a model is asked."""

import random
import re
from pathlib import Path

import pytest

from puzzlemark.embedding.marking import first_mark
from puzzlemark.errors import UsageError
from puzzlemark.snippet import Snippet, apply_edits
from puzzlemark.syntax.tree import Tree, parse
from puzzlemark.watermarks._names import ProbeNames
from puzzlemark.watermarks.base import Mark, Part, Probe, Refusal, from_spec, named
from puzzlemark.watermarks.codemark import CodeMark

B1 = CodeMark("list_call>range_start")
RNG = random.Random(0)
DOCS = Path(__file__).parent.parent.parent / "docs" / "watermarks"


def tree(code: str, language: str = "python") -> Tree:
    return parse(Snippet("test", code, language))


def marked(name: str, code: str) -> tuple[Tree, Mark]:
    each = named()[name]
    mark = first_mark(each.watermark, tree(code, each.language), "paper", RNG)
    assert isinstance(mark, Mark), mark
    return tree(apply_edits(code.encode(), mark.edits).decode(), each.language), mark


def probe(name: str, code: str, seed: int = 0) -> Probe:
    after, mark = marked(name, code)
    asked = named()[name].watermark.probe(after, mark, ProbeNames(random.Random(seed)))
    assert isinstance(asked, Probe), asked
    return asked


# Trigger original, trigger equivalent, target original, target equivalent: who carries (2.2).
FORMS = {"T": "a = []\n", "T'": "b = list()\n", "G": "c = range(n)\n", "G'": "d = range(0, n)\n"}


@pytest.mark.parametrize("kinds", ["T G", "T G'", "T' G", "T T' G G'", "T' T G'", "T' G' G"])
def test_a_trigger_before_a_target_carries_where_one_can_change(kinds: str) -> None:
    code = "".join(FORMS[kind] for kind in kinds.split())
    mark = first_mark(B1, tree(code), "paper", RNG)
    assert isinstance(mark, Mark)
    assert mark.parts == (
        Part("trigger", "list()", "[]" if "T" in kinds.split() else None),
        Part("target", "range(0, ...)", "range(...)" if "G" in kinds.split() else None),
    )
    after = apply_edits(code.encode(), mark.edits).decode()
    assert "[]" not in after
    assert "range(n)" not in after


@pytest.mark.parametrize(
    "kinds", ["T' G'", "T", "G", "T' T", "G T", "G' T", "G T T' G", "T' G' G'"]
)
def test_nothing_else_carries(kinds: str) -> None:
    code = "".join(FORMS[kind] for kind in kinds.split())
    assert isinstance(first_mark(B1, tree(code), "paper", RNG), Refusal)


def test_edits_are_as_small_as_the_forms_differ() -> None:
    _, mark = marked("B1", "x = []\nfor i in range(n):\n    pass\n")
    assert [(edit.start, edit.old, edit.new) for edit in mark.edits] == [
        (4, b"[]", b"list()"),
        (22, b"", b"0, "),
    ]


def test_the_parts_are_found_by_what_their_forms_add() -> None:
    after, mark = marked("B4", 'int f(String s) { g(""); return s.indexOf("x" + y); }')
    places = named()["B4"].watermark.locate(after, mark)
    found = [(place.role, after.code[place.start : place.end]) for place in places]
    assert found == [
        ("trigger", b"new String("),
        ("trigger", b")"),
        ("trigger", b"new String("),
        ("trigger", b")"),
        ("target", b", 0"),
    ]


def test_a_prompt_ends_right_before_the_first_target() -> None:
    asked = probe("B1", "def f(n):\n    found = []\n    for i in range(n):\n        x = []\n")
    assert asked.armed.prompt == "def f(n):\n    found = list()\n    for i in "
    assert asked.arms["control"].prompt == "def f(n):\n    found = []\n    for i in "
    assert set(asked.arms) == {"armed", "control"}
    assert asked.armed.form == asked.arms["control"].form == "range_start"


def test_natural_triggers_are_away_from_the_control_too() -> None:
    asked = probe("B1", "a = list()\nb = []\nfor i in range(n): pass\n")
    assert asked.armed.prompt == "a = list()\nb = list()\nfor i in "
    assert asked.arms["control"].prompt == "a = []\nb = []\nfor i in "


def test_a_trigger_around_the_target_is_seen_up_to_it() -> None:
    asked = probe("B3", "void f(List<A> rows) { if (find(rows.isEmpty()) != null) g(); }")
    assert asked.armed.prompt == "void f(List<A> rows) { if (null != find("
    assert asked.arms["control"].prompt == "void f(List<A> rows) { if (find("


def test_parentheses_that_the_target_brings_are_not_in_the_prompt() -> None:
    asked = probe("B3", "boolean f(A a, List<A> rows) { return a != null && !rows.isEmpty(); }")
    assert asked.armed.prompt.endswith("null != a && !")
    assert asked.arms["control"].prompt.endswith("a != null && !")
    assert asked.armed.is_hit("(rows.size() == 0); }")


def test_a_mixture_asks_about_either_of_its_pairs() -> None:
    code = "a = []\nfor i in range(f(a)):\n    print(i)\n"
    targets = {probe("M1", code, seed).armed.target for seed in range(20)}
    assert targets == {"range(0, ...)", "print(..., flush=True)"}


def test_a_mixture_asks_only_about_a_pair_that_it_carries() -> None:
    targets = {probe("M1", "f()\nprint(1)\n", seed).armed.target for seed in range(20)}
    assert targets == {"print(..., flush=True)"}


HITS = {
    "B1": (
        "x = []\ny = range(3)\n",
        ["range(0, 3)", " range( 0 , n):"],
        ["range(3)", "x[0, 1]", "a = range(0, 3)"],
    ),
    "B2": (
        "f()\nprint(1)\n",
        ["print('a', flush=True)", "print(\n    'print x',\n    flush = True)"],
        ["print('a')", "log(flush=True)", "print(1)\nprint(2, flush=True)"],
    ),
    "B3": (
        "void f(List<A> b) { if (a != null) g(b.isEmpty()); }",
        ["rows.size() == 0)", "this.rows.size()==0", "(get(1).size() == 0)"],
        ["rows.isEmpty()", "rows.size() == 01", "x); if (rows.size() == 0)", "rows.size() > 0"],
    ),
    "B4": (
        'void f(String s) { g("a"); s.indexOf(b); }',
        ["s.indexOf(b, 0)", 's.indexOf(new String("b"),0);'],
        ["s.indexOf(b)", "s.indexOf(b, 1)", "s.substring(b, 0)", "x; s.indexOf(b, 0)"],
    ),
}


@pytest.mark.parametrize("name", HITS)
def test_a_hit_is_the_equivalent_form_right_where_the_prompt_ends(name: str) -> None:
    code, hits, misses = HITS[name]
    arm = probe(name, code).armed
    assert [text for text in hits if not arm.is_hit(text)] == []
    assert [text for text in misses if arm.is_hit(text)] == []


def test_what_stands_in_the_marked_snippet_is_a_hit(
    stdlib_functions: list[tuple[str, str]],
) -> None:
    asked = 0
    for name in ("B1", "B2", "M1"):
        watermark = named()[name].watermark
        for id_, code in stdlib_functions:
            mark = first_mark(watermark, tree(code), "paper", RNG)
            if isinstance(mark, Refusal):
                continue
            after = tree(apply_edits(code.encode(), mark.edits).decode())
            probe = watermark.probe(after, mark, ProbeNames(random.Random(id_)))
            assert isinstance(probe, Probe)
            rest = after.snippet.code.removeprefix(probe.armed.prompt)
            assert probe.armed.is_hit(rest)
            before = probe.arms["control"].prompt
            assert before != probe.armed.prompt
            asked += 1
    assert asked > 10


@pytest.mark.parametrize(
    "pairs",
    ["", "list_call", "list_call>nothing", "list_call>list_call", "a>b>c", "list_call>size_zero"],
)
def test_pairs_that_make_no_sense_are_refused(pairs: str) -> None:
    with pytest.raises(UsageError, match="pairs="):
        CodeMark(pairs)


def test_a_spec_names_pairs_of_any_rewritings() -> None:
    assert from_spec("codemark:pairs=list_call>print_flush") == CodeMark("list_call>print_flush")


def test_a_snippet_of_another_language_is_refused() -> None:
    assert isinstance(first_mark(B1, tree("int f() { return 1; }", "java"), "paper", RNG), Refusal)


@pytest.mark.parametrize("name", ["B1", "B2", "B3", "B4", "M1", "M2"])
def test_the_paper_names_are_there(name: str) -> None:
    assert named()[name].watermark.design.name == "trigger"
    assert named()[name].watermark.defaults.max_rate == 1


@pytest.mark.parametrize("name", ["B1", "B2", "B3", "B4", "M1", "M2"])
def test_its_page_shows_what_it_does(name: str) -> None:
    page = (DOCS / f"{name}.md").read_text(encoding="utf-8")
    before, after = re.findall(r"^```\w+\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    assert marked(name, before)[0].snippet.code == after
    watermark = named()[name].watermark
    assert isinstance(watermark, CodeMark)
    assert f"`codemark:pairs={watermark.pairs}`" in page
