import json
import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from puzzlemark import plugins
from puzzlemark.carriers.selection import select
from puzzlemark.errors import UsageError
from puzzlemark.features.measure import DEFAULT, FEATURES, FeatureTable
from tests.carriers.slow import slow_quantile, slow_scores

PROJECTIONS = plugins.names("carriers.projections")
ROW = st.tuples(*[st.integers(0, 60)] * len(FEATURES))
ROWS = st.lists(ROW, min_size=1, max_size=30)
TAUS = st.floats(0, 1)


def table_of(rows: Sequence[Sequence[int] | None]) -> FeatureTable:
    return FeatureTable.from_rows(rows)


def realistic(count: int, seed: int = 0) -> FeatureTable:
    # features of code grow together and have long tails
    rng = np.random.default_rng(seed)
    size = rng.lognormal(2.0, 0.8, (count, 1))
    values = size * rng.lognormal(0.0, 0.4, (count, len(FEATURES)))
    return FeatureTable(values.astype(np.int32), np.ones(count, dtype=np.bool_))


def sklearn_projection(table: FeatureTable) -> NDArray[np.float64]:
    z = StandardScaler().fit_transform(table.select(DEFAULT))
    model = PCA(n_components=1).fit(z)
    projected: NDArray[np.float64] = model.transform(z)[:, 0]
    return projected if model.components_[0].sum() > 0 else -projected


def test_the_rooms_projections_are_those_of_the_paper() -> None:
    assert PROJECTIONS == ("mahalanobis", "pca", "topsis")


def test_scores_are_those_of_scikit_learns_pca() -> None:
    table = realistic(500)
    projected = sklearn_projection(table)
    expected = 1 - 1 / (1 + np.exp(-projected / (2 * projected.std())))
    selection = select(table, tau=0.35)
    np.testing.assert_allclose(selection.scores, expected, rtol=1e-9)
    assert selection.threshold == pytest.approx(np.quantile(expected, 0.35), rel=1e-9)


def test_scores_are_those_of_the_slow_version() -> None:
    table = realistic(60, seed=1)
    expected = slow_scores(table.select(DEFAULT).tolist())
    selection = select(table, tau=0.35)
    np.testing.assert_allclose(selection.scores, expected, rtol=1e-9)
    threshold = slow_quantile(expected, 0.35)
    assert selection.threshold == pytest.approx(threshold, rel=1e-9)
    assert selection.is_candidate.tolist() == [score >= threshold for score in expected]


def test_four_rows_counted_by_hand() -> None:
    # cc = 0 0 2 2: mean 1, deviation 1, z = -1 -1 1 1; alone it is its own projection,
    # gamma = 2, and the scores are 1 - sigmoid(-1/2) and 1 - sigmoid(1/2)
    rows = [(cc, *[0] * 9) for cc in (0, 0, 2, 2)]
    selection = select(table_of(rows), features=["cc"], tau=0.5)
    simple, hard = 1 / (1 + math.exp(-0.5)), 1 / (1 + math.exp(0.5))
    assert selection.scores.tolist() == pytest.approx([simple, simple, hard, hard])
    assert selection.threshold == pytest.approx((simple + hard) / 2)
    assert selection.is_candidate.tolist() == [True, True, False, False]


@pytest.mark.parametrize("tau", [0.0, 0.2, 0.35, 0.9])
def test_tau_is_the_share_left_out(tau: float) -> None:
    selection = select(realistic(1000), tau=tau)
    assert 1 - selection.is_candidate.mean() == pytest.approx(tau, abs=0.01)


def test_the_most_complex_are_left_out() -> None:
    table = realistic(1000)
    selection = select(table)
    tokens = table.values[:, FEATURES.index("tc")]
    assert tokens[selection.is_candidate].mean() < tokens[~selection.is_candidate].mean() / 2


