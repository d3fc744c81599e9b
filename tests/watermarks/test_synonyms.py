"""Who carries a drawn name, which one, and how it is asked about: the key decides but the name."""

import random
from dataclasses import replace

import pytest

from puzzlemark.embedding.marking import mark_snippet
from puzzlemark.errors import UsageError
from puzzlemark.languages.base import every_language, find
from puzzlemark.snippet import Snippet, apply_edits, invert_edits
from puzzlemark.syntax.tree import Tree, parse
from puzzlemark.syntax.variables import functions
from puzzlemark.watermarks._counting import Counts
from puzzlemark.watermarks._names import ProbeNames
from puzzlemark.watermarks.base import (
    Counting,
    Keyed,
    Mark,
    Probe,
    Refusal,
    designs,
    from_settings,
    from_spec,
    to_settings,
)
from puzzlemark.watermarks.synonyms import Synonyms, class_of

LOOP = """\
def total(rows):
    found = 0
    for i in range(len(rows)):
        found += rows[i]
    return found
"""
STATEMENT = """\
def total(rows):
    result = 0
    result += sum(rows)
    return result
"""
CATCH = """\
int read(String name) {
    try {
        return open(name);
    } catch (IOException e) {
        log(e);
        return -1;
    }
}
"""
KEYS = [bytes([n]) * 32 for n in range(40)]
NAMES = ProbeNames(random.Random(0))
BOLD = Synonyms(entropy=0.0, inside_line=False, share=1.0)


def tree_of(code: str, language: str = "python", project: str = "") -> Tree:
    return parse(Snippet("x", code, language, project=project))


def marked(tree: Tree, scheme: Synonyms, key: bytes = KEYS[0]) -> Mark:
    marks = mark_snippet(scheme.with_key(key), tree, "safe", random.Random(0))
    assert not isinstance(marks, Refusal), marks
    return marks[0]


def refused(code: str, scheme: Synonyms = BOLD, language: str = "python") -> str:
    marks = mark_snippet(
        scheme.with_key(KEYS[0]), tree_of(code, language), "safe", random.Random(0)
    )
    assert isinstance(marks, Refusal), marks
    return marks.reason


def test_it_is_a_watermark_with_a_key_that_counts_and_stands_in_no_setting() -> None:
    scheme = Synonyms(share=0.1)
    assert isinstance(scheme, Keyed)
    assert isinstance(scheme, Counting)
    assert from_settings("synonyms", to_settings(scheme.with_key(b"secret"))) == scheme
    assert "secret" not in repr(scheme.with_key(b"secret"))
    assert from_spec("synonyms:entropy=0.3,inside_line=false").inside_line is False  # type: ignore[attr-defined]
    assert designs()["synonyms"] == scheme.design


@pytest.mark.parametrize("spec", ["share=0", "share=2", "entropy=-1", "pull=0", "beacon=abc"])
def test_settings_that_make_no_sense_are_refused(spec: str) -> None:
    with pytest.raises(UsageError, match="synonyms: "):
        from_spec(f"synonyms:{spec}")


def test_every_name_of_the_set_is_drawn_by_some_key_and_nothing_else_changes() -> None:
    tree = tree_of(LOOP)
    found = {}
    for key in KEYS:
        mark = marked(tree, Synonyms(), key)
        code = apply_edits(tree.code, mark.edits)
        assert apply_edits(code, invert_edits(mark.edits)) == tree.code
        name = mark.of("target").text
        assert code.decode() == LOOP.replace("for i ", f"for {name} ").replace("[i]", f"[{name}]")
        assert mark.of("target").was == (None if name == "i" else "i")
        found[name] = mark
    assert set(found) == {"i", "idx", "index"}
    # all but the drawn name is the same for every key
    assert len({(each.draw, each.trial, each.function) for each in found.values()}) == 1


def test_without_a_key_nothing_is_drawn() -> None:
    with pytest.raises(UsageError, match="with_key"):
        mark_snippet(Synonyms(), tree_of(LOOP), "safe", random.Random(0))


def test_a_marked_snippet_carries_the_same_draw_and_needs_no_further_edit() -> None:
    for key in KEYS[:8]:
        tree = tree_of(LOOP)
        mark = marked(tree, Synonyms(), key)
        again = marked(tree_of(apply_edits(tree.code, mark.edits).decode()), Synonyms(), key)
        assert again.edits == ()
        assert again.draw == mark.draw
        assert again.of("target").text == mark.of("target").text


