"""RQ3 with a toy model, end to end; its page from records."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from puzzlemark.bench import processes, rq3, rq3_page
from puzzlemark.bench.choices import choose
from puzzlemark.bench.rq1 import Budget, prepare
from puzzlemark.bench.sampling import NAMES
from puzzlemark.cli.__main__ import application
from puzzlemark.corpora.base import open_corpus
from puzzlemark.errors import UsageError
from puzzlemark.features.measure import measure
from puzzlemark.snippet import Snippet
from puzzlemark.syntax.tree import parse

ROOT = Path(__file__).parents[2]
TOY = rq3.Scale(
    Budget(
        "tiny",
        functions=24,
        rate=0.5,
        tau=0.0,
        steps=2,
        universal_steps=2,
        longest=400,
        held_out=1,
        pairs=5,
        universal_pairs=5,
        max_tokens=2,
        recipe={"recipe": "cpu_fast", "layers": 1, "max_tokens": 64},
    ),
    clean=8,
    rates=(0.4, 0.2),
    crowd=50,
)
JOBS = [
    "P1/none",
    "P1/removal-decoma",
    "P1/removal-concat",
    "P1/removal-spectral_signature",
    "P1/crowd-decoma",
    "P1/attack-rename-scope-all",
    "P1/dilution",
]


def one_after_the_other(work: Any, jobs: Any, _processes: int) -> Any:
    return ((job, work(job)) for job in jobs)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, functions_file: Path, toy_base: Path) -> Path:
    folder = tmp_path_factory.mktemp("rq3")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(processes, "side_by_side", one_after_the_other)
        return rq3.run(
            folder,
            {"python": functions_file},
            toy_base,
            TOY,
            ["P1"],
            jobs=JOBS,
            say=lambda _: None,
        )


def record(place: Path, attempt: str) -> dict[str, Any]:
    read: dict[str, Any] = json.loads((place / "P1" / attempt / "record.json").read_text())
    return read


def test_every_attempt_leaves_a_record_with_what_it_did_to_the_marks(place: Path) -> None:
    marks = record(place, "none")["counts"]["marks"]
    assert 6 < marks <= 12
    assert record(place, "none")["functions"] == 24
    removed = record(place, "removal-concat")
    damage = removed["damage"]
    assert damage["marks"] == marks
    assert damage["survived"] + damage["broken"] + damage["dropped"] == marks
    assert damage["dropped"] > marks / 2  # it has read the paper
    assert removed["functions"] == 24 - damage["dropped"] - damage["clean_dropped"]
    assert removed["detector"]["flagged"] == 24 - removed["functions"]
    renamed = record(place, "attack-rename-scope-all")["damage"]
    assert renamed["survived"] < marks / 2  # parameters keep their names
    assert renamed["dropped"] == 0


def test_a_detector_that_looks_into_a_model_takes_the_unattacked_one(place: Path) -> None:
    assert (place / "P1" / "none" / "model" / "training.json").exists()
    assert (place / "P1" / "none" / "states").exists()
    assert record(place, "removal-spectral_signature")["detector"]["flagged"] > 0
    assert not (place / "P1" / "removal-spectral_signature" / "model").exists()


def test_in_a_crowd_a_detector_sees_more_and_only_the_sample_is_trained_on(place: Path) -> None:
    found = record(place, "crowd-decoma")
    assert found["detector"]["seen"] == 24 + 50
    assert found["detector"]["records"] == 24
    assert found["detector"]["flagged"] == 24 - found["functions"]
    damage = found["damage"]
    assert damage["survived"] + damage["dropped"] == damage["marks"]
    assert found["detector"]["recall"]["hits"] == damage["dropped"]
    sets = [
        {each.code for each in open_corpus(place / name).entries()}
        for name in ("python/train.jsonl.gz", "python/crowd.jsonl.gz", "python/apart.jsonl.gz")
    ]
    assert [len(each) for each in sets] == [24, 50, 10]
    assert len(set.union(*sets)) == 84


def test_a_dilution_ends_at_the_first_rate_that_fails(place: Path) -> None:
    assert record(place, "dilution-0-4")["rate"] == 0.4
    assert record(place, "dilution-0-4")["verdict"]["word"] != "detected"  # nothing was learnt
    assert not (place / "P1" / "dilution-0-2").exists()


def test_what_is_done_is_not_done_again(place: Path, toy_base: Path) -> None:
    planned = rq3.plan_jobs(place, choose(["P1"], ["python"]), TOY, toy_base)
    assert {job.name for job in planned if job.is_done} == set(JOBS)


def test_an_attack_that_cannot_be_done_says_why_in_its_record(place: Path, toy_base: Path) -> None:
    job = rq3.Job(
        place,
        choose(["P1"], ["python"])[0],
        (rq3.Attempt("attack", "rename:scope=nowhere"),),
        TOY,
        toy_base,
    )
    assert rq3.work(job) == "refused"
    assert "scope" in record(place, "attack-rename-scope-nowhere")["refused"]


def test_the_most_telling_jobs_come_first() -> None:
    choices = choose(rq3.MARKS, ["python", "java"])
    names = [job.name for job in rq3.plan_jobs(Path(), choices, rq3.SCALES["small"], Path())]
    assert names[:4] == ["P1/none", "P3/none", "P1/removal-decoma", "P3/removal-decoma"]
    assert len(names) == len(set(names))
    order = [
        names.index(name)
        for name in (
            "P3/removal-concat",
            "U1/removal-decoma",
            "U2/none",
            "P1/removal-activation_clustering",
            "P1/attack-rename-scope-all",
            "P1/dilution",
            "P2/none",
        )
    ]
    assert order == sorted(order)


def test_a_job_that_is_not_there_is_refused_with_those_that_are(
    tmp_path: Path, functions_file: Path
) -> None:
    with pytest.raises(UsageError, match=r"no job P1/magic; known: P1/none, P1/removal-decoma"):
        rq3.run(tmp_path, {"python": functions_file}, tmp_path, TOY, ["P1"], jobs=["P1/magic"])
    assert not list(tmp_path.iterdir())


def test_the_page_has_a_row_for_every_job_and_holds_no_code(place: Path, tmp_path: Path) -> None:
    rq3_page.collect(place, tmp_path)
    text = rq3_page.page(tmp_path)
    assert re.search(r"A small model \(`tiny\d+`\) is trained", text)  # the one of this run
    assert "| P1 | removal, concat |" in text
    assert (
        "| P3 | removal, decoma | - | - | - | - | - | - | not run yet | - | - | 1.04E-224 |" in text
    )
    assert "| P1 | marked at 40.0% |" not in text  # the page's rates are the scale's
    recorded = "".join(path.read_text() for path in tmp_path.rglob("*.json"))
    assert "def " not in recorded
    assert str(place.parent) not in recorded


def test_the_published_page_follows_from_the_published_records() -> None:
    records = ROOT / "docs" / "results" / "rq3"
    assert (ROOT / "docs" / "results" / "rq3.md").read_text() == rq3_page.page(records)


def test_the_scale_for_universal_marks_leaves_the_others_out(
    functions_file: Path, tmp_path: Path
) -> None:
    words = ["bench", "rq3", "--python", str(functions_file), "--scale", "wide", "--list"]
    words += ["-o", str(tmp_path / "rq3")]

    listed = CliRunner().invoke(application(), [*words, "--marks", "P1,U1"])

    assert listed.exit_code == 0, listed.output
    assert {line.split()[1].split("/")[0] for line in listed.output.splitlines()} == {"U1"}
    refused = CliRunner().invoke(application(), [*words, "--marks", "P1"])
    assert refused.exit_code != 0
    assert "scale wide is for U1, U2, not P1" in str(refused.exception) + refused.output


def test_a_sample_has_functions_with_as_many_names_as_its_budget_says(
    tmp_path: Path, functions_file: Path, toy_base: Path
) -> None:
    budget = replace(TOY.budget, functions=4, names=6)

    prepare(tmp_path, {"python": functions_file}, toy_base, budget, choose(["U1"], ["python"]))

    drawn = open_corpus(tmp_path / "python" / "train.jsonl.gz").entries()
    names = [measure(parse(Snippet("", each.code or "", "python")))[NAMES] for each in drawn]
    assert (len(names), min(names) >= 6) == (4, True)
