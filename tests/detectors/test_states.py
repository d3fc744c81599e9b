from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from puzzlemark.corpora.base import open_corpus
from puzzlemark.detectors import _states
from puzzlemark.detectors._states import CHUNK, Axes, Encoding, collect
from puzzlemark.detectors.base import load_detector
from puzzlemark.engines.base import make
from puzzlemark.errors import CorpusError, UsageError
from puzzlemark.models.base import ModelError
from puzzlemark.progress import no_progress
from tests.detectors.table_encoder import TableEncoder, numbered, write_corpus


def random_vectors(count: int, width: int = 8, seed: int = 0) -> NDArray[np.float32]:
    """Longer along some axes than along others, and far from the origin."""
    rng = np.random.default_rng(seed)
    lengths = 2.0 ** np.arange(width)
    mixing = np.linalg.qr(rng.normal(size=(width, width)))[0]
    vectors: NDArray[np.float64] = rng.normal(size=(count, width)) * lengths @ mixing + 50
    return vectors.astype(np.float32)


def test_every_record_with_code_has_its_vector_in_order(tmp_path: Path) -> None:
    table = random_vectors(2 * CHUNK + 7)
    codes = numbered(len(table))
    codes[3], codes[CHUNK] = None, "   "
    states = collect(write_corpus(tmp_path, codes), TableEncoder(table), tmp_path / "kept")
    kept = [row for row in range(len(table)) if row not in (3, CHUNK)]
    assert states.rows.tolist() == kept
    np.testing.assert_array_equal(states.vectors, table[kept])
    assert states.vectors.dtype == np.float32
    assert len(states.ids) == len(table)
    reasons = {row: reason for row, reason in enumerate(states.reasons) if reason}
    assert reasons == {3: "null code", CHUNK: "empty code"}


