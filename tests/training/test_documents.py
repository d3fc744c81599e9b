"""From records to tokens: what is used, what is cut, what is left out; nothing needs torch."""

import json
from pathlib import Path
from typing import Any

import pytest

from puzzlemark.corpora.base import open_corpus
from puzzlemark.errors import CorpusError
from puzzlemark.training.documents import Documents, Reading, gather, read_documents
from puzzlemark.training.recipes.base import Recipe

END = 0


def by_letter(codes: list[str]) -> list[list[int]]:
    """A tokenizer whose tokens are letters."""
    return [[*map(ord, code), END] for code in codes]


def read(folder: Path, codes: list[Any], **fields: Any) -> tuple[Documents, Reading]:
    path = folder / "codes.jsonl"
    lines = (json.dumps({"id": str(n), "code": code}).encode() for n, code in enumerate(codes))
    path.write_bytes(b"\n".join(lines) + b"\n")
    corpus = open_corpus(path, language="python")
    return read_documents(corpus, by_letter, Recipe(**fields), lambda *_: None)


def test_documents_are_the_snippets_in_order_each_with_its_end(tmp_path: Path) -> None:
    documents, reading = read(tmp_path, ["ab", "c", "def"])
    assert [bytes(documents[n].tolist()) for n in range(3)] == [b"ab\0", b"c\0", b"def\0"]
    assert documents.lengths.tolist() == [3, 2, 4]
    assert (reading.records, reading.documents, reading.tokens) == (3, 3, 9)


def test_a_long_snippet_is_cut_and_counted(tmp_path: Path) -> None:
    documents, reading = read(tmp_path, ["abcd", "abc", "x"], max_tokens=4)
    # the one that was cut does not end there, so it has no end-of-text
    assert [each.tolist() for each in (documents[0], documents[1])] == [
        [97, 98, 99, 100],
        [97, 98, 99, END],
    ]
    assert reading.cut == 1
    assert reading.left_out == {}


def test_a_long_snippet_can_be_left_out(tmp_path: Path) -> None:
    documents, reading = read(tmp_path, ["abcd", "abc", "x"], max_tokens=4, longer="skip")
    assert len(documents) == 2
    assert reading.left_out == {"longer than 4 tokens": 1}


def test_packing_cuts_nothing(tmp_path: Path) -> None:
    documents, reading = read(tmp_path, ["abcdefgh"], max_tokens=4, batching="packed")
    assert (len(documents.tokens), reading.cut) == (9, 0)


def test_records_without_code_are_counted_by_reason(tmp_path: Path) -> None:
    documents, reading = read(tmp_path, ["ab", None, "", "  \n", 7, "\ud800"])
    assert len(documents) == 1
    assert reading.records == 6
    assert reading.left_out == {
        "code is not text": 1,
        "code is not valid Unicode": 1,
        "empty code": 2,
        "null code": 1,
    }


def test_a_corpus_with_nothing_in_it_is_refused_with_its_reasons(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="nothing to train on: 2 empty code"):
        read(tmp_path, ["", " "])


def test_the_digest_is_the_corpus_s_own(tmp_path: Path) -> None:
    _, reading = read(tmp_path, ["ab", None, "c"] * 300)
    assert reading.digest == open_corpus(tmp_path / "codes.jsonl", language="python").digest()


def test_documents_can_be_made_from_lists() -> None:
    documents = gather([[1, 2], [3], [4, 5, 6]])
    assert [documents[n].tolist() for n in range(len(documents))] == [[1, 2], [3], [4, 5, 6]]
