import dataclasses
import json
import re
from pathlib import Path

import pytest

from puzzlemark.bench import rq1, rq1_page
from puzzlemark.bench.records import collect, load_rows
from puzzlemark.corpora.writing import write_records
from puzzlemark.errors import UsageError

ROOT = Path(__file__).parents[2]
TINY = rq1.Budget(
    "half",
    functions=30,
    rate=0.4,
    tau=0.0,
    steps=2,
    universal_steps=3,
    longest=120,
    held_out=4,
    pairs=5,
    universal_pairs=5,
    max_tokens=2,
    answer=3,
    recipe={"recipe": "cpu", "layers": 1, "max_tokens": 64},
)


@pytest.fixture(scope="module")
def corpus(
    tmp_path_factory: pytest.TempPathFactory, stdlib_functions: list[tuple[str, str]]
) -> Path:
    path = tmp_path_factory.mktemp("corpus") / "functions.jsonl.gz"
    records = [
        {"id": id_, "repo": f"{n % 12}", "language": "python", "code": code}
        for n, (id_, code) in enumerate(stdlib_functions)
    ]
    write_records(records, path)
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, corpus: Path) -> Path:
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    from tests.servers.tiny import make_model

    base = tmp_path_factory.mktemp("tiny")
    make_model(base, positions=2048)
    place = tmp_path_factory.mktemp("run")
    budget = dataclasses.replace(TINY, longest=400)  # the tiny tokenizer needs many tokens
    rq1.run(place, {"python": corpus}, base, budget, ["P1", "U1"], say=lambda _: None)
    return place / "half"


def test_a_run_leaves_models_verdicts_and_qualities(folder: Path) -> None:
    for model in ("P1", "U1", "bare-python-2", "bare-python-3"):
        assert (folder / model / "model" / "training.json").exists()
        assert (folder / model / "quality.json").exists()
    for mark in ("P1", "U1"):
        for kind in ("marked", "bare"):
            verdict = json.loads((folder / mark / f"verdict-{kind}" / "verdict.json").read_text())
            assert verdict["probes"]["pairs"] == 5


def test_the_records_make_the_page_and_hold_no_code(folder: Path, tmp_path: Path) -> None:
    collect(folder, tmp_path / "half")
    assert [row.mark for row in load_rows(tmp_path / "half")] == ["P1", "U1"]
    text = rq1_page.page(tmp_path)
    assert "## Budget `half`" in text
    assert re.search(r"A small pretrained model \(`tiny\d+`\) is", text)  # the one of this run
    assert text.count("| P1 |") == 4  # verdict, training, harmlessness, activation
    recorded = "".join(path.read_text() for path in tmp_path.rglob("*.json"))
    assert "def " not in recorded
    assert "argparse" not in recorded  # nor ids


def test_a_folder_belongs_to_one_budget(tmp_path: Path, corpus: Path) -> None:
    (tmp_path / "half").mkdir()
    (tmp_path / "half" / "budget.json").write_text("{}")
    with pytest.raises(UsageError, match="another plan was begun"):
        rq1.run(tmp_path, {"python": corpus}, tmp_path, TINY, ["P1"])


def test_a_mark_needs_a_corpus_of_its_language(tmp_path: Path, corpus: Path) -> None:
    with pytest.raises(UsageError, match="pass --java FILE"):
        rq1.run(tmp_path, {"python": corpus}, tmp_path, TINY, ["P3"])


def test_the_published_page_follows_from_the_published_records() -> None:
    records = ROOT / "docs" / "results" / "rq1"
    assert (ROOT / "docs" / "results" / "rq1.md").read_text() == rq1_page.page(records)
