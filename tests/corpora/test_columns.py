from pathlib import Path
from typing import Any

import pytest

from puzzlemark.corpora.base import open_corpus
from puzzlemark.corpora.columns import CODE, Columns, recognise
from puzzlemark.errors import UsageError
from tests.corpora.making import write


@pytest.mark.parametrize("first", range(len(CODE)))
def test_code_columns_are_recognised_in_their_order(first: int) -> None:
    head = dict.fromkeys(reversed(CODE[first:]), "x")
    assert recognise(head, "a.jsonl").code == CODE[first]


def test_the_columns_of_both_codesearchnet_layouts_are_recognised() -> None:
    original = ["repo", "original_string", "code", "code_tokens", "sha", "url", "language"]
    assert recognise(dict.fromkeys(original, ""), "a") == Columns("code", "url", "language")
    hub = ["repository_name", "whole_func_string", "language", "func_code_string", "func_code_url"]
    expected = Columns("func_code_string", "func_code_url", "language")
    assert recognise(dict.fromkeys(hub, ""), "a") == expected


def test_a_column_that_is_no_text_is_not_taken_for_code() -> None:
    head: dict[str, Any] = {"code": 404, "content": "x = 1"}
    assert recognise(head, "a.jsonl").code == "content"


def test_named_columns_win() -> None:
    head = {"code": "x", "body": "y", "id": "1", "key": "2", "lang": "java", "tongue": "java"}
    found = recognise(head, "a", code="body", id="key", language="tongue")
    assert found == Columns("body", "key", "tongue")


def test_a_missing_column_is_an_error_that_lists_the_columns() -> None:
    head = {"source": "x", "id": 1}
    with pytest.raises(
        UsageError, match=r"a\.jsonl: no column looks like code.*source, id.*--code"
    ):
        recognise(head, "a.jsonl")
    with pytest.raises(UsageError, match="no column 'nope' for --id-column"):
        recognise(head, "a.jsonl", code="source", id="nope")


@pytest.mark.parametrize("name", ["a.jsonl", "a.parquet"])
def test_without_any_language_one_must_be_named(tmp_path: Path, name: str) -> None:
    path = write(tmp_path / name, [{"code": "x = 1"}])
    with pytest.raises(UsageError, match="pass --language"):
        open_corpus(path)
    assert [e.language for e in open_corpus(path, language="java").entries()] == ["java"]
