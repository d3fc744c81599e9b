"""The index of results has a row for everything that the paper shows, and each row is true."""

import re
from pathlib import Path

import pytest
from typer.main import get_command

from puzzlemark.cli.__main__ import application

RESULTS = Path(__file__).parents[2] / "docs" / "results"
# every \label of a table, figure or algorithm in the paper's source, in its order
LABELS = """
fig:carrier-detection-rate fig:nloc-violin fig:codemark-coprotector fig:overview
tab:watermark-detail fig:feature-selection alg:watermark_embedding fig:case tab:rq1_effective
fig:harmless tab:rq1_harmless tab:rq2_human_study tab:rq2_watermark_detection tab:rq3_removal_attack
tab:rq3_dilution_attack fig:threshold-recall fig:threshold-f1 fig:projection-ablation
tab:rq4_hyperparam tab:rq5_project_protection
""".split()
COLUMNS = 6
ROW = re.compile(r"^\| `((?:tab|fig|alg):[\w-]+)` \|(.*)\|$", re.MULTILINE)
LINK = re.compile(r"\]\(([^)]+)\)")


def rows() -> dict[str, list[str]]:
    found = ROW.findall((RESULTS / "README.md").read_text())
    return {label: [cell.strip() for cell in rest.split("|")] for label, rest in found}


def test_every_label_of_the_paper_has_one_row_in_its_order() -> None:
    assert list(rows()) == LABELS
    assert all(len(cells) == COLUMNS - 1 for cells in rows().values())


@pytest.mark.parametrize("label", LABELS)
def test_a_row_has_commands_that_exist_and_pages_that_are_there(label: str) -> None:
    _, command, ours, picture, scale = rows()[label]
    named = re.findall(r"`puzzlemark ([^`]+)`", command)
    assert named
    for words in named:
        inner = get_command(application())
        for word in words.split():
            inner = inner.commands[word]  # type: ignore[attr-defined]
    linked = LINK.findall(ours)
    assert linked
    for target in (*linked, *LINK.findall(picture)):
        assert (RESULTS / target).exists(), f"{label}: {target}"
    assert (
        LINK.findall(picture)
        or picture in ("none", "before and after, as text")
        or label == ("fig:overview")
    )
    assert scale


def test_a_row_names_its_label_in_the_page_that_it_leads_to() -> None:
    for label in ("fig:threshold-recall", "fig:threshold-f1", "fig:projection-ablation",
                  "fig:feature-selection", "tab:rq4_hyperparam"):  # fmt: skip
        assert label in (RESULTS / "rq4.md").read_text()
    for label in ("fig:carrier-detection-rate", "fig:nloc-violin"):
        assert label in (RESULTS / "motivation.md").read_text()


def test_every_picture_of_the_results_is_in_the_index() -> None:
    shown = {target for cells in rows().values() for target in LINK.findall(cells[3])}
    for folder in ("rq1", "rq4", "motivation"):
        there = {path.relative_to(RESULTS).as_posix() for path in (RESULTS / folder).glob("*.svg")}
        assert there <= shown
