"""From records to tokens: what is used, what is cut, what is left out; nothing needs torch."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from puzzlemark.corpora.base import open_corpus
from puzzlemark.errors import CorpusError
from puzzlemark.training.documents import (
    WINDOW,
    Documents,
    Reading,
    count_batches,
    epoch,
    gather,
    read_documents,
)
from puzzlemark.training.recipes.base import Batching, Recipe

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


# documents whose tokens are all different say where each token came from
lengths = st.lists(st.integers(2, 30), min_size=1, max_size=60)
seeds = st.integers(0, 2**32)


def documents_of(sizes: list[int]) -> list[list[int]]:
    ends = np.cumsum(sizes).tolist()
    return [list(range(end - size, end)) for size, end in zip(sizes, ends, strict=True)]


def batches_of(
    sizes: list[int], batching: Batching, seed: int = 0, number: int = 0, **fields: Any
) -> list[list[list[int]]]:
    whole = epoch(gather(documents_of(sizes)), Recipe(batching=batching, **fields), seed, number)
    return [[row.tolist() for row in whole.rows(index)] for index in range(len(whole))]


@given(lengths, st.integers(1, 9), seeds)
def test_bucketing_holds_every_document_exactly_once_an_epoch(
    sizes: list[int], batch: int, seed: int
) -> None:
    batches = batches_of(sizes, "bucketed", seed, batch=batch)
    rows = sorted(row for rows in batches for row in rows)
    assert rows == documents_of(sizes)
    assert max(len(rows) for rows in batches) <= batch


@given(lengths, st.integers(1, 5), st.integers(2, 40), seeds)
def test_packing_holds_every_token_exactly_once_in_full_rows(
    sizes: list[int], batch: int, width: int, seed: int
) -> None:
    batches = batches_of(sizes, "packed", seed, batch=batch, max_tokens=width)
    rows = [row for rows in batches for row in rows]
    assert Counter(id_ for row in rows for id_ in row) == Counter(range(sum(sizes)))
    assert all(len(row) == width for row in rows[:-1])
    assert 1 <= len(rows[-1]) <= width
    assert all(len(rows) == batch for rows in batches[:-1])


@given(lengths, st.integers(2, 40), seeds)
def test_packing_keeps_the_tokens_of_a_document_together(
    sizes: list[int], width: int, seed: int
) -> None:
    batches = batches_of(sizes, "packed", seed, batch=2, max_tokens=width)
    joined = [id_ for rows in batches for row in rows for id_ in row]
    for document in documents_of(sizes):
        start = joined.index(document[0])
        assert joined[start : start + len(document)] == document


@given(lengths, st.sampled_from(["bucketed", "packed"]), st.integers(1, 9), st.integers(0, 3))
def test_every_epoch_has_the_number_of_batches_that_was_counted(
    sizes: list[int], batching: Batching, batch: int, number: int
) -> None:
    recipe = Recipe(batching=batching, batch=batch, max_tokens=16)
    documents = gather(documents_of(sizes))
    assert count_batches(documents, recipe) == len(epoch(documents, recipe, 0, number))


@pytest.mark.parametrize("batching", ["bucketed", "packed"])
def test_the_order_depends_on_seed_and_epoch_and_on_nothing_else(batching: Batching) -> None:
    sizes = [2 + n % 13 for n in range(50)]
    first = batches_of(sizes, batching, 7, 0, batch=4, max_tokens=16)
    assert first == batches_of(sizes, batching, 7, 0, batch=4, max_tokens=16)
    assert first != batches_of(sizes, batching, 7, 1, batch=4, max_tokens=16)
    assert first != batches_of(sizes, batching, 8, 0, batch=4, max_tokens=16)


def test_documents_of_like_length_share_a_batch() -> None:
    sizes = np.random.default_rng(0).integers(2, 200, 4 * WINDOW).tolist()
    batches = batches_of(sizes, "bucketed", batch=4)
    padding = sum(max(map(len, rows)) * len(rows) - sum(map(len, rows)) for rows in batches)
    plain = [sizes[at : at + 4] for at in range(0, len(sizes), 4)]
    unsorted = sum(max(rows) * 4 - sum(rows) for rows in plain)
    assert padding < unsorted / 5


def test_short_batches_do_not_all_come_first() -> None:
    sizes = list(range(2, 66))
    longest = [max(map(len, rows)) for rows in batches_of(sizes, "bucketed", batch=4)]
    assert longest != sorted(longest)
