"""Rows come in the secret order, however many are taken at a time."""

import numpy as np
import pytest
from numpy.typing import NDArray

from puzzlemark.embedding.queues import END, Queue, are_met, place_of


def by_number(mask: NDArray[np.bool_], order: NDArray[np.uint64]) -> NDArray[np.int64]:
    """The slow obvious way: sort all of them."""
    rows = np.flatnonzero(mask)
    return rows[np.argsort(order[rows], kind="stable")]


def test_rows_with_equal_numbers_are_taken_by_row() -> None:
    order = np.array([5, 1, 5, 1], np.uint64)
    queue = Queue(np.array([True] * 4), order)
    assert queue.take(1).tolist() == [1]
    assert queue.take(2).tolist() == [0, 3]
    assert queue.take(9).tolist() == [2]
    assert Queue(np.array([True, False, True, True]), order).take(2).tolist() == [0, 3]


@pytest.mark.parametrize("numbers", [2, 5, 2**64])
@pytest.mark.parametrize("size", [1, 7, 64, 1000])
def test_the_next_ones_are_taken_and_given_by_row(
    numbers: int, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("puzzlemark.embedding.columns.PIECE", 60)
    rng = np.random.default_rng(size)
    order = rng.integers(0, numbers, 500, np.uint64)
    mask = rng.random(500) < 0.7
    expected = by_number(mask, order)
    queue = Queue(mask, order)
    for at in range(0, len(expected), size):
        assert len(queue) == len(expected) - at
        assert queue.take(size).tolist() == sorted(expected[at : at + size].tolist())
    assert queue.take(size).tolist() == []


@pytest.mark.parametrize("numbers", [2, 5, 2**64])
@pytest.mark.parametrize("nth", [1, 7, 64, 300])
def test_rows_are_met_up_to_the_place_of_one(
    numbers: int, nth: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("puzzlemark.embedding.columns.PIECE", 60)
    rng = np.random.default_rng(nth)
    order = rng.integers(0, numbers, 500, np.uint64)
    mask = rng.random(500) < 0.7
    queue = Queue(mask.copy(), order)
    rows = queue.take(320)
    last = place_of(lambda: queue.numbered(rows), nth)
    expected = by_number(mask, order)
    assert last == (order[expected[nth - 1]], expected[nth - 1])
    met = [some[are_met(keys, some, last)] for keys, some in queue.numbered(rows)]
    assert np.concatenate(met).tolist() == sorted(expected[:nth].tolist())
    rest = [are_met(keys, some, last) for keys, some in queue.waiting()]
    assert not np.concatenate(rest).any()
    assert all(are_met(keys, some, END).all() for keys, some in queue.waiting())


def test_dataset_order_needs_no_numbers() -> None:
    queue = Queue(np.array([True, False, True, True]), None)
    assert queue.take(2).tolist() == [0, 2]
    assert queue.take(2).tolist() == [3]