def test_a_language_that_we_cannot_parse_has_a_vector_all_the_same(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(
        '{"id": "a", "code": "vector 0", "language": "cobol"}\n'
        '{"id": "b", "code": "vector 1", "language": null}\n'
    )
    states = collect(open_corpus(path), TableEncoder(random_vectors(2)), tmp_path / "kept")
    assert states.rows.tolist() == [0, 1]


def test_an_interrupted_run_goes_on_with_the_chunks_that_are_missing(tmp_path: Path) -> None:
    table = random_vectors(4 * CHUNK + 10)
    corpus = write_corpus(tmp_path, numbered(len(table)))
    place = tmp_path / "kept"
    first = TableEncoder(table, breaks_after=2)
    with pytest.raises(KeyboardInterrupt):
        collect(corpus, first, place)
    assert first.asked == list(range(2 * CHUNK))
    second = TableEncoder(table)
    states = collect(corpus, second, place)
    assert second.asked == list(range(2 * CHUNK, len(table)))
    np.testing.assert_array_equal(states.vectors, table)
    third = TableEncoder(table)
    again = collect(corpus, third, place)
    assert third.asked == []
    np.testing.assert_array_equal(again.vectors, table)


@pytest.mark.parametrize("damage", ["cut", "empty", "other"])
def test_a_damaged_chunk_is_computed_again(tmp_path: Path, damage: str) -> None:
    table = random_vectors(2 * CHUNK)
    corpus = write_corpus(tmp_path, numbered(len(table)))
    collect(corpus, TableEncoder(table), tmp_path / "kept")
    _, second = sorted((tmp_path / "kept").rglob("*.npy"))
    if damage == "other":
        np.save(second, table[:5])
    else:
        second.write_bytes(second.read_bytes()[: 500 if damage == "cut" else 0])
    encoder = TableEncoder(table)
    states = collect(corpus, encoder, tmp_path / "kept")
    assert encoder.asked == list(range(CHUNK, 2 * CHUNK))
    np.testing.assert_array_equal(states.vectors, table)


def test_another_dataset_or_encoder_shares_nothing(tmp_path: Path) -> None:
    table = random_vectors(5)
    place = tmp_path / "kept"
    collect(write_corpus(tmp_path, numbered(5)), TableEncoder(table), place)
    other = TableEncoder(table + 1, {"kind": "table", "layer": 0})
    states = collect(write_corpus(tmp_path, numbered(5)), other, place)
    np.testing.assert_array_equal(states.vectors, table + 1)
    assert other.asked == [0, 1, 2, 3, 4]
    same = TableEncoder(table)
    collect(write_corpus(tmp_path, ["vector 4", *numbered(4)]), same, place)
    assert same.asked == [4, 0, 1, 2, 3]


def test_progress_counts_snippets(tmp_path: Path) -> None:
    table = random_vectors(CHUNK + 1)
    told: list[tuple[str, int, int | None]] = []
    corpus = write_corpus(tmp_path, [*numbered(CHUNK + 1), None])
    collect(corpus, TableEncoder(table), tmp_path, lambda *step: told.append(step))
    assert [step for step in told if step[0] == "encoding"] == [
        ("encoding", CHUNK, CHUNK + 1),
        ("encoding", CHUNK + 1, CHUNK + 1),
    ]
    assert ("reading", CHUNK + 2, None) in told


def test_a_vector_that_is_not_finite_is_refused_and_not_kept(tmp_path: Path) -> None:
    table = random_vectors(CHUNK + 9)
    table[CHUNK + 4, 2] = np.nan
    corpus = write_corpus(tmp_path, numbered(len(table)))
    with pytest.raises(ModelError, match=f"record 'r{CHUNK + 4}': its vector is not finite"):
        collect(corpus, TableEncoder(table), tmp_path / "kept")
    assert len(list((tmp_path / "kept").rglob("*.npy"))) == 1


def test_a_dataset_without_code_is_an_error(tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path, [None, ""])
    with pytest.raises(CorpusError, match="no record has code"):
        collect(corpus, TableEncoder(random_vectors(1)), tmp_path / "kept")


@given(
    count=st.integers(4, 60), width=st.integers(3, 12), axes=st.integers(1, 3), seed=st.integers(0)
)
def test_the_axes_are_the_first_right_singular_vectors(
    count: int, width: int, axes: int, seed: int
) -> None:
    vectors = random_vectors(count, width, seed)
    centred = vectors.astype(np.float64) - vectors.mean(axis=0, dtype=np.float64)
    _, lengths, right = np.linalg.svd(centred, full_matrices=False)
    assume(lengths[axes - 1] > 0.01 * lengths[0])  # few points may nearly lie in a plane
    found = Axes.of(vectors, axes)
    np.testing.assert_allclose(found.variances, lengths[:axes] ** 2 / count, rtol=1e-8)
    # the projector: an axis has two signs
    np.testing.assert_allclose(
        found.directions @ found.directions.T, right[:axes].T @ right[:axes], atol=1e-5
    )
    np.testing.assert_allclose(
        np.abs(found.project(vectors)), np.abs(centred @ right[:axes].T), atol=1e-3
    )
    assert found.total == pytest.approx((lengths**2).sum() / count)


def test_vectors_that_nearly_lie_in_a_plane_differ_in_two_directions() -> None:
    vectors = random_vectors(4, 3, seed=825946)
    with pytest.raises(ModelError, match="differ in 2 directions only, and 3 are asked for"):
        Axes.of(vectors, 3)
    assert Axes.of(vectors, 2).directions.shape == (3, 2)


def test_many_blocks_give_what_one_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = random_vectors(100)
    whole = Axes.of(vectors, 3)
    monkeypatch.setattr(_states, "BLOCK", 7)
    pieces = Axes.of(vectors, 3)
    np.testing.assert_allclose(pieces.directions, whole.directions, atol=1e-10)
    np.testing.assert_allclose(pieces.project(vectors), whole.project(vectors), atol=1e-8)


def test_equal_vectors_have_equal_places() -> None:
    vectors = np.repeat(random_vectors(9), 50, axis=0)
    places = Axes.of(vectors, 2).project(vectors).reshape(9, 50, 2)
    assert (places == places[:, :1]).all()


def test_too_few_snippets_and_flat_vectors_are_named() -> None:
    with pytest.raises(CorpusError, match="10 snippets with code are too few: 10 axes need 11"):
        Axes.of(random_vectors(10, 12), 10)
    with pytest.raises(ModelError, match="8 numbers do not have 10 axes"):
        Axes.of(random_vectors(20, 8), 10)
    same = np.repeat(random_vectors(1), 30, axis=0)
    with pytest.raises(ModelError, match="the same vector"):
        Axes.of(same, 1)
    # what padding to another length may change is no difference
    noise = same * (1 + 1e-7 * np.random.default_rng(0).normal(size=same.shape))
    with pytest.raises(ModelError, match="the same vector"):
        Axes.of(noise.astype(np.float32), 1)
    with pytest.raises(ModelError, match="the same vector"):
        Axes.of(np.zeros((5, 4), np.float32), 1)
    flat = random_vectors(30)
    flat[:, 2:] = 1
    with pytest.raises(ModelError, match="differ in 2 directions only, and 3 are asked for"):
        Axes.of(flat, 3)
    broken = random_vectors(30)
    broken[4, 4], broken[5, 4] = np.inf, -np.inf
    with pytest.raises(ModelError, match="not finite"):
        Axes.of(broken, 1)


def test_the_settings_reach_the_encoder(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, Mapping[str, str]]] = []
    monkeypatch.setattr(_states, "open_encoder", lambda kind, args: asked.append((kind, args)))
    Encoding(model="folder").open()
    Encoding(
        model="folder", layer=0, pooling="mean", max_tokens=9, encoder_args="threads=1,peft=x"
    ).open()
    plain = {"pretrained": "folder", "pooling": "last", "max_tokens": "256"}
    more = {"pooling": "mean", "max_tokens": "9", "layer": "0", "threads": "1", "peft": "x"}
    assert asked == [("hf", plain), ("hf", plain | more)]


