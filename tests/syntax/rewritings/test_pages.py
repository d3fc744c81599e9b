"""Runs `pages/*.md`: what a rewriting makes of a snippet, both ways, and what it leaves alone.

A page is titled with the rewritings it is about. A section has two blocks of code, before and
after, or one that stays as it is. Its title may end in `[safe]` or `[paper]`, the only
policy it holds for, or in `(one way)` where writing it back does not give the same bytes.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from puzzlemark import plugins
from puzzlemark.snippet import Snippet, apply_edits, invert_edits
from puzzlemark.syntax.rewritings.base import Form, compose, load
from puzzlemark.syntax.tree import parse
from puzzlemark.syntax.variables import POLICIES, Policy

PAGES = sorted((Path(__file__).parent / "pages").glob("*.md"))
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Case:
    rewritings: tuple[str, ...]
    title: str
    policy: Policy
    language: str
    before: str
    after: str

    @property
    def back(self) -> bool:
        return "(one way)" not in self.title


def read(path: Path) -> Iterator[Case]:
    head, *sections = path.read_text(encoding="utf-8").split("\n## ")
    rewritings = tuple(head.splitlines()[0].removeprefix("# ").split())
    for section in sections:
        title = section.splitlines()[0]
        blocks = BLOCK.findall(section)
        assert len(blocks) in (1, 2), f"{path}: {title}"
        wanted = [each for each in POLICIES if f"[{each}]" in title] or POLICIES
        for policy in wanted:
            yield Case(rewritings, title, policy, blocks[0][0], blocks[0][1], blocks[-1][1])


CASES = [case for path in PAGES for case in read(path)]
every_case = pytest.mark.parametrize(
    "case", CASES, ids=lambda case: f"{case.rewritings[0]}-{case.policy}-{case.title}"
)


def rewrite(case: Case, code: str, form: Form) -> str:
    tree = parse(Snippet("page", code, case.language))
    found = [each for name in case.rewritings for each in load(name).find(tree, case.policy)]
    edits = compose(each for each in found if each.form == form)
    after = apply_edits(tree.code, edits)
    assert apply_edits(after, invert_edits(edits)) == tree.code
    return after.decode()


@every_case
def test_a_page_becomes_exactly_what_it_says(case: Case) -> None:
    assert rewrite(case, case.before, "original") == case.after


@every_case
def test_what_was_rewritten_is_written_back(case: Case) -> None:
    if case.before != case.after and case.back:
        assert rewrite(case, case.after, "equivalent") == case.before


@every_case
def test_what_was_rewritten_is_in_the_equivalent_form(case: Case) -> None:
    if len(case.rewritings) == 1:  # what one rewriting writes may be another's to rewrite
        assert rewrite(case, case.after, "original") == case.after


def test_every_rewriting_has_a_page_that_changes_and_one_that_stays() -> None:
    changed = {case.rewritings for case in CASES if case.before != case.after}
    stays = {case.rewritings for case in CASES if case.before == case.after}
    for name in plugins.names("syntax.rewritings"):
        assert (name,) in changed & stays


@pytest.mark.parametrize("name", plugins.names("syntax.rewritings"))
def test_a_cheap_look_is_never_wrongly_no(name: str) -> None:
    rewriting = load(name)
    assert not rewriting.may_occur(b"")
    for case in CASES:
        if name in case.rewritings:
            tree = parse(Snippet("page", case.before, case.language))
            if rewriting.find(tree, case.policy):
                assert rewriting.may_occur(tree.code)


@pytest.mark.parametrize("policy", POLICIES)
def test_code_that_nests_as_deeply_as_is_allowed_is_read(policy: Policy) -> None:
    n = 450
    java = f"""boolean f(String s, List<List<A>> rows) {{
        if (a != null) g({" + ".join(['"a"'] * n)});
        return b{".get(0)" * n}.isEmpty() || {"(" * n}rows{")" * n}.isEmpty() || s{".trim()" * n}
            .indexOf({"s.indexOf(" * 300}x{")" * 300}) > 0;
    }}"""
    python = (
        f"x = {'f(' * n}[]{')' * n}\ny = a{'.b([], range(3))' * n}\nprint({'[' * n}{']' * n})\n"
    )
    for code, language in ((java, "java"), (python, "python")):
        tree = parse(Snippet("deep", code, language))
        for name in plugins.names("syntax.rewritings"):
            if language == load(name).LANGUAGE:
                apply_edits(tree.code, compose(load(name).find(tree, policy)))
