import json
from pathlib import Path

import pytest

from puzzlemark.bench import rq2, rq2_page
from puzzlemark.errors import UsageError

METHODS = ("decoma", "concat")


@pytest.fixture
def folder(tmp_path: Path, corpus_path: Path) -> Path:
    plan = rq2.Plan(methods=METHODS, workers=1)
    said: list[str] = []
    place = tmp_path / "run"
    rq2.run(place, {"python": corpus_path}, ["W1", "U1", "P3"], plan, say=said.append)
    assert any(line.startswith("U1 concat: recall") for line in said)
    assert not any(line.startswith("P3") for line in said)  # no Java dataset was given
    return place


def test_every_set_is_judged_by_every_detector_and_a_second_run_does_nothing(
    folder: Path, corpus_path: Path
) -> None:
    paths = [folder / name / f"{m}.json" for name in ("bare-python", "W1", "U1") for m in METHODS]
    before = [path.stat().st_mtime_ns for path in paths]
    plan = rq2.Plan(methods=METHODS, workers=1)
    rq2.run(folder, {"python": corpus_path}, ["W1", "U1"], plan, say=lambda _: None)
    assert [path.stat().st_mtime_ns for path in paths] == before


def test_the_concatenation_aware_detector_sees_our_marks(folder: Path) -> None:
    accuracy = json.loads((folder / "U1" / "concat.json").read_text())["accuracy"]
    assert accuracy["recall"]["value"] > 0.9 > 0.5 > accuracy["fpr"]["value"]


def test_clean_records_are_not_in_the_dataset(folder: Path) -> None:
    from puzzlemark.corpora.base import open_corpus

    paths = (folder / "python" / f"{name}.jsonl.gz" for name in ("bare", "clean"))
    bare, clean = ({entry.id for entry in open_corpus(path).entries()} for path in paths)
    assert bare
    assert clean
    assert not bare & clean


def test_a_folder_belongs_to_one_plan(folder: Path, corpus_path: Path) -> None:
    with pytest.raises(UsageError, match="another plan was begun"):
        rq2.run(folder, {"python": corpus_path}, [], rq2.Plan(seed=1), say=lambda _: None)


def test_the_page_has_a_row_for_each_set_and_the_papers_figures(
    folder: Path, tmp_path: Path
) -> None:
    records = tmp_path / "records"
    rq2_page.collect(folder, records)
    text = rq2_page.page(records)
    rows = [line for line in text.splitlines() if line.startswith(("| bare", "| W1", "| U1"))]
    assert len(rows) == 3
    assert "38.01 / 100" in rows[1]
    recorded = "".join(path.read_text() for path in records.rglob("*.json"))
    assert str(tmp_path) not in recorded
    assert "def " not in recorded
