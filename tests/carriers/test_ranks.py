"""Order statistics of numbers that come in pieces, beside numpy's of all at once."""

import numpy as np
import pytest

from puzzlemark.carriers import ranks
from puzzlemark.carriers.ranks import quantile, ranked


@pytest.mark.parametrize("few", [1, 20, 10**6])
@pytest.mark.parametrize("numbers", [1, 3, 2**17, 2**64])
def test_the_number_at_a_rank_is_that_of_sorting(
    numbers: int, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ranks, "_FEW", few)
    keys = np.random.default_rng(numbers % 97).integers(0, numbers, 400, np.uint64)
    expected = np.sort(keys).tolist()
    for rank in (0, 1, 199, 398, 399):
        assert ranked(lambda: np.array_split(keys, 7), rank) == expected[rank]


@pytest.mark.parametrize("tau", [0.0, 0.2, 0.35, 0.5, 0.999, 1.0])
@pytest.mark.parametrize("count", [1, 2, 100, 1001])
def test_the_quantile_is_numpys_to_the_last_bit(count: int, tau: float) -> None:
    values = np.random.default_rng(count).random(count)
    assert quantile(lambda: np.array_split(values, 3), count, tau) == np.quantile(values, tau)
