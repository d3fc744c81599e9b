"""The check of a language's tables notices each table that is taken away or spelt wrong."""

from dataclasses import replace
from typing import Any

import pytest

from puzzlemark.languages.base import Docstring, Grammar, Language, Lexing
from puzzlemark.languages.java import PLUGIN as JAVA
from puzzlemark.languages.python import PLUGIN as PYTHON
from puzzlemark.syntax.checking import NEVER_EMPTY, find_gaps


def changed(language: Language = PYTHON, **tables: Any) -> Language:
    return replace(language, **tables)


def without(language: Language, table: str) -> Language:
    """The language with one table emptied: `tokens.comments`."""
    group, _, name = table.rpartition(".")
    owner = getattr(language, group) if group else language
    emptied: Any = replace(owner, **{name: type(getattr(owner, name))()})
    return changed(language, **{group: emptied} if group else {name: getattr(emptied, name)})


@pytest.mark.parametrize("language", [PYTHON, JAVA], ids=["python", "java"])
def test_ours_have_no_gaps(language: Language) -> None:
    assert find_gaps(language) == []


@pytest.mark.parametrize("table", NEVER_EMPTY)
@pytest.mark.parametrize("language", [PYTHON, JAVA], ids=["python", "java"])
def test_an_empty_table_is_named(language: Language, table: str) -> None:
    assert f"{table}: is empty" in find_gaps(without(language, table))


@pytest.mark.parametrize(
    ("language", "gap"),
    [
        (changed(grammar=Grammar("tree_sitter_cobol")), "pip install tree-sitter-cobol"),
        (changed(grammar=Grammar("tree_sitter_python", "language_x")), "language_x()"),
        (changed(name="cobol"), "resolver: none is called cobol"),
        (changed(aliases=frozenset({"Py"})), "aliases: 'Py' is not in lower case"),
        (changed(extensions=("py",)), "extensions: 'py' is not like `.py`"),
        (changed(declaration=("{}, ", "x = None")), "declaration: 'x = None' has no one place"),
        (changed(blocks=frozenset({"blok"})), "blocks: 'blok' is no node type"),
        (changed(last_parameters=frozenset({"kwargs"})), "last_parameters: 'kwargs'"),
        (changed(optional=(frozenset({"default"}), "{}=None, ")), "optional: 'default'"),
        (changed(owner=("receiver", "identifier")), "owner: 'receiver' is no field"),
        (
            changed(measures=replace(PYTHON.measures, declares={"assignment": "lefft"})),
            "measures.declares: 'lefft' is no field",
        ),
        (
            changed(measures=replace(PYTHON.measures, else_if=("if_statement", "elsif"))),
            "measures.else_if: 'elsif'",
        ),
        (changed(docstring=Docstring("statement", "string", "(?P<text>.*)")), "docstring: "),
        (changed(reserved=PYTHON.reserved - {"lambda"}), "lacks words of the grammar: lambda"),
        (changed(lexing=Lexing()), "lexing: says nothing of comments"),
    ],
)
def test_what_cannot_be_is_named(language: Language, gap: str) -> None:
    assert gap in "\n".join(find_gaps(language))


@pytest.mark.parametrize(
    ("language", "gap"),
    [
        (changed(example="x = 1\n"), "example: has 0 functions"),
        (changed(example="def f(:\n"), "example: syntax errors"),
        (changed(phrases=frozenset({"lambda"})), "phrases: none of these node types"),
        (changed(binders=frozenset({"block"})), "binders: no name stands directly inside"),
        (changed(blocks=frozenset({"tuple"})), "blocks: none of these node types"),
        (changed(declaration=("{}, ", "var {};")), "declaration: no other variable"),
        (changed(joint=" "), "joint: statements on one line"),
        (changed(lexing=Lexing(line_comments=("//",))), "lexing: a comment of the example"),
        (changed(decode=lambda content: content.decode("utf-16")), "decode: "),
        (
            changed(docstring=Docstring("expression_statement", "string", "(.*)")),
            "docstring: the expression for quoted text has no group `text`",
        ),
        (
            changed(docstring=Docstring("expression_statement", "string", "(?P<text>")),
            "is no regular expression",
        ),
    ],
)
def test_what_does_not_fit_the_example_is_named(
    language: Language, gap: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("puzzlemark.syntax.tree.find", lambda _name: language)
    assert gap in "\n".join(find_gaps(language))