@pytest.mark.parametrize(
    "line",
    [
        "    # the idx of it",  # a comment names another member
        "    print('index')",  # a string
        "    rows.idx = 1",  # an attribute
        "    # and i itself: a rename would make this stale",
        "    f(i=1)",  # a label of the same name
    ],
)
def test_a_name_of_the_set_anywhere_else_makes_no_carrier(line: str) -> None:
    code = LOOP.replace("    found = 0\n", f"    found = 0\n{line}\n")
    assert "every name of its set" in refused(code)


def test_a_parameter_is_never_a_carrier() -> None:
    assert "no local variable" in refused("def f(value):\n    return value + 1\n")


def test_what_reads_its_own_frame_is_left_alone() -> None:
    assert "locals" in refused("def f():\n    for i in g():\n        print(locals())\n")


def test_the_beginning_of_a_statement_carries_only_where_it_is_asked_for() -> None:
    assert "every name of its set" in refused(STATEMENT, Synonyms())
    assert marked(tree_of(STATEMENT), BOLD).draw is not None


def test_in_java_a_type_stands_before_the_name() -> None:
    tree = tree_of(CATCH, "java")
    names = {marked(tree, Synonyms(), key).of("target").text for key in KEYS}
    assert names == {"e", "ex", "exception"}


def test_the_prior_of_the_project_decides_whether_there_is_a_choice() -> None:
    group = "python/1/i"
    counts = Counts(
        everywhere={group: {"i": 50, "idx": 50}},
        within={"one-sided": {group: {"i": 40}}, "mixed": {group: {"i": 4, "idx": 4}}},
    )
    scheme = Synonyms(prior="project").with_counts(counts)
    for project, chosen in (("mixed", True), ("unknown", True), ("one-sided", False)):
        tree = tree_of(LOOP, project=project)
        (sighting,) = scheme.sightings(tree, next(functions(tree)), "safe")
        assert scheme.is_eligible(sighting, project) is chosen
        outcome = mark_snippet(scheme.with_key(KEYS[0]), tree, "safe", random.Random(0))
        assert isinstance(outcome, Refusal) is not chosen
    # `index` was never seen: no key draws it
    drawn = {marked(tree_of(LOOP), scheme, key).of("target").text for key in KEYS}
    assert drawn == {"i", "idx"}


def test_learnt_chances_are_those_of_the_class() -> None:
    tree = tree_of(LOOP)
    scheme = Synonyms()
    (sighting,) = (s for s in scheme.sightings(tree, next(functions(tree)), "safe") if s.can_carry)
    place = sighting.group, sighting.unit
    for parts, chosen in (((500, 500, 0), True), ((990, 10, 0), False)):
        knowing = scheme.with_counts(Counts(learnt={place: parts}))
        assert isinstance(knowing, Synonyms)
        assert knowing.is_eligible(sighting, "any project") is chosen
        outcome = mark_snippet(knowing.with_key(KEYS[0]), tree, "safe", random.Random(0))
        assert isinstance(outcome, Refusal) is not chosen
    drawn = {
        marked(tree, scheme.with_counts(Counts(learnt={place: (500, 500, 0)})), key)
        .of("target")
        .text
        for key in KEYS
    }
    assert drawn == {"i", "idx"}


def test_all_names_of_sets_are_learnt_from_and_few_can_carry() -> None:
    code = "def f(items):\n    res = 1\n    for i in items:\n        use(i, res)\n"
    tree = tree_of(code)
    found = Synonyms().sightings(tree, next(functions(tree)), "safe")
    assert {each.value: each.can_carry for each in found} == {
        "items": False,  # a parameter
        "res": False,  # at the start of a line
        "i": True,
    }
    assert all(each.spot is not None for each in found)


def test_a_manifest_that_does_not_say_its_prior_is_one_by_project() -> None:
    old = {"entropy": 0.5, "inside_line": True, "share": 0.2, "pull": 2}
    assert from_settings("synonyms", old) == Synonyms(prior="project")
    assert from_settings("synonyms", to_settings(Synonyms())) == Synonyms()


