"""Code in colours: the text stays, and nothing hides in it."""

from pathlib import Path

import pytest

from puzzlemark.errors import UnparsableSnippet
from puzzlemark.pages.diff import make_visible
from puzzlemark.studying.highlighting import highlight

HOSTILE = "def f(x):\n    # </script><b>\u2028\u202e\x1b\n    y = '\u202e' + x\n    return y\n"


def kinds(code: str, language: str) -> dict[str, str]:
    return {piece.text: piece.kind for piece in highlight(code, language)}


def test_python_has_its_colours() -> None:
    found = kinds('def f(x):\n    # why\n    y = "s" + x * 12\n    return None\n', "python")
    assert found["def"] == found["return"] == found["None"] == "keyword"
    assert found["# why"] == "comment"
    assert found['"s"'] == "string"
    assert found["12"] == "number"
    assert all(not kind for text, kind in found.items() if "x" in text)


def test_java_has_its_colours_and_no_wrapper() -> None:
    code = "public int f(String to) {\n    int n = 3; // so\n    return n + to.length();\n}"
    found = kinds(code, "java")
    assert found["public"] == found["int"] == found["return"] == "keyword"
    assert found["String"] == "type"
    assert found["// so"] == "comment"
    assert "to" not in found  # a name, although `to` is reserved in modules
    assert "".join(piece.text for piece in highlight(code, "java")) == code


def test_what_hides_or_turns_around_is_shown_as_a_sign() -> None:
    text = "".join(piece.text for piece in highlight(HOSTILE, "python"))
    assert "</script><b>" in text
    assert not set(text) & {"\u2028", "\u202e", "\x1b"}
    assert len(text) == len(HOSTILE)


def test_line_ends_of_windows_are_line_ends() -> None:
    text = "".join(piece.text for piece in highlight("def f():\r\n    return 1\r\n", "python"))
    assert text == "def f():\n    return 1\n"


@pytest.mark.parametrize("language", ["python", "java"])
def test_every_text_survives(language: str) -> None:
    programs = sorted((Path(__file__).parents[1] / "programs" / language).iterdir())[:40]
    texts = [path.read_text() for path in programs if path.is_file()]
    assert len(texts) > 5
    for code in texts:
        pieces = highlight(code, language)
        assert "".join(piece.text for piece in pieces) == make_visible(code)
        assert all(piece.text for piece in pieces)


def test_code_that_does_not_parse_is_refused_and_not_shown_without_colours() -> None:
    with pytest.raises(UnparsableSnippet):
        highlight("def f(:", "python")
