"""What every detector promises: one judgement for each record, with a reason for each flag."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest

from puzzlemark import plugins
from puzzlemark.corpora.base import Corpus, open_corpus
from puzzlemark.detectors._states import Encoding
from puzzlemark.detectors.base import Suspicion, load_detector
from puzzlemark.engines.base import open_engine
from puzzlemark.models.encoders.base import Vectors
from puzzlemark.progress import no_progress

ODD: list[dict[str, Any]] = [
    {"id": "null", "language": "python", "code": None},
    {"id": "empty", "language": "python", "code": ""},
    {"id": "broken", "language": "python", "code": "def f(:\n"},
    {"id": "unknown", "language": "cobol", "code": "MOVE A TO B."},
]
every_detector = pytest.mark.parametrize("name", plugins.names("detectors"))


class HashEncoder:
    """An encoder without a model: the vector of a code follows from its digest."""

    def describe(self) -> dict[str, Any]:
        return {"kind": "hash"}

    def encode(self, codes: Sequence[str]) -> Vectors:
        rows = [np.frombuffer(hashlib.sha512(code.encode()).digest(), np.uint8) for code in codes]
        vectors: Vectors = np.array(rows, np.float32)
        return vectors


@pytest.fixture(autouse=True)
def _no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Encoding, "open", lambda _: HashEncoder())


def store(records: Sequence[dict[str, Any]], path: Path) -> Corpus:
    path.write_bytes(b"".join(orjson.dumps(record) + b"\n" for record in records))
    return open_corpus(path)


@pytest.fixture
def datasets(tmp_path: Path, corpus_bytes: bytes) -> tuple[Corpus, Corpus]:
    """Some real functions with odd records among them, and other functions that are clean."""
    functions = [orjson.loads(line) for line in corpus_bytes.splitlines()]
    judged = [*functions[:20], *ODD, *functions[20:80]]
    return store(judged, tmp_path / "judged.jsonl"), store(functions[80:160], tmp_path / "c.jsonl")


def suspect(name: str, datasets: tuple[Corpus, Corpus], cache: Path, workers: int = 1) -> Suspicion:
    detector = load_detector(name)
    clean = datasets[1] if detector.needs_clean else None
    with open_engine(None, workers) as engine:
        return detector.suspect(
            datasets[0], clean=clean, engine=engine, progress=no_progress, cache=cache
        )


@every_detector
def test_every_record_is_judged_or_says_why_not(
    name: str, datasets: tuple[Corpus, Corpus], tmp_path: Path
) -> None:
    found = suspect(name, datasets, tmp_path / "cache")
    assert list(found.ids) == [entry.id for entry in datasets[0].entries()]
    assert len(found.flagged) == len(found.scores) == len(found.reasons) == len(found.ids)
    assert not np.any(found.flagged & ~found.judged)
    assert np.all(np.isfinite(found.scores[found.judged]))
    assert all(found.reasons[row] for row in np.flatnonzero(found.flagged).tolist())
    assert all(found.reasons[row] for row in np.flatnonzero(~found.judged).tolist())
    assert found.judged.sum() >= 70  # all of the real functions, but for some of odd length
    assert not found.judged[found.ids.index("null")]


@every_detector
def test_a_second_look_and_two_workers_see_the_same(
    name: str, datasets: tuple[Corpus, Corpus], tmp_path: Path
) -> None:
    first = suspect(name, datasets, tmp_path / "one")
    for again in (
        suspect(name, datasets, tmp_path / "two"),
        suspect(name, datasets, tmp_path / "one"),  # what the first run kept is used
        suspect(name, datasets, tmp_path / "three", workers=2),
    ):
        assert again.flagged.tolist() == first.flagged.tolist()
        np.testing.assert_array_equal(again.scores, first.scores)
        assert list(again.reasons) == list(first.reasons)