def test_weights_and_explained_variance_agree_with_scikit_learn() -> None:
    table = realistic(300)
    model = PCA().fit(StandardScaler().fit_transform(table.select(DEFAULT)))
    details = select(table).details
    np.testing.assert_allclose(details["weights"], np.abs(model.components_[0]), rtol=1e-9)
    assert details["explained_variance"] == pytest.approx(model.explained_variance_ratio_[0])


def test_features_are_standardised_as_scikit_learn_does() -> None:
    table = realistic(9)
    z = StandardScaler().fit_transform(table.select(DEFAULT))
    details = select(table, projection="topsis").details
    np.testing.assert_allclose(details["simplest"], z.min(axis=0), rtol=1e-12)
    np.testing.assert_allclose(details["most_complex"], z.max(axis=0), rtol=1e-12)


@pytest.mark.parametrize("projection", PROJECTIONS)
@settings(deadline=None)
@given(rows=ROWS, tau=TAUS)
def test_scores_lie_between_zero_and_one(
    projection: str, rows: list[tuple[int, ...]], tau: float
) -> None:
    selection = select(table_of(rows), projection=projection, tau=tau)
    assert ((selection.scores > 0) & (selection.scores < 1)).all()
    assert selection.is_candidate.any()
    json.dumps(dict(selection.details), allow_nan=False)


@pytest.mark.parametrize("projection", PROJECTIONS)
@settings(deadline=None)
@given(rows=ROWS, tau=TAUS)
def test_candidates_score_above_all_others(
    projection: str, rows: list[tuple[int, ...]], tau: float
) -> None:
    selection = select(table_of(rows), projection=projection, tau=tau)
    kept = selection.scores[selection.is_candidate]
    left_out = selection.scores[~selection.is_candidate]
    assert kept.min() >= selection.threshold > left_out.max(initial=0.0)


@settings(deadline=None)
@given(rows=ROWS, tau=TAUS)
def test_candidates_have_lower_projections_than_all_others(
    rows: list[tuple[int, ...]], tau: float
) -> None:
    selection = select(table_of(rows), tau=tau)
    z = StandardScaler().fit_transform(table_of(rows).select(DEFAULT))
    projected = z @ np.array(selection.details["weights"])
    kept, left_out = projected[selection.is_candidate], projected[~selection.is_candidate]
    assert kept.max() <= left_out.min(initial=np.inf) + 1e-9


@pytest.mark.parametrize("projection", PROJECTIONS)
@settings(deadline=None)
@given(rows=ROWS, seed=st.integers(0, 99))
def test_equal_rows_score_equally(projection: str, rows: list[tuple[int, ...]], seed: int) -> None:
    doubled = np.random.default_rng(seed).permutation(np.array(rows + rows)).tolist()
    scores = select(table_of(doubled), features=FEATURES, projection=projection).scores
    by_row: dict[tuple[int, ...], set[float]] = {}
    for row, score in zip(doubled, scores.tolist(), strict=True):
        by_row.setdefault(tuple(row), set()).add(score)
    assert all(len(found) == 1 for found in by_row.values())


@pytest.mark.parametrize("projection", PROJECTIONS)
@settings(deadline=None)
@given(seed=st.integers(0, 99))
def test_the_order_of_rows_does_not_matter(projection: str, seed: int) -> None:
    table = realistic(40, seed)
    order = np.random.default_rng(seed).permutation(40)
    moved = FeatureTable(table.values[order], table.measured)
    there, back = select(table, projection=projection), select(moved, projection=projection)
    np.testing.assert_allclose(back.scores, there.scores[order], rtol=1e-9)
    assert back.threshold == pytest.approx(there.threshold, rel=1e-9)


@pytest.mark.parametrize("projection", PROJECTIONS)
@settings(deadline=None)
@given(seed=st.integers(0, 99), scale=st.integers(1, 50), shift=st.integers(0, 1000))
def test_the_unit_of_a_feature_does_not_matter(
    projection: str, seed: int, scale: int, shift: int
) -> None:
    table = realistic(40, seed)
    values = table.values.copy()
    values[:, 2] = values[:, 2] * scale + shift
    rescaled = select(FeatureTable(values, table.measured), projection=projection)
    np.testing.assert_allclose(
        rescaled.scores, select(table, projection=projection).scores, rtol=1e-7
    )


