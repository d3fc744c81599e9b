"""Batches hold what they should, once; nothing here needs torch."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from puzzlemark.training.batches import WINDOW, count_batches, epoch
from puzzlemark.training.documents import gather
from puzzlemark.training.recipes.base import Batching, Recipe

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
