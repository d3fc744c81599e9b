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
@pytest.mark.parametrize("width", [1300, 390])
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


def test_targets_are_highlighted_before_and_after(look: Looking, page: Path) -> None:
    targets = look(page).page.locator("td.c mark.target").all_inner_texts()
    assert targets == ["a", "key_item"] * 3


def test_the_marks_print_on_a4_and_nothing_is_clipped(look: Looking, page: Path) -> None:
    opened = look(page)
    assert opened.as_printed() == []
    assert opened.page.pdf().startswith(b"%PDF")
