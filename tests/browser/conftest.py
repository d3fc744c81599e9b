"""A real browser, where there is one."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browser.opening import Opened

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ARGUMENTS = (
    "--no-sandbox --disable-gpu --disable-background-networking --disable-component-update "
    "--disable-sync --no-first-run"
).split()


@pytest.fixture(scope="session")
def browser() -> Iterator["Browser"]:
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("no browser: chromium is not installed")
    playwright = pytest.importorskip("playwright.sync_api", reason="no browser: no playwright")
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=program, args=ARGUMENTS)
        yield opened
        opened.close()


@pytest.fixture
def look(browser: "Browser") -> Iterator["Looking"]:
    looking = Looking(browser)
    yield looking
    looking.close()


class Looking:
    """Opens pages from the disk, each in a window of its own, and closes them in the end."""

    def __init__(self, browser: "Browser") -> None:
        self.browser = browser
        self.opened: list[Opened] = []

    def __call__(self, path: Path, *, width: int = 1100, dark: bool = False) -> Opened:
        context = self.browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme="dark" if dark else "light"
        )
        self.opened.append(Opened(context.new_page(), path))
        return self.opened[-1]

    def close(self) -> None:
        for each in self.opened:
            each.page.context.close()
