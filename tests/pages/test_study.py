"""The page of a participant, as text."""

import base64
import hashlib
import json
import re
from dataclasses import replace

import pytest

from puzzlemark.pages.study import Piece, Round, StudyPage, inert_json, read_data, study_page

EVIL = "</script><script>alert(1)</script> <!-- & \u2028\u2029 ' \""
PAGE = StudyPage(
    study="0123456789ab",
    participant="p01",
    token="f" * 32,
    language="python",
    title=f"Title {EVIL}",
    consent="One `x` here.\n\n- first\n  line\n- second",
    agree=f"Agree {EVIL}",
    question=f"Question {EVIL}",
    suspicious=f"Yes {EVIL}",
    ordinary="No",
    thanks="Thanks.",
    rounds=(Round(1, "Do it.", ("b" * 12, "a" * 12)),),
    of_rounds=1,
    snippets={"b" * 12: (Piece("comment", EVIL),), "a" * 12: (Piece("", "x\n"),)},
)


def test_json_in_a_script_can_neither_end_it_nor_open_a_comment() -> None:
    text = inert_json({EVIL: [EVIL]})
    assert not set("<>&\u2028\u2029") & set(text)
    assert json.loads(text) == {EVIL: [EVIL]}


def test_whatever_a_page_holds_there_are_two_scripts_and_one_of_them_is_data() -> None:
    page = study_page(PAGE)
    assert len(re.findall(r"<script[ >]", page)) == 2
    assert page.count("</script>") == 2
    assert read_data(page)["snippets"]["b" * 12] == [["comment", EVIL]]
    assert list(read_data(page)["snippets"]) == ["a" * 12, "b" * 12]


def test_the_policy_allows_the_one_script_by_its_digest_and_no_connection() -> None:
    page = study_page(PAGE)
    found = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert found is not None
    policy = dict(each.strip().split(" ", 1) for each in found[1].split(";"))
    script = page.rpartition("<script>")[2].partition("</script>")[0]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert policy["script-src"] == f"'sha256-{digest}'"
    assert policy["default-src"] == policy["connect-src"] == "'none'"


def test_a_text_becomes_paragraphs_lists_and_code() -> None:
    assert read_data(study_page(PAGE))["texts"]["consent"] == [
        ["p", [["", "One "], ["code", "x"], ["", " here."]]],
        ["ul", [[["", "first line"]], [["", "second"]]]],
    ]
    later = read_data(study_page(replace(PAGE, consent=None)))
    assert later["texts"]["consent"] is None


def test_another_page_is_none_of_a_study() -> None:
    for text in ("", "<p>", '<script type="application/json" id="study">[]</script>'):
        with pytest.raises(ValueError, match="no page of a study"):
            read_data(text)
