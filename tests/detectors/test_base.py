"""What every detector builds on."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import orjson
import pytest

from puzzlemark import plugins
from puzzlemark.corpora.base import Batch, Entry, open_corpus
from puzzlemark.detectors.base import (
    Suspicion,
    keep_parts,
    load_detector,
    sampled_batches,
    sampled_rows,
    snippet_of,
)
from puzzlemark.detectors.decoma import DeCoMa
from puzzlemark.engines.serial import Serial
from puzzlemark.errors import CorpusError, UnparsableSnippet, UsageError


def test_text_settings_become_what_the_field_is() -> None:
    settings = {"z": "2.5", "clean_samples": "10", "old_java": "true", "identifiers": "all"}
    wanted = DeCoMa(z=2.5, clean_samples=10, old_java=True, identifiers="all")
    assert load_detector("decoma", settings) == wanted


@pytest.mark.parametrize(
    ("method", "settings", "message"),
    [
        ("decoma", {"zz": "1"}, "decoma has no setting 'zz'; it takes z, min_scale"),
        ("decoma", {"z": "much"}, "z='much'"),
        ("decoma", {"name": "other"}, "no setting 'name'"),
        ("concat", {"level": "some"}, "'any'"),
        ("run", {}, "no 'run' among detectors; known: "),
    ],
)
def test_a_wrong_method_or_setting_is_named(
    method: str, settings: dict[str, str], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        load_detector(method, settings)


def test_every_file_of_the_room_is_a_detector_of_its_name() -> None:
    found = plugins.names("detectors")
    assert {"decoma", "concat"} <= set(found)
    for name in found:
        assert plugins.load("detectors", name).PLUGIN.name == name


def test_a_suspicion_counts_what_was_not_judged() -> None:
    scores = np.array([0.0, np.nan, 3.0, np.nan])
    reasons = [None, "empty code", "why", "empty code"]
    said = Suspicion(list("abcd"), np.array([0, 0, 1, 0], np.bool_), scores, reasons)
    assert said.judged.tolist() == [True, False, True, False]
    assert said.skipped == {"empty code": 2}
    assert said.rows.tolist() == [0, 1, 2, 3]


def test_a_record_without_a_score_cannot_be_flagged() -> None:
    with pytest.raises(AssertionError, match="not judged"):
        Suspicion(["a"], np.array([True]), np.array([np.nan]), ["why"])


def test_a_record_without_usable_code_says_why() -> None:
    with pytest.raises(UnparsableSnippet, match="null code"):
        snippet_of(Entry(0, "a", None, "python", "null code"))
    with pytest.raises(UnparsableSnippet, match="'cobol' is not supported"):
        snippet_of(Entry(0, "a", "MOVE A TO B", "cobol"))
    assert snippet_of(Entry(0, "a", "x = 1", "Python")).language == "python"


def counting(calls: list[int]) -> Callable[[Batch], bytes]:
    def ids(batch: Batch) -> bytes:
        calls.append(len(batch.rows))
        return orjson.dumps([entry.id for entry in batch.entries()])

    return ids


def test_parts_are_kept_in_order_and_made_only_once(corpus_path: Path, tmp_path: Path) -> None:
    corpus = open_corpus(corpus_path)
    calls: list[int] = []
    place = tmp_path / "parts"
    parts = keep_parts(counting(calls), corpus, engine=Serial(), place=place)
    ids = [id_ for part in parts for id_ in orjson.loads(part.read_bytes())]
    assert ids == [entry.id for entry in corpus.entries()]
    made = len(calls)
    assert made == len(parts)
    parts[0].unlink()
    assert keep_parts(counting(calls), corpus, engine=Serial(), place=place) == parts
    assert len(calls) == made + 1
    whole = parts[0].read_bytes()
    parts[0].write_bytes(whole[:-5])  # as a computer that lost power may leave it
    assert keep_parts(counting(calls), corpus, engine=Serial(), place=place) == parts
    assert len(calls) == made + 2
    assert parts[0].read_bytes() == whole


def test_a_part_that_fails_leaves_nothing_that_looks_whole(
    corpus_path: Path, tmp_path: Path
) -> None:
    def fail(batch: Batch) -> bytes:
        raise ValueError

    with pytest.raises(ValueError):  # noqa: PT011
        keep_parts(fail, open_corpus(corpus_path), engine=Serial(), place=tmp_path / "parts")
    assert not list((tmp_path / "parts").iterdir())


def test_a_part_that_cannot_be_written_says_what_to_do(corpus_path: Path, tmp_path: Path) -> None:
    place = tmp_path / "parts"

    def remove(batch: Batch) -> bytes:
        place.rmdir()
        return b""

    with pytest.raises(CorpusError, match="choose another --cache"):
        keep_parts(remove, open_corpus(corpus_path), engine=Serial(), place=place)


def test_a_sample_is_drawn_by_its_seed(corpus_path: Path) -> None:
    corpus = open_corpus(corpus_path)
    rows = sampled_rows(corpus, 50, seed=3)
    assert len(set(rows.tolist())) == 50
    assert rows.tolist() == sorted(rows.tolist()) == sampled_rows(corpus, 50, seed=3).tolist()
    assert rows.tolist() != sampled_rows(corpus, 50, seed=4).tolist()
    drawn = [row for batch in sampled_batches(corpus, 50, 3) for row in batch.rows.tolist()]
    assert drawn == rows.tolist()
    assert len(sampled_rows(corpus, 10**6, seed=3)) == corpus.count()


def test_reasons_are_counted_for_the_flagged_alone() -> None:
    flagged, scores = np.array([True, True, False, True]), np.array([2.0, 3.0, 1.0, 4.0])
    said = Suspicion(["a", "b", "c", "d"], flagged, scores, ["long", "long", "long", None])
    assert said.why_flagged == {"long": 2}
