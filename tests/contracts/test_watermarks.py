"""What every watermark promises, run over all that are found."""

import pickle
import random
from dataclasses import fields

import pytest

from puzzlemark import plugins
from puzzlemark.embedding.marking import first_mark
from puzzlemark.snippet import Snippet, apply_edits, invert_edits
from puzzlemark.syntax.naming import mentions
from puzzlemark.syntax.tree import Tree, parse
from puzzlemark.syntax.variables import POLICIES, Policy, function_nodes
from puzzlemark.watermarks._names import ProbeNames
from puzzlemark.watermarks.base import (
    Design,
    Introducing,
    Mark,
    Named,
    Probe,
    Refusal,
    designs,
    from_settings,
    named,
    to_settings,
)

# Between them they have what each Java mark needs: names, `!= null`, `isEmpty`, strings, `indexOf`.
JAVA = (
    """
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
""",
    """
boolean hasWork(List<Job> jobs, Job current) {
    if (current != null && current.isReady()) {
        return true;
    }
    List<Job> ready = select(jobs);
    return !ready.isEmpty();
}
""",
    """
String firstWord(String line, String fallback) {
    String separator = " ";
    String padded = line.trim() + " ";
    int end = padded.indexOf(separator);
    String word = end < 0 ? fallback : padded.substring(0, end);
    return word;
}
""",
    """
String describe(List<String> names, String title) {
    String separator = ", ";
    if (title != null) {
        int at = title.indexOf(separator);
        String head = at < 0 ? title : title.substring(0, at);
        if (names.isEmpty()) {
            return head;
        }
    }
    return String.join(separator, names);
}
""",
)

PYTHON = """
def report(rows, limit):
    lines = []
    for number in range(limit):
        line = str(rows[number]).strip()
        lines.append(line)
        print(number, line)
    return lines
"""

# What these do to a function alone cannot be shown to change nothing; see docs/policies.md.
NEVER_SAFE = frozenset({"B1", "B2", "B3", "M1", "S1", "S2"})
every_mark = pytest.mark.parametrize("name", sorted(named()))
every_policy = pytest.mark.parametrize("policy", POLICIES)


@pytest.fixture(scope="module")
def trees(stdlib_functions: list[tuple[str, str]]) -> dict[str, list[Tree]]:
    codes = [*stdlib_functions[::3], ("report", PYTHON)]
    python = [parse(Snippet(id_, code, "python")) for id_, code in codes]
    java = [parse(Snippet(f"j{number}", code, "java")) for number, code in enumerate(JAVA)]
    return {"python": python, "java": java}


def outcomes(each: Named, trees: dict[str, list[Tree]], policy: Policy) -> list[tuple[Tree, Mark]]:
    marks: list[tuple[Tree, Mark]] = []
    for tree in trees[each.language]:
        scheme, rng = each.watermark, random.Random(tree.snippet.id)
        if scheme.may_occur(tree.source):
            outcome = first_mark(scheme, tree, policy, rng)
        elif isinstance(scheme, Introducing):
            outcome = first_mark(scheme, tree, policy, rng, introduce=True)
        else:
            # a cheap look is never wrongly no
            assert isinstance(first_mark(scheme, tree, policy, rng), Refusal)
            continue
        assert isinstance(outcome, Mark | Refusal)
        if isinstance(outcome, Mark):
            marks.append((tree, outcome))
        else:
            assert outcome.reason
    return marks


def marked_tree(tree: Tree, mark: Mark) -> Tree:
    code = apply_edits(tree.code, mark.edits).decode()
    return parse(Snippet(tree.snippet.id, code, tree.language.name))


@every_mark
def test_a_watermark_is_its_configuration(name: str) -> None:
    watermark = named()[name].watermark
    assert watermark.name in plugins.names("watermarks")
    written = {
        field.name
        for field in fields(watermark)  # type: ignore[arg-type]
        if not field.metadata.get("unsaid")  # its default is not written
    }
    assert set(to_settings(watermark)) == written
    assert from_settings(watermark.name, to_settings(watermark)) == watermark
    assert pickle.loads(pickle.dumps(watermark)) == watermark  # noqa: S301
    assert hash(watermark) == hash(from_settings(watermark.name, to_settings(watermark)))
    assert designs()[watermark.design.name] == watermark.design
    assert 0 <= watermark.defaults.min_rate <= watermark.defaults.max_rate <= 1


