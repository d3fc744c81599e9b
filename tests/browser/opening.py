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
    const text = node.clientWidth ? box.left + node.scrollWidth : 0;  // may be wider than its box
    if (Math.max(box.right, text) > innerWidth + 1 || box.left < -1 || clips)
      bad.push(node.outerHTML.slice(0, 120));
  }
  return bad;
}"""

# Text colours against what lies behind them, for all that is shown: ratio and what it is about.
# Half transparent ones are mixed with what they lie on.
CONTRASTS = """() => {
  const parse = (text) => {
    const n = text.match(/[\\d.]+/g).map(Number);
    return { rgb: n.slice(0, 3), a: n[3] ?? 1 };
  };
  const light = ([r, g, b]) => {
    const linear = (v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
    const each = [r, g, b].map((v) => linear(v / 255));
    return 0.2126 * each[0] + 0.7152 * each[1] + 0.0722 * each[2];
  };
  const mix = (over, under) => under.map((v, i) => over.a * over.rgb[i] + (1 - over.a) * v);
  const behind = (node) => {
    if (!node) return [255, 255, 255];
    const own = parse(getComputedStyle(node).backgroundColor);
    return own.a === 1 ? own.rgb : mix(own, behind(node.parentElement));
  };
  const opacity = (node) =>
    node ? Number(getComputedStyle(node).opacity) * opacity(node.parentElement) : 1;
  const found = [];
  const add = (node, style, about) => {
    const picture = node.ownerSVGElement;
    const colour = parse(picture ? style.fill : style.color);
    const under = behind(picture ?? node);
    colour.a *= opacity(node);
    const [a, b] = [light(mix(colour, under)), light(under)].sort((x, y) => y - x);
    found.push([(a + 0.05) / (b + 0.05), about, picture ? style.fill : style.color]);
  };
  for (const node of document.body.querySelectorAll('*')) {
    const own = [...node.childNodes].some((child) => child.nodeType === 3 && child.data.trim());
    if (['script', 'style', 'noscript', 'title', 'desc'].includes(node.tagName.toLowerCase()))
      continue;
    if (!node.checkVisibility()) continue;
    if (node.disabled) continue;  // WCAG 1.4.3: an inactive control has no requirement
    if (own) add(node, getComputedStyle(node), node.outerHTML.slice(0, 60));
    if (node.className === 'line') add(node, getComputedStyle(node, '::before'), 'line number');
  }
  return found;
}"""
READABLE = 4.5  # WCAG 2.2, AA, for text of any size

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

    def contrasts(self) -> list[tuple[float, str, str]]:
        """Each text: its contrast with what lies behind it, what it is, and its colour."""
        return [tuple(each) for each in self.page.evaluate(CONTRASTS)]

    def pale(self) -> list[tuple[float, str, str]]:
        """Texts that are hard to read."""
        return [each for each in self.contrasts() if each[0] < READABLE]

    def completions(self) -> list[dict[str, Any]]:
        """What the model wrote, with its highlights."""
        found: list[dict[str, Any]] = self.page.evaluate(COMPLETIONS)
        return found
