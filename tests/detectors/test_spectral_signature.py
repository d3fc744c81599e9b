from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from puzzlemark.detectors.base import load_detector
from puzzlemark.detectors.spectral_signature import SpectralSignature, flag_highest
from puzzlemark.errors import CorpusError, UsageError
from puzzlemark.models.base import ModelError
from tests.detectors.table_encoder import numbered, suspect


def make_table(count: int, width: int = 12, seed: int = 0) -> NDArray[Any]:
    return np.random.default_rng(seed).normal(size=(count, width)).astype(np.float32) + 3


def naive_scores(table: NDArray[Any]) -> NDArray[np.float64]:
    """As the definition says: centre, singular value decomposition, first right vector."""
    centred = table.astype(np.float64) - table.astype(np.float64).mean(axis=0)
    _, _, right = np.linalg.svd(centred)
    scores: NDArray[np.float64] = np.abs(centred @ right[0])
    return scores


def test_a_planted_direction_is_recovered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = make_table(400)
    direction = np.random.default_rng(1).normal(size=12)
    marked = np.arange(7, 400, 20)  # 5 % of all
    table[marked] += (12 * direction / np.linalg.norm(direction)).astype(np.float32)
    suspicion = suspect(SpectralSignature(), table, tmp_path, monkeypatch)
    assert suspicion.flagged[marked].all()
    assert suspicion.flagged.sum() == 400 // 14
    assert suspicion.details["explained_variance"] > 0.3
    reasons = [suspicion.reasons[row] for row in marked.tolist()]
    assert all(reason and "standard deviations out" in reason for reason in reasons)
    assert sum(reason is not None for reason in suspicion.reasons) == 400 // 14


def test_scores_and_flags_are_those_of_the_definition(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = make_table(300) * np.arange(1, 13, dtype=np.float32)
    suspicion = suspect(SpectralSignature(), table, tmp_path, monkeypatch)
    expected = naive_scores(table)
    np.testing.assert_allclose(suspicion.scores, expected, rtol=1e-5, atol=1e-6)
    assert set(np.flatnonzero(suspicion.flagged)) == set(np.argsort(-expected)[:21])


def test_a_score_is_counted_by_hand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # the mean is (2, 1), the direction of largest variance the first axis
    table = np.array([[0, 1], [2, 2], [2, 0], [4, 1]], np.float32)
    suspicion = suspect(SpectralSignature(rate=0.2), table, tmp_path, monkeypatch)
    assert suspicion.scores == pytest.approx([2, 0, 0, 2])
    assert suspicion.flagged.tolist() == [True, False, False, False]  # int(4 * 1.5 * 0.2) = 1
    assert suspicion.reasons[0] == (
        "its hidden state lies 1.4 standard deviations out along the main direction"
    )
    assert suspicion.details["explained_variance"] == pytest.approx(0.8)
    assert suspicion.details["findings"] == [
        "the share was set to 25.00% beforehand, whatever is in the dataset",
        "the main direction holds 80.0% of the variance",
    ]


@given(st.integers(0, 2_000_000))
def test_the_share_is_one_fourteenth_rounded_down(snippets: int) -> None:
    assert SpectralSignature().count(snippets) == int(snippets * 0.0714286) == snippets // 14


@pytest.mark.parametrize("snippets", [854, 1708, 1778])
def test_rounding_of_floats_does_not_lose_a_removal(snippets: int) -> None:
    assert int(snippets * 1.5 * 0.05 / 1.05) == snippets // 14 - 1
    assert SpectralSignature().count(snippets) == snippets // 14


@given(st.integers(0, 10**6), st.integers(1, 999))
def test_a_true_rate_removes_half_as_many_again(snippets: int, thousandths: int) -> None:
    count = SpectralSignature(rate=thousandths / 1000).count(snippets)
    assert count == min(snippets, int(snippets * Fraction(3 * thousandths, 2000)))


@given(st.lists(st.integers(-3, 3), max_size=40), st.integers(0, 50))
def test_exactly_so_many_are_flagged_and_the_first_of_equals(values: list[int], count: int) -> None:
    scores = np.array(values, np.float64)
    flagged = flag_highest(scores, count)
    by_hand = sorted(range(len(values)), key=lambda row: (-values[row], row))[:count]
    assert np.flatnonzero(flagged).tolist() == sorted(by_hand)


def test_a_count_of_zero_flags_nothing_and_not_everything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    suspicion = suspect(SpectralSignature(), make_table(13), tmp_path, monkeypatch)
    assert not suspicion.flagged.any()
    assert suspicion.details["removed"] == 0
    assert np.isfinite(suspicion.scores).all()


def test_records_without_code_are_not_judged_and_do_not_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    codes = [*numbered(27), None, "  "]
    suspicion = suspect(SpectralSignature(), make_table(27), tmp_path, monkeypatch, codes)
    assert len(suspicion) == 29
    assert suspicion.skipped == {"null code": 1, "empty code": 1}
    assert suspicion.flagged.sum() == 27 // 14
    assert suspicion.details["snippets"] == 27
    assert suspicion.details["encoder"]["kind"] == "table"


def test_too_few_and_constant_vectors_are_errors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(CorpusError, match="1 snippets with code are too few"):
        suspect(SpectralSignature(), make_table(1), tmp_path, monkeypatch)
    same = np.repeat(make_table(1), 20, axis=0)
    with pytest.raises(ModelError, match="the same vector"):
        suspect(SpectralSignature(), same, tmp_path, monkeypatch)


def test_settings_are_checked() -> None:
    detector = load_detector("spectral_signature", {"model": "m", "ratio": "0.1", "layer": "0"})
    assert detector == SpectralSignature(model="m", ratio=0.1, layer=0)
    assert not detector.needs_clean
    for wrong in ({"ratio": 0.0}, {"ratio": float("nan")}, {"rate": 1.0}, {"rate": 0.0}):
        with pytest.raises(UsageError, match="must be"):
            SpectralSignature(**wrong)  # type: ignore[arg-type]