@every_policy
@every_mark
def test_its_marks_can_be_put_in_and_taken_out(
    name: str, policy: Policy, trees: dict[str, list[Tree]]
) -> None:
    marks = outcomes(named()[name], trees, policy)
    if policy == "safe" and name in NEVER_SAFE:
        assert marks == []
        return
    assert marks, "no carrier among all these functions"
    for tree, mark in marks:
        marked = apply_edits(tree.code, mark.edits)
        assert apply_edits(marked, invert_edits(mark.edits)) == tree.code
        assert (marked == tree.code) is (not mark.edits)
        assert bool(mark.edits) is any(part.was is not None for part in mark.parts)
        assert len({edit.start for edit in mark.edits}) == len(mark.edits)
        marked_tree(tree, mark)


@every_mark
def test_every_part_of_a_mark_is_found_where_it_stands(
    name: str, trees: dict[str, list[Tree]]
) -> None:
    watermark = named()[name].watermark
    for tree, mark in outcomes(named()[name], trees, "paper"):
        after = marked_tree(tree, mark)
        places = watermark.locate(after, mark)
        assert {place.role for place in places} == {part.role for part in mark.parts}
        end = 0
        for place in places:
            assert end <= place.start < place.end <= len(after.code)
            end = place.end


@every_mark
def test_a_mark_changes_nothing_outside_the_function_that_it_names(
    name: str, trees: dict[str, list[Tree]]
) -> None:
    for tree, mark in outcomes(named()[name], trees, "paper"):
        spans = [
            (node.start_byte - tree.offset, node.end_byte - tree.offset)
            for node in function_nodes(tree)
        ]
        start, end = (0, len(tree.code)) if mark.function is None else spans[mark.function]
        assert all(start <= edit.start and edit.end <= end for edit in mark.edits)


@every_mark
def test_a_target_stands_after_its_trigger(name: str, trees: dict[str, list[Tree]]) -> None:
    watermark = named()[name].watermark
    for tree, mark in outcomes(named()[name], trees, "paper"):
        roles = [place.role for place in watermark.locate(marked_tree(tree, mark), mark)]
        assert mark.parts[-1].role == "target"
        assert roles[0] != "target"


@every_policy
@every_mark
def test_a_marked_snippet_needs_no_further_edits(
    name: str, policy: Policy, trees: dict[str, list[Tree]]
) -> None:
    each = named()[name]
    for tree, mark in outcomes(each, trees, policy)[:40]:
        after = marked_tree(tree, mark)
        again = first_mark(each.watermark, after, policy, random.Random(1))
        assert isinstance(again, Refusal) or not again.edits
        assert isinstance(again, Refusal) or {p.role for p in again.parts} == {
            p.role for p in mark.parts
        }


@every_mark
def test_planning_is_deterministic(name: str, trees: dict[str, list[Tree]]) -> None:
    assert outcomes(named()[name], trees, "paper") == outcomes(named()[name], trees, "paper")


@every_mark
def test_marks_can_be_asked_about(name: str, trees: dict[str, list[Tree]]) -> None:
    watermark = named()[name].watermark
    probes = 0
    for tree, mark in outcomes(named()[name], trees, "paper"):
        names = ProbeNames(random.Random(tree.snippet.id))
        probe = watermark.probe(marked_tree(tree, mark), mark, names)
        if isinstance(probe, Refusal):
            assert probe.reason
            continue
        probes += 1
        check_probe(watermark.design, probe, marked_tree(tree, mark).code.decode())
    assert probes, "no mark among all these could be asked about"


def check_probe(design: Design, probe: Probe, marked: str) -> None:
    assert design.why_other_arms(probe) is None
    armed, control = probe.armed, probe.arms["control"]
    assert armed.prompt != control.prompt
    assert (armed.target, armed.form) == (control.target, control.form)
    for arm in (armed, control):
        if arm.form == "name":
            assert not mentions(arm.prompt.encode(), arm.targets["hit"])
        else:
            # what the marked snippet itself goes on with is a hit; an empty answer is none
            rest = marked[len(probe.armed.prompt) :]
            assert marked.startswith(probe.armed.prompt)
            assert arm.is_hit(rest)
        assert not arm.is_hit("")


def test_every_scheme_has_a_name_in_the_paper_unless_a_key_draws_its_marks() -> None:
    keyed = {name for name, scheme in plugins.every("watermarks") if hasattr(scheme, "with_key")}
    in_the_paper = {each.watermark.name for each in named().values()}
    assert in_the_paper == set(plugins.names("watermarks")) - keyed
