"""Removal drops what is flagged, and nothing else."""

from pathlib import Path

import pytest

import puzzlemark as pm
from puzzlemark.detectors._run import load_suspicion
from puzzlemark.errors import CorpusError, UsageError
from tests.attacks.making import load, mark, store

JOINED = "def f(key, value):\n    a = key\n    key_value = a\n    return key_value\n"
PLAIN = "def f(key, value):\n    a = key\n    other = a\n    return other\n"


@pytest.fixture
def few(tmp_path: Path) -> Path:
    return store(tmp_path / "few.jsonl", (JOINED, PLAIN, "def f(:", JOINED))


def test_flagged_records_go_and_the_others_keep_their_bytes(few: Path, tmp_path: Path) -> None:
    pm.detect(few, tmp_path / "s.parquet", method="concat")
    left = tmp_path / "left.jsonl"
    attacked = pm.attack(few, left, attack="removal", suspicion=tmp_path / "s.parquet")
    lines = few.read_bytes().splitlines(keepends=True)
    assert left.read_bytes() == lines[1] + lines[2]
    assert (attacked.dropped, attacked.changed, attacked.added) == (2, 0, 0)
    assert attacked.spared == {"syntax errors": 1}


def test_a_detector_in_the_settings_does_the_same(few: Path, tmp_path: Path) -> None:
    pm.detect(few, tmp_path / "s.parquet", method="concat")
    pm.attack(few, tmp_path / "a.jsonl", attack="removal", suspicion=tmp_path / "s.parquet")
    pm.attack(few, tmp_path / "b.jsonl", attack="removal:detector=concat:level=any")
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()
    assert not list(tmp_path.glob(".*"))


def test_marks_and_clean_records_add_up(corpus_path: Path, tmp_path: Path) -> None:
    marked, manifest = mark(corpus_path, tmp_path, mark="U1", max_rate=0.1, min_rate=0.1)
    suspicion = tmp_path / "s.parquet"
    pm.detect(marked, suspicion, method="concat:level=first_two")
    attacked = pm.attack(marked, tmp_path / "left.jsonl", attack="removal", suspicion=suspicion)
    damage = pm.count_damage(attacked, manifest)
    rows = set(pm.load_manifest(manifest).lines)
    flagged = {
        row for row, is_flagged in enumerate(load_suspicion(suspicion).flagged) if is_flagged
    }
    assert damage.marks == damage.survived + damage.broken + damage.dropped == len(rows)
    assert damage.dropped == len(rows & flagged) > 0
    assert damage.clean_dropped == len(flagged - rows)
    assert damage.clean == damage.clean_kept + damage.clean_changed + damage.clean_dropped
    assert damage.clean == attacked.records - len(rows)
    assert len(load(tmp_path / "left.jsonl")) == attacked.records - len(flagged)


def test_a_suspicion_of_another_dataset_is_refused(few: Path, tmp_path: Path) -> None:
    pm.detect(few, tmp_path / "s.parquet", method="concat")
    other = store(tmp_path / "other.jsonl", (PLAIN, PLAIN, PLAIN, JOINED))
    with pytest.raises(UsageError, match="another dataset"):
        pm.attack(other, tmp_path / "x.jsonl", attack="removal", suspicion=tmp_path / "s.parquet")
    assert not (tmp_path / "x.jsonl").exists()


def test_nothing_is_written_when_all_records_are_flagged(tmp_path: Path) -> None:
    all_joined = store(tmp_path / "all.jsonl", (JOINED, JOINED))
    with pytest.raises(CorpusError, match="leaves no record"):
        pm.attack(all_joined, tmp_path / "x.jsonl", attack="removal:detector=concat")
    assert not (tmp_path / "x.jsonl").exists()


@pytest.mark.parametrize(
    ("spec", "given", "words"),
    [
        ("removal", {}, "needs --suspicion"),
        ("removal:detector=concat", {"suspicion": "few.jsonl"}, "makes no use of --suspicion"),
        ("removal:detector=decoma", {}, "needs --clean"),
        ("removal:detector=nobody", {}, "nobody"),
        ("rename:scope=all", {"clean": "few.jsonl"}, "makes no use of --clean"),
        ("rename:scope=all", {"others": ["few.jsonl"]}, "makes no use of --other"),
        ("rename:scope=all,detector=concat", {}, "leave out detector"),
    ],
)
def test_what_is_missing_or_ignored_is_an_error(
    few: Path, tmp_path: Path, spec: str, given: dict[str, object], words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        pm.attack(few, tmp_path / "x.jsonl", attack=spec, **given)  # type: ignore[arg-type]
