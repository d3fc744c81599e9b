"""A page in a browser, and what is measured there."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Page

A4_TEXT = 680  # CSS pixels: 210 mm less two margins of 15 mm

# Elements that reach beyond the window, or hold more than they show; what scrolls may do so.
OVERFLOWING = """() => {
  const scrolls = (node) => node && node !== document.documentElement &&
    (['auto', 'scroll'].includes(getComputedStyle(node).overflowX) || scrolls(node.parentElement));
  const bad = [];
  for (const node of document.body.querySelectorAll('*')) {
    if (node.ownerSVGElement || scrolls(node)) continue;
    const box = node.getBoundingClientRect();
    const hides = getComputedStyle(node).overflowX !== 'visible';
    const clips = hides && node.scrollWidth > node.clientWidth + 1;
    if (box.right > innerWidth + 1 || box.left < -1 || clips)
      bad.push(node.outerHTML.slice(0, 120));
  }
  return bad;
}"""

# For each completion: its text as a reader would copy it, and the highlighted places in it.
COMPLETIONS = """() => [...document.querySelectorAll('samp')].map((samp) => {
  let text = '';
  const hits = [];
  for (const node of samp.childNodes) {
    const end = text.length + node.textContent.length;
    if (node.nodeName === 'MARK') hits.push([text.length, end, node.className]);
    text += node.textContent;
  }
  return {text, hits};
})"""


class Opened:
    """A page that was opened from the disk, and all that it did meanwhile."""

    def __init__(self, page: "Page", path: Path) -> None:
        self.page = page
        self.requests: list[str] = []
        self.complaints: list[str] = []
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("dialog", lambda dialog: self.complaints.append(dialog.message))
        page.goto(path.as_uri())

    def overflowing(self) -> list[str]:
        """Elements that do not fit."""
        found: list[str] = self.page.evaluate(OVERFLOWING)
        return found

    def as_printed(self) -> list[str]:
        """The same on A4 paper."""
        self.page.emulate_media(media="print")
        self.page.set_viewport_size({"width": A4_TEXT, "height": 970})
        return self.overflowing()

    def completions(self) -> list[dict[str, Any]]:
        """What the model wrote, with its highlights."""
        found: list[dict[str, Any]] = self.page.evaluate(COMPLETIONS)
        return found
