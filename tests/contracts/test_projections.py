"""What every projection promises: a number a row that grows with complexity."""

import json

import numpy as np
import pytest

from puzzlemark import plugins
from puzzlemark.carriers.projections.base import Matrix, Projection, Spread

every_projection = pytest.mark.parametrize("name", plugins.names("carriers.projections"))


def load_projection(name: str) -> Projection:
    projection: Projection = plugins.configure("carriers.projections", name)
    return projection


@pytest.fixture
def z() -> Matrix:
    """Standardised features that go together, as those of code do."""
    rng = np.random.default_rng(5)
    size = rng.normal(size=(200, 1))
    raw = size + 0.5 * rng.normal(size=(200, 7))
    standardised: Matrix = (raw - raw.mean(axis=0)) / raw.std(axis=0)
    return standardised


@every_projection
def test_rows_get_their_number_in_any_order(name: str, z: Matrix) -> None:
    projection, spread = load_projection(name), Spread.of(z)
    shuffled = np.random.default_rng(1).permutation(len(z))
    column = projection.project(z, spread)
    assert column.shape == (len(z),)
    assert np.all(np.isfinite(column))
    np.testing.assert_allclose(projection.project(z[shuffled], spread), column[shuffled], atol=1e-9)


@every_projection
def test_a_row_gets_its_number_without_the_others(name: str, z: Matrix) -> None:
    projection, spread = load_projection(name), Spread.of(z)
    whole = projection.project(z, spread)
    for pieces in (1, 3, 200):
        parts = [projection.project(part, spread) for part in np.array_split(z, pieces)]
        assert np.concatenate(parts).tobytes() == whole.tobytes()


@every_projection
def test_a_more_complex_row_is_higher(name: str, z: Matrix) -> None:
    z[0], z[1] = 2.5, -0.5
    column = load_projection(name).project(z, Spread.of(z))
    assert column[0] > column[1]


@every_projection
def test_it_explains_itself_in_plain_data(name: str, z: Matrix) -> None:
    explained = load_projection(name).explain(Spread.of(z))
    assert json.loads(json.dumps(explained)) == dict(explained)
    lists = [value for value in explained.values() if isinstance(value, list)]
    assert all(len(value) == z.shape[1] for value in lists)
