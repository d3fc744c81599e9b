"""Runs every page of `golden/<language>/*.md`: what a watermark makes of a snippet, or why not."""

import random
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

import pytest

from puzzlemark.embedding.marking import first_mark
from puzzlemark.snippet import Snippet, apply_edits, invert_edits
from puzzlemark.syntax.tree import Tree, parse
from puzzlemark.syntax.variables import POLICIES, Policy
from puzzlemark.watermarks.base import Introducing, Keyed, Mark, Refusal, Watermark, from_spec

HERE = Path(__file__).parent
PAGES = sorted(HERE.glob("*/*.md"))
SECTIONS = {"watermark", "policy", "introduce", "before", "after", "refusal"}
BLOCK = re.compile(r"\A```\w+\n(.*)^```\s*\Z", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Page:
    watermark: Watermark
    policy: Policy
    introduce: bool
    before: Snippet
    after: str | None
    refusal: str | None

    @property
    def tree(self) -> Tree:
        return parse(self.before)

    def run(self) -> Mark | Refusal:
        rng = random.Random(self.before.id)
        if not self.introduce:
            return first_mark(self.watermark, self.tree, self.policy, rng)
        assert isinstance(self.watermark, Introducing)
        return first_mark(self.watermark, self.tree, self.policy, rng, introduce=True)


def read(path: Path) -> Page:
    head, *parts = re.split(r"^## ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert head.startswith("# "), f"{path}: a page opens with a title"
    sections = {
        title.strip(): text.strip("\n") for title, _, text in (p.partition("\n") for p in parts)
    }
    assert len(sections) == len(parts), f"{path}: a section stands twice"
    assert set(sections) <= SECTIONS, f"{path}: unknown sections {set(sections) - SECTIONS}"
    assert ("after" in sections) != ("refusal" in sections), f"{path}: either after or refusal"
    policy = sections.get("policy", "paper").strip()
    assert policy in POLICIES, f"{path}: no policy {policy!r}"
    assert sections.get("introduce", "yes").strip() == "yes", f"{path}: introduce is yes or absent"
    watermark = from_spec(sections["watermark"].strip())
    return Page(
        # a key that draws is the same for all pages: what it draws stands in them
        watermark=watermark.with_key(b"golden 5") if isinstance(watermark, Keyed) else watermark,
        policy=cast("Policy", policy),
        introduce="introduce" in sections,
        before=Snippet(path.stem, block(path, sections["before"]), path.parent.name),
        after=block(path, sections["after"]) if "after" in sections else None,
        refusal=sections["refusal"].strip() if "refusal" in sections else None,
    )


def block(path: Path, text: str) -> str:
    found = BLOCK.match(text.strip())
    assert found, f"{path}: expected one code block"
    return found[1]


def pages(kind: str) -> pytest.MarkDecorator:
    wanted = [path for path in PAGES if f"\n## {kind}\n" in path.read_text(encoding="utf-8")]
    assert wanted, f"no page has a section {kind}"
    return pytest.mark.parametrize(
        "path", wanted, ids=lambda path: f"{path.parent.name}-{path.stem}"
    )


def marked(path: Path) -> tuple[Page, Mark, bytes]:
    page = read(path)
    mark = page.run()
    assert isinstance(mark, Mark), mark
    return page, mark, apply_edits(page.before.code.encode(), mark.edits)


@pages("after")
def test_a_page_becomes_exactly_what_it_says(path: Path) -> None:
    page, _, after = marked(path)
    assert after.decode() == page.after


@pages("after")
def test_the_edits_of_a_page_can_be_undone(path: Path) -> None:
    page, mark, after = marked(path)
    assert apply_edits(after, invert_edits(mark.edits)).decode() == page.before.code


@pages("after")
def test_a_marked_page_carries_its_mark_by_nature(path: Path) -> None:
    page, mark, after = marked(path)
    tree = parse(replace(page.before, code=after.decode()))
    again = first_mark(page.watermark, tree, page.policy, random.Random(0))
    if isinstance(again, Refusal):  # CodeMark: only what is to be changed is a carrier
        assert page.watermark.name == "codemark"
    else:
        parts = tuple(replace(part, was=None) for part in mark.parts)
        assert again == Mark(parts, function=again.function, draw=mark.draw)
        # CoProtector's words and statements are looked for in the whole snippet first
        assert again.function == mark.function or again.function is None
    roles = {place.role for place in page.watermark.locate(tree, mark)}
    assert roles == {part.role for part in mark.parts}


@pages("refusal")
def test_a_page_is_refused_for_the_reason_it_says(path: Path) -> None:
    page = read(path)
    outcome = page.run()
    assert isinstance(outcome, Refusal), outcome
    assert page.refusal is not None
    assert page.refusal in outcome.reason


def test_no_title_stands_twice_in_a_language() -> None:
    titles = [(path.parent.name, path.read_text(encoding="utf-8").split("\n")[0]) for path in PAGES]
    assert len(titles) == len(set(titles))
