import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from puzzlemark.detectors import activation_clustering
from puzzlemark.detectors.activation_clustering import ActivationClustering, split, whiten
from puzzlemark.detectors.base import load_detector
from puzzlemark.errors import CorpusError, UsageError
from puzzlemark.models.base import ModelError
from tests.detectors.table_encoder import numbered, suspect

pytest.importorskip("sklearn", reason="needs the extra detect: scikit-learn")


def make_table(count: int, width: int = 16, seed: int = 0) -> NDArray[Any]:
    """Independent sources with heavy tails, mixed: what FastICA can unmix."""
    rng = np.random.default_rng(seed)
    sources = rng.laplace(size=(count, width)) * np.linspace(5, 0.5, width)
    mixed: NDArray[Any] = sources @ np.linalg.qr(rng.normal(size=(width, width)))[0] + 3
    return mixed.astype(np.float32)


def plant(table: NDArray[Any], every: int, by: float) -> NDArray[np.int64]:
    marked = np.arange(3, len(table), every)
    table[marked] += np.float32(by / 4)  # 16 numbers: a step of length `by`
    return marked


def test_a_planted_cluster_is_the_smaller_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = make_table(600)
    marked = plant(table, 8, by=500)
    detector = ActivationClustering(components=2)
    suspicion = suspect(detector, table, tmp_path, monkeypatch)
    assert np.flatnonzero(suspicion.flagged).tolist() == marked.tolist()
    assert suspicion.reasons[marked[0]] == (
        "its hidden state lies in the smaller of two clusters, with 12.5% of the snippets"
    )
    assert suspicion.reasons[0] is None
    assert suspicion.details["share"] == 75 / 600
    assert all(run["agreement"] == 1 for run in suspicion.details["runs"])
    (finding,) = suspicion.details["findings"]
    assert finding == (
        "5 seeds flag between 12.5% and 12.5%; "
        "each judges at least 100% of the snippets as the first does"
    )


def test_of_ten_components_another_may_be_split_however_far_the_marked_lie() -> None:
    table = make_table(600)
    marked = plant(table, 8, by=500)
    white = whiten(table, 10)
    recalls = [split(white, seed).flagged[marked].mean() for seed in range(10)]
    print("recall by seed:", ", ".join(f"{recall:.2f}" for recall in recalls))
    assert max(recalls) == 1
    assert min(recalls) < 0.5


def test_clusters_are_those_of_the_library_on_the_whole_matrix() -> None:
    from sklearn.cluster import MiniBatchKMeans
    from sklearn.decomposition import FastICA

    table = make_table(900)
    for seed in range(3):
        ica = FastICA(n_components=10, max_iter=1000, tol=0.005, random_state=seed)
        sources = ica.fit_transform(table.astype(np.float64))
        labels = MiniBatchKMeans(2, n_init=3, random_state=seed).fit_predict(sources)
        smaller = labels == np.argmin(np.bincount(labels))
        found = split(whiten(table, 10), seed)
        assert found.iterations == ica.n_iter_
        assert (found.flagged == smaller).all()
        assert 0 < smaller.sum() < 450


def test_whitened_vectors_have_no_correlation_and_unit_variance() -> None:
    white = whiten(make_table(500), 10)
    assert white.shape == (500, 10)
    np.testing.assert_allclose(white.T @ white / 500, np.eye(10), atol=1e-8)
    np.testing.assert_allclose(white.mean(axis=0), 0, atol=1e-6)


def test_the_score_is_positive_for_the_flagged_and_one_at_their_centre() -> None:
    for seed in range(3):
        found = split(whiten(make_table(700), 10), seed)
        assert ((found.scores > 0) == found.flagged).all()
        assert 0 < found.flagged.mean() <= 0.5
    table = make_table(600)
    marked = plant(table, 8, by=500)
    found = split(whiten(table, 2), 0)
    assert found.scores[marked].mean() == pytest.approx(1, abs=0.1)
    assert np.delete(found.scores, marked).mean() == pytest.approx(-1, abs=0.1)


def test_the_same_seed_flags_the_same_and_other_seeds_may_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = make_table(800)  # one cloud: nothing to be found
    detector = ActivationClustering(seed=3, runs=4)
    first = suspect(detector, table, tmp_path, monkeypatch)
    again = suspect(detector, table, tmp_path, monkeypatch)
    assert (first.flagged == again.flagged).all()
    np.testing.assert_array_equal(first.scores, again.scores)
    assert first.details == again.details
    runs = first.details["runs"]
    assert [run["seed"] for run in runs] == [3, 4, 5, 6]
    assert runs[0]["agreement"] == 1
    assert runs[0]["share"] == first.flagged.mean()
    assert len({run["share"] for run in runs}) > 1  # why one run says little
    other = suspect(ActivationClustering(seed=4, runs=1), table, tmp_path, monkeypatch)
    assert runs[1]["share"] == other.flagged.mean()
    assert runs[1]["agreement"] == (other.flagged == first.flagged).mean()


def test_an_analysis_that_does_not_converge_is_told_and_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(activation_clustering, "MAX_ITERATIONS", 1)
    suspicion = suspect(ActivationClustering(runs=2), make_table(300), tmp_path, monkeypatch)
    for run in suspicion.details["runs"]:
        assert run["iterations"] == 1
        assert any(told.startswith("ConvergenceWarning: ") for told in run["warnings"])
    assert suspicion.details["findings"][-1] == "warnings with seed 0, 1: see the details"
    assert suspicion.judged.all()


def test_records_without_code_are_not_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    codes = [None, *numbered(200)]
    suspicion = suspect(ActivationClustering(runs=1), make_table(200), tmp_path, monkeypatch, codes)
    assert suspicion.skipped == {"null code": 1}
    assert suspicion.judged.sum() == 200
    assert not suspicion.flagged[0]


def test_fewer_snippets_or_directions_than_components_are_errors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(CorpusError, match="10 snippets with code are too few: 10 axes need 11"):
        suspect(ActivationClustering(), make_table(10), tmp_path, monkeypatch)
    flat = make_table(50)
    flat[:, 4:] = 0
    with pytest.raises(ModelError, match="differ in 4 directions only, and 10 are asked for"):
        suspect(ActivationClustering(), flat, tmp_path, monkeypatch)
    suspicion = suspect(ActivationClustering(components=4), flat, tmp_path, monkeypatch)
    assert suspicion.judged.all()


def test_without_scikit_learn_nothing_is_encoded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone: Any = None
    monkeypatch.setitem(sys.modules, "sklearn", gone)
    with pytest.raises(UsageError, match=r"pip install 'puzzlemark\[detect\]'"):
        suspect(ActivationClustering(), make_table(50), tmp_path, monkeypatch)
    assert not (tmp_path / "cache").exists()


def test_settings_are_checked() -> None:
    detector = load_detector("activation_clustering", {"components": "5", "pooling": "mean"})
    assert detector == ActivationClustering(components=5, pooling="mean")
    assert not detector.needs_clean
    for wrong in ({"components": 0}, {"runs": 0}, {"seed": -1}):
        with pytest.raises(UsageError, match="must be"):
            ActivationClustering(**wrong)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="pooling"):
        load_detector("activation_clustering", {"pooling": "max"})
