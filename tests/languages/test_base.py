"""Plain lexing, and what is found in all languages together."""

import pytest

from puzzlemark.languages.base import (
    Grammar,
    Lexing,
    decode_utf8,
    every_language,
    name_sets,
    parsing_packages,
    skipped_by_tokenizers,
    title_of,
)
from puzzlemark.languages.java import PLUGIN as JAVA


def test_a_grammar_names_its_wheel() -> None:
    assert Grammar("tree_sitter_c_sharp").package == "tree-sitter-c-sharp"


def test_every_language_is_there_once_by_name() -> None:
    names = [language.name for language in every_language()]
    assert names == sorted(set(names))
    assert {"java", "python"} <= set(names)


def test_the_packages_that_read_code_are_in_the_order_of_our_files() -> None:
    assert parsing_packages() == (
        "tree-sitter",
        "tree-sitter-typescript",
        "tree-sitter-ruby",
        "tree-sitter-python",
        "tree-sitter-php",
        "tree-sitter-javascript",
        "tree-sitter-java",
        "tree-sitter-go",
    )


@pytest.mark.parametrize(
    ("code", "stripped"),
    [
        ("f(x); // why", "f(x);  "),
        ('s = "// no"; /* yes\n */ g()', 's = "// no";   g()'),
        ("c = '\"'; // \"", "c = '\"';  "),
        (r's = "\" // no"; // yes', r's = "\" // no";  '),
    ],
)
def test_comments_are_told_from_strings(code: str, stripped: str) -> None:
    assert JAVA.lexing.strip_comments(code) == stripped


def test_only_the_same_quotes_end_a_long_string() -> None:
    lexing = Lexing(line_comments=("--",), long_quotes=("`",), quotes=('"',))
    assert lexing.strip_comments('a = `x\\` -- "why`\n') == "a = `x\\`  \n"


@pytest.mark.parametrize(
    "left_out",
    [
        "  \n\t",
        "\\\n",
        "# one",
        "// two",
        "/* three\n */",
        '"four \\" and"',
        "'five'",
        'rb"""six " \n"""',
        "F'''seven'''",
        '""',
    ],
)
def test_what_tokenizers_leave_out(left_out: str) -> None:
    found = skipped_by_tokenizers().match(left_out.encode())
    assert found is not None
    assert found.end() == len(left_out)


@pytest.mark.parametrize("code", ["x", "+", '"open', "/ 2", "rx"])
def test_what_they_never_leave_out(code: str) -> None:
    assert skipped_by_tokenizers().match(code.encode()) is None


def test_utf8_with_and_without_a_mark() -> None:
    assert decode_utf8(b"\xef\xbb\xbfx\xc3\xa9") == decode_utf8(b"x\xc3\xa9") == "xé"
    with pytest.raises(ValueError, match="not valid utf-8"):
        decode_utf8(b"\xff")


def test_sets_of_names_stand_on_lines_and_between_bars() -> None:
    assert name_sets("\ntmp temp | i idx index\n k key\n") == (
        ("tmp", "temp"),
        ("i", "idx", "index"),
        ("k", "key"),
    )


def test_a_language_is_written_as_people_do() -> None:
    written = [title_of(name) for name in ("javascript", "TS", "php", "go", "python", "cobol")]
    assert written == ["JavaScript", "TypeScript", "PHP", "Go", "Python", "cobol"]
