"""The page of `puzzlemark show --html` in a real browser."""

from pathlib import Path

import orjson
import pytest
from typer.testing import CliRunner

import puzzlemark as pm
from puzzlemark.cli.__main__ import application
from tests.browser.conftest import Looking

CODE = (
    "def f(key, item, a):\n    '</td><script>document.title = 1</script>\u202e'\n"
    f"    # {'w' * 900}\n    a = key\n    return a"
)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("marks")
    record = {"id": "<b>r0</b>", "language": "python", "code": CODE}
    (folder / "o.jsonl").write_bytes(orjson.dumps(record) + b"\n")
    manifest, html = folder / "marks.jsonl.gz", folder / "marks.html"
    pm.embed(
        folder / "o.jsonl",
        folder / "m.jsonl",
        manifest,
        watermark="fixed_prefix:prefix=key",
        policy="paper",
        tau=0,
        min_rate=1,
        max_rate=1,
    )
    options = ["--manifest", str(manifest), "--html", str(html)]
    done = CliRunner().invoke(application(), ["show", str(folder / "m.jsonl"), *options])
    assert done.exit_code == 0, done.output
    return html


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1280, 390])
def test_the_marks_open_offline_without_a_complaint(
    look: Looking, page: Path, width: int, dark: bool
) -> None:
    opened = look(page, width=width, dark=dark)
    assert opened.requests == [page.as_uri()]
    assert opened.complaints == []
    assert opened.page.title() == "Marks in m.jsonl"
    assert opened.page.locator("article").is_visible()
    assert opened.page.locator("script, article b").count() == 0
    assert opened.overflowing() == []
    assert opened.pale() == []


def test_on_a_phone_lines_stand_below_each_other_and_unchanged_ones_once(
    look: Looking, page: Path
) -> None:
    narrow = look(page, width=390).page
    changed = narrow.locator("tr.changed").first.locator("td.c")
    before, after = changed.nth(0).bounding_box(), changed.nth(1).bounding_box()
    assert before is not None
    assert after is not None
    assert before["x"] == after["x"]
    assert before["y"] + before["height"] <= after["y"]
    kept = narrow.locator("tbody tr:not(.changed):not(.gap)").first.locator("td.c")
    assert [kept.nth(0).is_visible(), kept.nth(1).is_visible()] == [False, True]
    wide = look(page, width=700).page.locator("tr.changed").first.locator("td.c")
    left, right = wide.nth(0).bounding_box(), wide.nth(1).bounding_box()
    assert left is not None
    assert right is not None
    assert left["y"] == right["y"]


def test_targets_are_highlighted_before_and_after(look: Looking, page: Path) -> None:
    targets = look(page).page.locator("td.c mark.target").all_inner_texts()
    assert targets == ["a", "key_item"] * 3


def test_the_marks_print_on_a4_and_nothing_is_clipped(look: Looking, page: Path) -> None:
    opened = look(page)
    assert opened.as_printed() == []
    assert opened.page.pdf().startswith(b"%PDF")
