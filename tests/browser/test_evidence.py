"""The page of a checked bundle in a real browser: offline, on a phone and on paper."""

from pathlib import Path

import pytest

from puzzlemark.pages.evidence import Findings, Item, Judged, Part, evidence_page
from puzzlemark.pages.timeline import Event
from tests.browser.conftest import Looking

LONG = "w" * 300
EVIL = "</li><script>document.title = 'owned'</script><img src=x>"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    names = ("Committed", "Stamped", "Published", "Asked", "Judged")
    events = tuple(Event(name, "2026-11-18 10:00 UTC", f"{LONG} {EVIL}", "wrong") for name in names)
    found = Findings(
        title=EVIL, name=LONG, sha256="0" * 64, commitment="1" * 64, result="failed",
        sentence="1 of 3 claims do not hold; do not rely on this bundle.",
        runs=(Judged(1, "detected", "exploratory", EVIL, LONG, events, (LONG,)),),
        parts=(Part("file", tuple(Item(EVIL, s, LONG) for s in ("ok", "failed", "unknown"))),),
        limits=(LONG, EVIL),
    )  # fmt: skip
    path = tmp_path_factory.mktemp("page") / "page.html"
    path.write_text(evidence_page(found))
    return path


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1280, 390])
def test_it_opens_offline_and_fits(look: Looking, page: Path, width: int, dark: bool) -> None:
    opened = look(page, width=width, dark=dark)
    assert opened.requests == [page.as_uri()]
    assert opened.complaints == []
    assert opened.page.title() == "Bundle: failed"
    assert opened.page.locator("script, img").count() == 0
    assert opened.overflowing() == []
    assert opened.pale() == []
    assert opened.page.locator("svg.timeline circle").count() == 5


def test_it_prints_and_the_text_of_the_picture_is_large_enough(look: Looking, page: Path) -> None:
    opened = look(page, width=390)
    height = opened.page.locator("svg.timeline .about").first.evaluate(
        "node => node.getBoundingClientRect().height"
    )
    assert height > 10
    assert opened.as_printed() == []
    for paper in ("A4", "Letter"):
        assert opened.page.pdf(format=paper).startswith(b"%PDF")
