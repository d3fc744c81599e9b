"""The page of marks: everything escaped, nothing loaded."""

import re
from dataclasses import dataclass, replace
from html.parser import HTMLParser

from puzzlemark.pages.diff import Role
from puzzlemark.pages.marks import Count, Fact, join, marks_page, tell_origins

EVIL = '"><script>alert(1)</script><img src=x onerror=alert(2)>'


@dataclass(frozen=True)
class Span:
    start: int
    end: int
    role: Role


@dataclass(frozen=True)
class Side:
    code: str
    spans: tuple[Span, ...]


@dataclass(frozen=True)
class Part:
    role: Role
    text: str
    was: str | None = None


def parts_of(replaced: str | None, introduced: str | None = None) -> tuple[Part, ...]:
    return (
        Part("prefix", "key", introduced),
        Part("suffix", "item"),
        Part("target", "key_item", replaced),
    )


@dataclass(frozen=True)
class Mark:
    before: Side
    after: Side
    row: int = 7
    id: str = "a.py#L1"
    function: int | None = None
    parts: tuple[Part, ...] = parts_of("a")


def example(tail: str = "") -> Mark:
    before = "def f(key, item, a):\n    return a" + tail
    after = "def f(key, item, key_item):\n    return key_item" + tail
    return Mark(
        Side(before, (Span(6, 9, "prefix"), Span(11, 15, "suffix"), Span(17, 18, "target"))),
        Side(after, (Span(6, 9, "prefix"), Span(11, 15, "suffix"), Span(17, 25, "target"))),
    )


class Reader(HTMLParser):
    """Collects tags, attributes and the texts of highlighted names."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.named: list[tuple[str, str]] = []
        self.text = ""
        self._role: str | None = None
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}
        self._role = dict(attrs).get("class") if tag == "mark" else None

    def handle_endtag(self, tag: str) -> None:  # noqa: ARG002
        self._role = None

    def handle_data(self, data: str) -> None:
        self.text += data
        if self._role:
            self.named.append((self._role, data))


def test_names_are_highlighted_by_their_roles() -> None:
    named = Reader(marks_page("t", [example()])).named
    legend_and_heading = 6
    assert named[legend_and_heading:] == [
        ("prefix", "key"),
        ("suffix", "item"),
        ("target", "a"),
        ("prefix", "key"),
        ("suffix", "item"),
        ("target", "key_item"),
    ]


def test_a_strangers_code_stays_text() -> None:
    mark = example(f"\n    x = '{EVIL}'")
    evil = Mark(mark.before, mark.after, id=EVIL, parts=parts_of(EVIL))
    page = marks_page(EVIL, [evil], counts=[Count(EVIL, EVIL)], facts=[Fact(EVIL, EVIL)])
    reader = Reader(page)
    assert "script" not in reader.tags
    assert "img" not in reader.tags
    assert not any(name.startswith("on") for name in reader.attributes)
    assert reader.text.count(EVIL) >= 7


def test_the_page_loads_nothing_and_forbids_scripts() -> None:
    page = marks_page("t", [example()])
    assert "default-src 'none'" in page
    assert not re.search(r"(src|href)\s*=|url\(|@import|https?:", page)


def test_tags_are_balanced() -> None:
    page = marks_page("t", [example(), example()], counts=[Count("1", "a")], facts=[Fact("a", "b")])
    for tag in ("table", "tr", "td", "mark", "article", "main", "html", "ul", "dl"):
        assert len(re.findall(rf"<{tag}\b", page)) == page.count(f"</{tag}>"), tag


def test_lines_far_from_a_name_are_counted_not_shown() -> None:
    page = marks_page("t", [example("\n    pass" * 20)])
    assert "17 lines not shown" in page


def test_a_page_says_when_it_shows_a_part_only() -> None:
    assert "1 of 1,234 marks are shown" in marks_page("t", [example()], total=1234)
    assert "are shown" not in marks_page("t", [example()])


def test_the_kind_of_a_mark_is_said() -> None:
    mark = example()
    natural = Mark(mark.after, mark.after, parts=parts_of(None))
    introduced = Mark(mark.before, mark.after, parts=parts_of("a", "k"))
    assert "nothing was changed" in marks_page("t", [natural])
    page = marks_page("t", [introduced])
    assert "prefix was k" in page
    assert ">introduced<" in page


def test_pairs_of_a_mixture_are_joined_in_one_heading() -> None:
    parts = (
        Part("trigger", "list()", "[]"),
        Part("target", "range(0, ...)", "range(...)"),
        Part("trigger", "f.__call__(...)"),
        Part("target", "print(..., flush=True)", ""),
    )
    formula = "".join(part.joint + part.text for part in join(parts))
    assert formula == ("list() -> range(0, ...); f.__call__(...) -> print(..., flush=True)")
    assert list(tell_origins(parts)) == [
        "trigger was []",
        "target was range(...)",
        "target inserted",
    ]
    page = marks_page("t", [replace(example(), parts=parts)])
    assert "what a model is asked with" in page
    assert "second part" not in page
