"""The pages of the watermarks show what the watermarks do."""

import random
import re
from pathlib import Path

import pytest

from puzzlemark.embedding.marking import first_mark
from puzzlemark.embedding.plan import dice
from puzzlemark.languages.base import title_of
from puzzlemark.snippet import Snippet, apply_edits
from puzzlemark.syntax.tree import parse
from puzzlemark.watermarks._names import ProbeNames
from puzzlemark.watermarks.base import Mark, Probe, named

FOLDER = Path(__file__).parents[2] / "docs" / "watermarks"
OURS_AND_COPROTECTORS = "P1 P2 P3 P4 U1 U2 W1 W2 S1 S2".split()


@pytest.mark.parametrize("name", OURS_AND_COPROTECTORS)
def test_a_page_shows_what_becomes_of_its_code_and_what_is_asked(name: str) -> None:
    each, page = named()[name], (FOLDER / f"{name}.md").read_text()
    before, after = re.findall(rf"^```{each.language}\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    tree = parse(Snippet(name, before, each.language))
    mark = first_mark(each.watermark, tree, "paper", dice(name, b""))
    assert isinstance(mark, Mark), mark
    assert apply_edits(before.encode(), mark.edits).decode() == after
    names = ProbeNames(random.Random(0))
    probe = each.watermark.probe(parse(Snippet(name, after, each.language)), mark, names)
    assert isinstance(probe, Probe), probe
    (prompt,) = re.findall(r"^```text\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    assert prompt.rstrip() == probe.armed.prompt.rstrip()
    assert f"the target `{probe.armed.target}`" in page


def test_the_index_names_every_mark_with_its_language_and_what_is_usual() -> None:
    rows = re.findall(
        r"^\| \[(\w+)\]\(\1\.md\) \| (\w+) \| `(\w+)[^|]*\|.*\| ([\d.]+) \| ([^|]+) \|$",
        (FOLDER / "README.md").read_text(),
        re.MULTILINE,
    )
    told = {name: tuple(rest) for name, *rest in rows}
    assert told == {
        name: (
            title_of(each.language),
            each.watermark.name,
            f"{each.watermark.defaults.tau:g}",
            {0.01: "1-5 %", 0.05: "5 %", 0: "all carriers"}[each.watermark.defaults.min_rate],
        )
        for name, each in named().items()
    }