@pytest.mark.parametrize("projection", PROJECTIONS)
def test_the_same_table_gives_the_same_bits(projection: str) -> None:
    first, second = (select(realistic(5000), projection=projection) for _ in range(2))
    assert first.scores.tobytes() == second.scores.tobytes()
    assert first.threshold == second.threshold


@settings(deadline=None)
@given(rows=ROWS)
def test_rows_that_were_not_measured_change_nothing(rows: list[tuple[int, ...]]) -> None:
    gaps = [row for measured in rows for row in (measured, None)]
    with_gaps, without = select(table_of(gaps)), select(table_of(rows))
    assert with_gaps.scores[::2].tobytes() == without.scores.tobytes()
    assert np.isnan(with_gaps.scores[1::2]).all()
    assert not with_gaps.is_candidate[1::2].any()
    assert with_gaps.threshold == without.threshold


@settings(deadline=None)
@given(rows=ROWS)
def test_a_constant_feature_changes_nothing(rows: list[tuple[int, ...]]) -> None:
    assume(len({row[1:7] for row in rows}) > 2)
    constant = table_of([(7, *row[1:]) for row in rows])
    with_it = select(constant, features=["cc", "nloc", "tc"], projection="topsis").scores
    without = select(constant, features=["nloc", "tc"], projection="topsis").scores
    np.testing.assert_allclose(with_it, without, rtol=1e-12)


@pytest.mark.parametrize("projection", PROJECTIONS)
@pytest.mark.parametrize("count", [1, 2, 50])
def test_when_all_are_alike_all_are_candidates_at_one_half(projection: str, count: int) -> None:
    selection = select(table_of([range(10)] * count), projection=projection)
    assert selection.scores.tolist() == [0.5] * count
    assert selection.is_candidate.all()


@pytest.mark.parametrize("projection", PROJECTIONS)
@pytest.mark.parametrize("rows", [[], [None, None]])
def test_without_measured_rows_there_is_no_candidate(
    projection: str, rows: list[tuple[int, ...] | None]
) -> None:
    selection = select(table_of(rows), projection=projection)
    assert len(selection.scores) == len(selection.is_candidate) == len(rows)
    assert not selection.is_candidate.any()
    assert math.isnan(selection.threshold)


def test_of_two_snippets_the_simpler_scores_higher() -> None:
    scores = select(table_of([range(1, 11), range(2, 12)])).scores
    assert scores[0] > 0.5 > scores[1]


@pytest.mark.parametrize("count", [2, 3, 4, 5, 6])
def test_the_corners_of_a_simplex_are_equally_far_from_their_mean(count: int) -> None:
    # as many dimensions as can be: the distances are equal, and differ only by rounding
    selection = select(realistic(count), projection="mahalanobis")
    assert selection.scores.tolist() == [0.5] * count
    assert selection.is_candidate.all()


def test_one_giant_among_millions_still_has_a_score() -> None:
    values = np.ones((2_200_000, len(FEATURES)), dtype=np.int32)
    values[1] = 2_000_000
    table = FeatureTable(values, np.ones(len(values), dtype=np.bool_))
    scores = select(table, features=["cc"]).scores
    assert 0 < scores[1] < 1e-100 < scores[0] < 1


@pytest.mark.parametrize("tau", [-0.1, 1.1, math.nan, math.inf])
def test_a_tau_that_is_no_quantile_is_refused(tau: float) -> None:
    with pytest.raises(UsageError, match="quantile, from 0"):
        select(realistic(5), tau=tau)


def test_unknown_names_are_refused_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match="known: mahalanobis, pca, topsis"):
        select(realistic(5), projection="umap")
    with pytest.raises(UsageError, match="no feature 'loc'; known: cc"):
        select(realistic(5), features=["loc"])
