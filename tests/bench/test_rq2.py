import json
import re
import shutil
from pathlib import Path

import pytest

from puzzlemark.bench import rq2, rq2_page
from puzzlemark.bench.tuned import Tuning
from puzzlemark.errors import UsageError

METHODS = ("decoma", "concat")
SPEC = "fixed_prefix:prefix=name"
MANIFEST = "manifest.jsonl.gz"
LOOKING = rq2.Plan(
    methods=("spectral_signature", "activation_clustering"),
    workers=1,
    # the tiny tokenizer needs many tokens
    tuning=Tuning(functions=40, rate=0.1, longest=400, steps=2, layers=1),
)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory, corpus_bytes: bytes) -> Path:
    """A folder with `functions.jsonl` and the `run` that was made of it."""
    made = tmp_path_factory.mktemp("rq2")
    corpus, said = made / "functions.jsonl", list[str]()
    corpus.write_bytes(corpus_bytes)
    plan = rq2.Plan(methods=METHODS, workers=1)
    rq2.run(made / "run", {"python": corpus}, ["W1", "U1", "P3", SPEC], plan, say=said.append)
    assert any(line.startswith("U1 concat: recall") for line in said)
    assert not any(line.startswith("P3") for line in said)  # no Java dataset was given
    return made


@pytest.fixture
def folder(tmp_path: Path, finished: Path) -> Path:
    """A run that a test may go on with."""
    return Path(shutil.copytree(finished / "run", tmp_path / "run"))


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
    # a watermark that is no preset has a row, too, and no figures of the paper
    (own,) = (line for line in text.splitlines() if line.startswith("| fixed_prefix-prefix-name"))
    assert own.count(" | ") == rows[1].count(" | ")
    assert own.count("| - ") > rows[1].count("| - ")
    assert "38.01 / 100" in rows[1]
    recorded = "".join(path.read_text() for path in records.rglob("*.json"))
    assert str(tmp_path) not in recorded
    assert "def " not in recorded


@pytest.fixture(scope="module")
def looked(tmp_path_factory: pytest.TempPathFactory, corpus_bytes: bytes) -> Path:
    for needed in ("torch", "transformers", "sklearn"):
        pytest.importorskip(needed)
    from tests.servers.tiny import make_model

    base = tmp_path_factory.mktemp("tiny")
    make_model(base, positions=2048)
    place = tmp_path_factory.mktemp("looked")
    corpus = tmp_path_factory.mktemp("corpus") / "corpus.jsonl"
    corpus.write_bytes(corpus_bytes)
    rq2.run(place, {"python": corpus}, ["U1"], LOOKING, base=base, say=lambda _: None)
    return place


def test_spectral_signature_and_activation_clustering_look_into_a_model_of_each_set(
    looked: Path,
) -> None:
    for name in ("bare-python", "U1"):
        assert (looked / name / "tuned" / "model" / "training.json").exists()
        facts = json.loads((looked / name / "spectral_signature.json").read_text())
        assert facts["flagged"] == int(facts["records"] * 1.5 * 0.05 / 1.05)
        clustered = json.loads((looked / name / "activation_clustering.json").read_text())
        assert clustered["method"] == "activation_clustering"
        assert clustered["records"] == LOOKING.tuning.functions
        assert clustered["rate"] == clustered["flagged"] / clustered["records"]
        assert (clustered["accuracy"] is None) is (name == "bare-python")
        assert all(0 < run["share"] <= 0.5 for run in clustered["details"]["runs"])
    weights = {
        json.loads((looked / name / "tuned/model/training.json").read_text())["result"]["sha256"]
        for name in ("bare-python", "U1")
    }
    assert len(weights) == 2


def test_the_sample_holds_marked_functions_as_they_are_in_the_set(looked: Path) -> None:
    from puzzlemark.corpora.base import open_corpus
    from puzzlemark.embedding.manifest import load_manifest

    whole = list(open_corpus(looked / "U1" / "marked.jsonl.gz").entries())
    marked = {
        whole[row].id: whole[row].code for row in load_manifest(looked / "U1" / MANIFEST).lines
    }
    drawn = list(open_corpus(looked / "U1" / "tuned" / "sample.jsonl.gz").entries())
    rows = json.loads((looked / "U1" / "tuned" / "truth.json").read_text())["rows"]
    assert len(rows) == round(LOOKING.tuning.rate * LOOKING.tuning.functions)
    assert {row for row, entry in enumerate(drawn) if entry.id in marked} == set(rows)
    assert all(drawn[row].code == marked[drawn[row].id] for row in rows)
    bare = {
        entry.id
        for entry in open_corpus(looked / "bare-python" / "tuned" / "sample.jsonl.gz").entries()
    }
    unmarked = {entry.id for entry in drawn if entry.id not in marked}
    assert len(unmarked & bare) > 0.8 * len(unmarked)  # the sets differ by little but the marks


def test_the_page_tells_how_few_the_samples_hold(looked: Path, tmp_path: Path) -> None:
    rq2_page.collect(looked, tmp_path / "records")
    text = rq2_page.page(tmp_path / "records")
    assert "| U1 | 40 | 4 | " in text
    assert "of at most 400 tokens" in text
    assert re.search(r"`tiny\d+` is trained on the\s+sample", text)  # the model of this run
    recorded = "".join(path.read_text() for path in tmp_path.rglob("*.json"))
    assert str(looked) not in recorded


def test_without_a_model_the_two_are_left_out_and_said_to_be(
    tmp_path: Path, corpus_path: Path
) -> None:
    said: list[str] = []
    rq2.run(tmp_path, {"python": corpus_path}, [], LOOKING, say=said.append)
    assert said[-1].startswith("spectral_signature, activation_clustering: left out")


def test_the_published_page_follows_from_the_published_records() -> None:
    results = Path(__file__).parents[2] / "docs" / "results"
    assert (results / "rq2.md").read_text() == rq2_page.page(results / "rq2")
