from dataclasses import replace

import pytest

from puzzlemark.errors import UnparsableSnippet, UsageError
from puzzlemark.languages.base import Grammar
from puzzlemark.languages.java import PLUGIN as JAVA
from puzzlemark.snippet import Snippet
from puzzlemark.syntax.tree import load_grammar, parse


def python(code: str) -> Snippet:
    return Snippet("it", code, "python")


def test_a_tree_knows_its_snippet_and_its_bytes() -> None:
    tree = parse(python("x = 'é'"))
    assert tree.code == b"x = '\xc3\xa9'"
    assert tree.source == tree.code
    assert tree.offset == 0
    assert tree.language.name == "python"


def test_the_text_of_a_node_counts_bytes_not_characters() -> None:
    tree = parse(python("'é'; name"))
    assert tree.text(tree.root.named_children[1]) == "name"


@pytest.mark.parametrize("code", ["def f(:\n", "x = ", "f(", "class", "\x00", "return 'a"])
def test_syntax_errors_are_refused(code: str) -> None:
    with pytest.raises(UnparsableSnippet, match="syntax errors"):
        parse(python(code))


@pytest.mark.parametrize("code", ["", " \n\t", "\r\n"])
def test_empty_code_is_refused(code: str) -> None:
    with pytest.raises(UnparsableSnippet, match="empty code"):
        parse(python(code))


def test_a_lone_surrogate_is_refused() -> None:
    with pytest.raises(UnparsableSnippet, match="not valid Unicode"):
        parse(python("x = '\ud800'"))


def test_an_unknown_language_is_refused_by_name() -> None:
    with pytest.raises(UnparsableSnippet, match="cobol"):
        parse(Snippet("it", "x", "cobol"))


@pytest.mark.parametrize("language", ["python", "Python", "PY", " python3 "])
def test_a_language_has_several_spellings(language: str) -> None:
    assert parse(Snippet("it", "x = 1", language)).language.name == "python"


@pytest.mark.parametrize("code", ["print 1", "exec 'x'", "raise E, 1", "x = `y`", "x = 0777 + 1L"])
def test_python_2_parses(code: str) -> None:
    assert parse(python(code)).root.type == "module"


def test_code_in_which_a_language_needs_a_function_is_read_inside_its_wrapper(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fields = replace(JAVA, functions=frozenset({"field_declaration"}), needs_function=True)
    monkeypatch.setattr("puzzlemark.syntax.tree.find", lambda _name: fields)
    assert parse(Snippet("x", "int x;", "java")).offset == len("class X {")
    with pytest.raises(UnparsableSnippet, match="no function in it"):
        parse(Snippet("x", "{ int x = 1; }", "java"))


def test_a_grammar_that_is_not_installed_is_named() -> None:
    with pytest.raises(UsageError, match=r"tree_sitter_x\.language\(\): pip install tree-sitter-x"):
        load_grammar(Grammar("tree_sitter_x"))
