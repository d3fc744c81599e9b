"""Sums that are the same however a dataset is cut."""

import numpy as np
import pytest

from puzzlemark.carriers.moments import Moments
from puzzlemark.features.measure import FEATURES

LARGE = 2**31 - 1


@pytest.mark.parametrize("largest", [9, 2**20, LARGE])
@pytest.mark.parametrize("pieces", [1, 2, 7, 300])
def test_parts_add_up_to_the_whole_exactly(largest: int, pieces: int) -> None:
    values = np.random.default_rng(3).integers(0, largest, (300, len(FEATURES)), np.int32)
    values[17] = largest
    added = sum((Moments.of(part) for part in np.array_split(values, pieces)), Moments())
    rows = values.tolist()
    assert added == Moments.of(values)
    assert added.sums == [sum(column) for column in zip(*rows, strict=True)]
    assert added.products[2][5] == sum(row[2] * row[5] for row in rows)
    assert (added.count, added.highest[0]) == (300, largest)


def test_standardised_features_have_mean_zero_and_deviation_one() -> None:
    values = np.random.default_rng(4).integers(0, 90, (500, len(FEATURES)), np.int32)
    values[:, 3] = 7  # the same everywhere
    standard = Moments.of(values).standard([0, 3, 5])
    z = standard(values[:, [0, 3, 5]])
    np.testing.assert_allclose(z.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(z.std(axis=0), [1, 0, 1])
    np.testing.assert_allclose(standard.spread.covariance, np.cov(z.T), atol=1e-12)
    assert standard.spread.lowest.tolist() == z.min(axis=0).tolist()
