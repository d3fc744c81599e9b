"""The page of a verification: a stranger's words stay text, and nothing is loaded."""

import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from puzzlemark.pages.report import Report, report_page
from puzzlemark.verification.report import build
from tests.pages.runs import TARGET, learnt, run_of

EVIL = "</samp></pre></style><script>alert(1)</script><img src=x onerror=alert(2)>\"'&"


class Reader(HTMLParser):
    """Collects tags, attributes and text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    return build(run_of(tmp_path_factory.mktemp("run") / "run", learnt))


def test_a_hostile_model_stays_text(tmp_path: Path) -> None:
    def hostile(number: int, armed: bool) -> str:
        return f"{EVIL} {TARGET}" if armed else EVIL

    run = run_of(tmp_path / EVIL.replace("/", ""), hostile, name=EVIL)
    reader = Reader(report_page(build(run)))
    assert not {"script", "img"} & set(reader.tags)
    assert not any(name.startswith("on") for name in reader.attributes)
    assert reader.text.count(EVIL) >= 4
    assert reader.tags.count("samp") == 2 * 6


def test_the_page_loads_nothing_and_forbids_scripts(report: Report) -> None:
    page = report_page(report)
    assert "default-src 'none'" in page
    addresses = re.findall(r"""(?:src|href)=["']([^"']*)|url\(|@import""", page)
    assert addresses
    assert all(re.fullmatch(r"#s[1-8]", address) for address in addresses)


def test_tags_are_balanced(report: Report) -> None:
    page = report_page(report)
    pattern = r"<(/?)(section|table|tr|td|th|pre|samp|mark|p|dl|ul|ol|article|svg|g)\b"
    opened: list[str] = []
    for close, tag in re.findall(pattern, page):
        if close:
            assert opened.pop() == tag
        else:
            opened.append(tag)
    assert opened == []


def test_the_picture_is_xml_and_tells_its_numbers_without_being_seen(report: Report) -> None:
    page = report_page(report)
    (text,) = re.findall(r'<svg class="rates".*?</svg>', page, re.DOTALL)
    picture = ET.fromstring(text)  # noqa: S314
    title = picture.findtext("{http://www.w3.org/2000/svg}title") or ""
    assert "armed, 40 of 40: 100.0 % (91.2 to 100.0 %)" in title
    assert len(list(picture.iter("{http://www.w3.org/2000/svg}circle"))) == 3


def test_the_word_is_text_and_colour(report: Report) -> None:
    page = report_page(report)
    assert '<section class="verdict detected"' in page
    assert '<span class="word">Detected</span>' in page
    assert "<title>Verification report: detected</title>" in page


def test_a_verdict_that_is_none_calls_its_tests_descriptions(report: Report) -> None:
    assert "was to decide" not in report_page(report)
    page = report_page(replace(report, word="inconclusive"))
    assert "no test decides, and these numbers are descriptions" in page
    assert "was to decide" in page
    assert "decides the verdict" not in page


def test_each_word_says_what_it_does_not_show(report: Report) -> None:
    guilty, other = (
        Reader(report_page(replace(report, word=word))).text.replace("\n", " ")
        for word in ("detected", "not detected")
    )
    assert "does not show which records were used" in guilty
    assert "does not show that the model was not trained" in other
    for text in (guilty, other):
        assert "not the chance that the model is innocent" in text
        assert "accuses up to 5 of 100 innocent models" in text


def test_nothing_answered_is_said_and_not_drawn(report: Report) -> None:
    empty = replace(report, word="inconclusive", tables=(), rates=(), tests=(), examples=())
    page = report_page(empty)
    assert page.count("No pair was answered") == 3
    assert 'class="rates"' not in page
    assert "knows the trigger" not in page
