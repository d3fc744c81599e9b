from types import ModuleType

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial.distance import mahalanobis as scipy_mahalanobis

from puzzlemark import plugins
from puzzlemark.carriers.projections import mahalanobis, pca, topsis
from puzzlemark.carriers.projections.base import Spread

ROOM = "carriers.projections"


def standardised(count: int, width: int, seed: int = 0) -> NDArray[np.float64]:
    rng = np.random.default_rng(seed)
    x = rng.lognormal(0.0, 1.0, (count, 1)) * rng.lognormal(0.0, 0.3, (count, width))
    z: NDArray[np.float64] = (x - x.mean(axis=0)) / x.std(axis=0)
    return z


def projected(projection: ModuleType, z: NDArray[np.float64]) -> NDArray[np.float64]:
    column: NDArray[np.float64] = projection.project(z, Spread.of(z))
    return column


@pytest.fixture(params=plugins.names(ROOM))
def projection(request: pytest.FixtureRequest) -> ModuleType:
    return plugins.load(ROOM, request.param)


def test_every_projection_gives_one_finite_number_a_row(projection: ModuleType) -> None:
    for count in (1, 2, 9):
        z = standardised(9, 7)[:count]
        assert projected(projection, z).shape == (count,)
        assert np.isfinite(projected(projection, z)).all()


def test_every_projection_leaves_its_input_alone(projection: ModuleType) -> None:
    z = standardised(50, 7)
    before = z.copy()
    projected(projection, z)
    projection.explain(Spread.of(z))
    assert (z == before).all()


@pytest.mark.parametrize("width", [3, 7, 10])
def test_every_projection_rates_equal_rows_equally(projection: ModuleType, width: int) -> None:
    z = standardised(17, width)
    tripled = projected(projection, np.vstack([z, z, z]))
    assert tripled[:17].tobytes() == tripled[17:34].tobytes() == tripled[34:].tobytes()


def test_every_projection_is_highest_for_a_giant(projection: ModuleType) -> None:
    z = standardised(50, 7)
    z[13] += 20
    assert projected(projection, z - z.mean(axis=0)).argmax() == 13


def test_pca_has_weights_of_length_one_with_a_positive_sum() -> None:
    for seed in range(20):
        z = standardised(30, 7, seed)
        weights = np.array(pca.explain(Spread.of(z))["weights"])
        assert np.linalg.norm(weights) == pytest.approx(1)
        assert weights.sum() > 0
        np.testing.assert_allclose(projected(pca, z), z @ weights)


def test_pca_takes_the_first_weight_for_positive_when_they_cancel() -> None:
    falling = np.array([[1.0, -1.0], [-1.0, 1.0], [2.0, -2.0], [-2.0, 2.0]])
    for z in (falling, -falling, falling[::-1]):
        assert pca.explain(Spread.of(z))["weights"] == pytest.approx([np.sqrt(0.5), -np.sqrt(0.5)])


def test_topsis_runs_from_the_simplest_to_the_most_complex() -> None:
    z = np.array([[-1.0, -1.0], [1.0, 1.0], [0.0, 0.0], [1.0, -1.0]])
    assert projected(topsis, z).tolist() == pytest.approx([0.0, 1.0, 0.5, 0.5])


def test_topsis_counted_by_hand() -> None:
    # (0, 3) lies 3 from the simplest corner (0, 0) and 4 from the most complex one (4, 3)
    z = np.array([[0.0, 3.0], [0.0, 0.0], [4.0, 3.0]])
    assert projected(topsis, z)[0] == pytest.approx(3 / 7)


def test_mahalanobis_is_scipys() -> None:
    z = standardised(40, 5)
    inverse = np.linalg.inv(np.cov(z.T))
    expected = [scipy_mahalanobis(row, z.mean(axis=0), inverse) for row in z]
    np.testing.assert_allclose(projected(mahalanobis, z), expected, rtol=1e-9)


def test_mahalanobis_bears_features_that_repeat_each_other() -> None:
    z = standardised(40, 3)
    doubled = np.hstack([z, z])
    np.testing.assert_allclose(
        projected(mahalanobis, doubled), projected(mahalanobis, z), rtol=1e-6
    )
    assert mahalanobis.explain(Spread.of(doubled)) == {"rank": 3.0}


def test_mahalanobis_finds_the_very_simple_as_far_out_as_the_very_complex() -> None:
    z = np.array([[-3.0], [-1.0], [1.0], [3.0]])
    distances = projected(mahalanobis, z)
    assert distances[0] == pytest.approx(distances[3])
    assert distances[0] > distances[1]
