"""The website: every link leads somewhere, nothing is fetched, no page is left out or mangled."""

import os
import subprocess
import sys
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

pytest.importorskip("mkdocs", reason="needs the extra docs")
pytest.importorskip("material", reason="needs the extra docs")
pytest.importorskip("mkdocstrings", reason="needs the extra docs")

from puzzlemark import plugins

ROOT = Path(__file__).parents[2]
FETCHING = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src"}


class Page(HTMLParser):
    """What a page links to, what it fetches, and what can be linked to in it."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.ids: set[str] = set()
        self.tags: Counter[str] = Counter()
        self.article = 0
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.article += tag == "article"
        if self.article:
            self.tags[tag] += 1
        self.ids |= {found[name] for name in ("id", "name") if name in found}
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        if tag in FETCHING and found.get("rel") != "canonical":
            self.fetched.append(found.get(FETCHING[tag], ""))

    def handle_endtag(self, tag: str) -> None:
        self.article -= tag == "article"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("site")
    paths = os.pathsep.join([str(ROOT), str(ROOT / "src")])
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(target)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": paths, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return target


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    return {path.resolve(): Page(path) for path in site.rglob("*.html")}


def test_every_link_and_every_anchor_of_the_site_is_there(pages: dict[Path, Page]) -> None:
    broken = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or (path.name == "404.html"):
                continue
            there = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            there = there / "index.html" if there.is_dir() else there
            if not there.exists():
                broken.append((path.name, link))
            elif parts.fragment and there in pages:
                is_there = unquote(parts.fragment) in pages[there].ids
                broken += [] if is_there else [(path.name, link)]
    assert not broken


def test_nothing_is_fetched_from_elsewhere(pages: dict[Path, Page], site: Path) -> None:
    for path, page in pages.items():
        assert not [each for each in page.fetched if urlsplit(each).scheme], path
    for style in site.rglob("*.css"):
        assert "@import" not in style.read_text(encoding="utf-8")
        assert "url(http" not in style.read_text(encoding="utf-8")


def test_every_page_of_the_repository_and_every_command_is_in_it(pages: dict[Path, Page]) -> None:
    shown = {path.as_posix() for path in pages}
    for page in (ROOT / "docs").rglob("*.md"):
        inside = page.relative_to(ROOT / "docs")
        if inside.name == "explained.md" or inside.as_posix() == "LOG.md":
            continue  # a part of another page; project/log.html
        name = inside.with_name(
            "index.html" if inside.name == "README.md" else f"{inside.stem}.html"
        )
        assert any(each.endswith(f"/{name.as_posix()}") for each in shown), page
    for command in (*plugins.names("cli"), *plugins.subpackages("cli")):
        assert any(each.endswith(f"/commands/{command}.html") for each in shown), command


def test_lists_and_tables_are_as_commonmark_reads_them(pages: dict[Path, Page]) -> None:
    """Python-Markdown asks for more blank lines than CommonMark, by which the pages are written."""
    from markdown_it import MarkdownIt

    reader = MarkdownIt("commonmark").enable("table")
    for page in sorted((ROOT / "docs").rglob("*.md")):
        inside = page.relative_to(ROOT / "docs")
        name = inside.with_name(
            "index.html" if inside.name == "README.md" else f"{inside.stem}.html"
        )
        found = [path for path in pages if path.as_posix().endswith(f"/{name.as_posix()}")]
        if not found or inside.parts[0] in ("commands", "api"):
            continue
        shown = pages[min(found, key=lambda path: len(path.parts))]
        tokens = Counter(each.type for each in reader.parse(page.read_text(encoding="utf-8")))
        assert shown.tags["li"] == tokens["list_item_open"], inside
        assert shown.tags["tr"] == tokens["tr_open"], inside