def test_the_variable_with_the_larger_choice_carries() -> None:
    code = "def f(a, b):\n    return [i for i in a if g(i)], [v for v in b if g(v)]\n"
    counts = Counts(
        everywhere={"python/1/i": {"i": 9, "idx": 1}, "python/1/val": {"v": 5, "val": 5}}
    )
    scheme = Synonyms(entropy=0.1, prior="project").with_counts(counts)
    for key in KEYS[:5]:
        draw = marked(tree_of(code), scheme, key).draw
        assert draw is not None
        assert draw.group == "python/1/val"


def test_a_class_is_the_function_without_comments_white_space_and_its_own_name() -> None:
    tree = tree_of(LOOP)
    function = next(functions(tree))
    (variable,) = (each for each in function.variables if each.name == "i")
    forked = LOOP.replace("found = 0", "found  =  0   # so far").replace("\n", "\n\n")
    classes = {
        marked(tree_of(code), Synonyms()).draw.unit  # type: ignore[union-attr]
        for code in (LOOP, forked, LOOP.replace("for i ", "for idx ").replace("[i]", "[idx]"))
    }
    assert classes == {class_of(tree, function, variable)}
    other = marked(tree_of(LOOP.replace("total", "sums")), Synonyms()).draw
    assert other is not None
    assert other.unit not in classes


def test_a_class_sees_the_variable_inside_an_f_string() -> None:
    code = 'def f(a):\n    return [f"<{NAME}>" for NAME in a]\n'
    units = {
        marked(tree_of(code.replace("NAME", name)), Synonyms()).draw.unit  # type: ignore[union-attr]
        for name in ("i", "idx", "index")
    }
    assert len(units) == 1


def probe_of(tree: Tree, mark: Mark) -> Probe:
    probe = Synonyms().probe(tree, mark, NAMES)
    assert isinstance(probe, Probe), probe
    return probe


def test_a_prompt_is_the_original_before_the_name_whatever_was_drawn() -> None:
    tree = tree_of(LOOP)
    probes = {repr(probe := probe_of(tree, marked(tree, Synonyms(), key))): probe for key in KEYS}
    (probe,) = probes.values()
    assert probe.armed.prompt == "def total(rows):\n    found = 0\n    for "
    assert probe.armed.targets == {"i": "i", "idx": "idx", "index": "index"}
    assert Synonyms.design.why_other_arms(probe) is None
    assert Synonyms.design.why_unlike(probe) is None


@pytest.mark.parametrize(
    ("completion", "symbol"),
    [
        ("i in range(3):", "i"),
        (" index, row in", "index"),
        ("row, i in", None),  # the first name decides
        ("idx2 in", None),
        ("(idx, x) in", "idx"),
        ("", None),
        ("3 + i", None),  # nothing that a person would call a name comes first
    ],
)
def test_the_first_name_of_a_completion_is_the_answer(completion: str, symbol: str | None) -> None:
    tree = tree_of(LOOP)
    arm = probe_of(tree, marked(tree, Synonyms())).armed
    assert arm.score(completion) == symbol
    for start, end in arm.spans(completion):
        assert completion[start:end] == symbol


def test_a_probe_that_is_none_of_this_design_is_told() -> None:
    tree = tree_of(LOOP)
    probe = probe_of(tree, marked(tree, Synonyms()))
    why = Synonyms.design.why_unlike
    assert "drawn from" in (why(replace(probe, draw=None)) or "")
    armed = replace(probe.armed, target={"i": "i"})
    assert "targets" in (why(replace(probe, arms={"armed": armed})) or "")
    armed = replace(probe.armed, form="name")
    assert "first name" in (why(replace(probe, arms={"armed": armed})) or "")


def test_a_mark_of_a_manifest_without_its_draw_cannot_be_asked_about() -> None:
    tree = tree_of(LOOP)
    mark = marked(tree, Synonyms())
    assert isinstance(Synonyms().probe(tree, replace(mark, draw=None), NAMES), Refusal)
    elsewhere = Synonyms().probe(tree_of(STATEMENT), mark, NAMES)
    assert isinstance(elsewhere, Refusal)


@pytest.mark.parametrize("name", [each.name for each in every_language() if each.synonyms])
def test_every_set_can_be_drawn_from_in_its_language(name: str) -> None:
    # a set that no variable could ever carry would be a line for nothing
    language = find(name)
    assert language is not None
    plain = language.example.replace("total", "tt8").replace("price", "pp7")
    for names in language.synonyms:
        mark = marked(tree_of(plain.replace("count", names[0]), name), BOLD)
        assert mark.draw is not None
        assert [each for each, _ in mark.draw.weights] == list(names)