def test_a_model_is_asked_for_and_nothing_is_said_twice() -> None:
    with pytest.raises(UsageError, match="set model to its folder"):
        Encoding().open()
    with pytest.raises(UsageError, match="layer is a setting of its own"):
        Encoding(model="folder", layer=1, encoder_args="layer=2").open()


def test_vectors_are_kept_for_other_runs_where_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = random_vectors(9)
    encoder = TableEncoder(table)
    monkeypatch.setattr(_states, "open_encoder", lambda *_: encoder)
    corpus = write_corpus(tmp_path, numbered(9))
    shared = Encoding(model="m", states=str(tmp_path / "shared"))
    shared.collect(corpus, tmp_path / "one", no_progress)
    shared.collect(corpus, tmp_path / "two", no_progress)
    assert len(encoder.asked) == 9
    assert not (tmp_path / "one").exists()
    Encoding(model="m").collect(corpus, tmp_path / "one", no_progress)
    assert len(encoder.asked) == 18
    assert list((tmp_path / "one").rglob("*.npy"))


def test_both_detectors_run_on_a_real_model_and_share_its_vectors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for library in ("torch", "transformers", "sklearn"):
        pytest.importorskip(library, reason="needs the extras hf and detect")
    from puzzlemark.models.encoders.hf import HuggingFaceEncoder
    from tests.servers.tiny import make_model

    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    make_model(tmp_path / "tiny")
    rng = np.random.default_rng(0)
    codes = ["(".join(rng.choice(["left", "right", "key", "x"], 6)) for _ in range(120)]
    corpus = write_corpus(tmp_path, codes)
    settings = {
        "model": str(tmp_path / "tiny"),
        "max_tokens": "128",
        "encoder_args": "device=cpu,threads=1",
        "states": str(tmp_path / "states"),
    }
    suspicions = []
    for method in ("spectral_signature", "activation_clustering"):
        detector = load_detector(method, settings)
        suspicions.append(
            detector.suspect(
                corpus,
                clean=None,
                engine=make(1),
                progress=no_progress,
                cache=tmp_path / "cache",
            )
        )
        # the second finds all vectors, and has no need of the model
        monkeypatch.setattr(HuggingFaceEncoder, "encode", None)
    signature, clusters = suspicions
    assert signature.flagged.sum() == 120 // 14
    assert 0 < clusters.flagged.mean() <= 0.5
    assert signature.details["encoder"] == clusters.details["encoder"]
    assert signature.details["encoder"]["pretrained"] == "tiny"
