"""RQ5 and RQ4's hyper-parameters with a toy model, end to end; their records."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from puzzlemark.bench import hyperparameters, processes, rq1, rq1_innocents, rq5, rq5_page
from puzzlemark.bench.choices import choose
from puzzlemark.bench.trials import found_cells
from puzzlemark.corpora.base import open_corpus
from puzzlemark.corpora.writing import write_records
from puzzlemark.embedding.manifest import load_manifest
from puzzlemark.errors import UsageError
from tests.bench.test_rq1 import TINY
from tests.bench.test_rq3 import one_after_the_other

ROOT = Path(__file__).parents[2]
RECIPE = {"recipe": "cpu_fast", "layers": 1, "max_tokens": 64}
TOY = replace(rq5.SCALES["tiny"], longest=400, pairs=5, universal_pairs=5, recipe=RECIPE)


@pytest.fixture(autouse=True)
def _in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "side_by_side", one_after_the_other)


def test_only_the_project_is_marked_and_its_power_is_said_before(
    tmp_path: Path, functions_file: Path, toy_base: Path
) -> None:
    own = [dict(each) for each in open_corpus(functions_file).records() if each["repo"] == "3"]
    write_records(own, tmp_path / "project_own.jsonl.gz")
    place = rq5.run(
        tmp_path / "run",
        {"own": tmp_path / "project_own.jsonl.gz"},
        functions_file,
        toy_base,
        TOY,
        ["P1"],
        say=lambda _: None,
    )
    folder = place / "own" / "P1"
    corpus = [dict(each) for each in open_corpus(folder / "corpus.jsonl.gz").records()]
    assert {each["repo"] for each in corpus} > {"3"}
    bare = {each["id"]: each["code"] for each in open_corpus(functions_file).records()}
    changed = [each for each in corpus if each["code"] != bare[each["id"]]]
    assert {each["repo"] for each in changed} == {"3"}
    marks = load_manifest(folder / "manifest.jsonl.gz").header.counts["marked"]
    assert 0 < len(changed) <= marks  # a mark may stand there by nature
    record = json.loads((folder / "record.json").read_text())
    assert record["power"] == json.loads((folder / "power.json").read_text())
    assert record["power"]["pairs"] <= 5
    assert record["power"]["smallest"] is None  # fewer than 20 pairs show nothing
    rq5_page.collect(place, tmp_path / "records")
    text = rq5_page.page(tmp_path / "records")
    assert re.search(r"A small model \(`tiny\d+`\) is trained", text)  # the one of this run
    assert f"| own | P1 | {marks} of {record['counts']['own']} | {len(corpus)} |" in text
    assert "| spark | U1 | - | - | - | - | - | - | - | not run yet | - | - | 1.30E-23 |" in text


def test_a_java_mark_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="P3: the projects are python"):
        rq5.run(tmp_path, {}, tmp_path, tmp_path, TOY, ["P3"])


def test_a_grid_tries_each_rate_and_each_number_of_epochs_once() -> None:
    grid = hyperparameters.make_grid()
    assert grid.rates == (0.008, 0.0008, 8e-05)
    assert grid.settings() == [(0.0008, 2), (0.008, 2), (8e-05, 2), (0.0008, 1), (0.0008, 4)]


def test_hyper_parameters_leave_one_file_of_records(
    tmp_path: Path, functions_file: Path, toy_base: Path
) -> None:
    budget = replace(TINY, longest=400, functions=20, recipe=RECIPE)
    grid = hyperparameters.Grid(budget, (1e-3, 1e-4), (1, 2))
    place = hyperparameters.run(
        tmp_path / "run",
        {"python": functions_file},
        toy_base,
        grid,
        ["P1"],
        say=lambda _: None,
    )
    hyperparameters.collect(place, tmp_path / "hyperparameters.json")
    read = json.loads((tmp_path / "hyperparameters.json").read_text())
    tried = {(each["rate"], each["epochs"]) for each in read["trials"]}
    assert tried == {(1e-3, 2), (1e-4, 2), (1e-4, 1)}
    assert {each["training"]["result"]["steps"] for each in read["trials"]} == {5, 10}
    assert all(len(found_cells(each)) == 6 for each in read["trials"])


def test_innocent_models_are_asked_about_every_mark_and_other_prefixes(
    tmp_path: Path, functions_file: Path, toy_base: Path
) -> None:
    budget = replace(TINY, longest=400, recipe=RECIPE)
    choices = choose(["P1", "U1"], ["python"])
    place = tmp_path / "run"
    rq1.prepare(place, {"python": functions_file}, toy_base, budget, choices, say=lambda _: None)
    panel = rq1_innocents.Panel(prefixes=2, pairs=3)
    rq1_innocents.run(place, toy_base, budget, choices, panel, say=lambda _: None)
    rq1_innocents.collect(place, tmp_path)
    read = json.loads((tmp_path / "innocents.json").read_text())
    sets = [each["set"] for each in read["verdicts"]]
    assert len(sets) == 4
    assert {"python-P1", "python-U1"} < set(sets)
    assert not {"python-prefix-key", "python-prefix-res"} & set(sets)  # those are marks
    text = "\n".join(rq1_innocents.section(tmp_path))
    assert "| base | 4 | 0 of 0 | - | 4 | 0 | 0 |" in text  # three pairs decide nothing


def test_false_accusations_are_counted_with_their_bound(tmp_path: Path) -> None:
    def verdict(armed_only: int) -> dict[str, object]:
        setting = {"mode": "default", "strategy": "universal", "alpha": 0.05}
        counts = {"both": 0, "armed_only": armed_only, "control_only": 0, "failed": 0}
        comparison = {"against": "control", **counts, "neither": 40 - armed_only}
        return {"word": "", "setting": setting, "comparisons": [comparison], "unasked": 0}

    rows = [{"model": "base", "set": f"{n}", "verdict": verdict(0)} for n in range(17)]
    rows.append({"model": "bare-python-200", "set": "17", "verdict": verdict(30)})
    panel = {"prefixes": 10, "pairs": 40}
    (tmp_path / "innocents.json").write_text(json.dumps({"panel": panel, "verdicts": rows}))
    text = "\n".join(rq1_innocents.section(tmp_path))
    assert "| base | 17 | 0 of 17 | 16.2% | 0 | 0 | 0 |" in text  # 1 - 0.05 ** (1 / 17)
    assert "| bare-python-200 | 1 | 1 of 1 | 100.0% | 0 | 30 | 0 |" in text
    assert "| all together | 18 | 1 of 18 |" in text


def test_the_published_page_follows_from_the_published_records() -> None:
    records = ROOT / "docs" / "results" / "rq5"
    assert (ROOT / "docs" / "results" / "rq5.md").read_text() == rq5_page.page(records)
