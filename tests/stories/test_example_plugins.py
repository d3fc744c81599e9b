"""The example package of docs/extend: installed by its entry points, used by every command."""

import csv
import json
from pathlib import Path

import orjson
import pyarrow.parquet as pq
import pytest

from tests.installing import install_project, run_with

PROJECT = Path(__file__).parents[2] / "examples" / "plugins"
GO = """\
// total{n} adds up.
func total{n}(prices []int, rate int) int {{
	count := {n}
	for _, price := range prices {{
		count += price * rate
	}}
	return count
}}
"""
SCRIPT = """
import sys
from contextlib import closing
from pathlib import Path
from puzzlemark import plugins, read
from puzzlemark.detectors.base import load_detector
from puzzlemark.progress import no_progress

def judge(spec):
    with closing(plugins.configure("engines", spec)) as engine:
        found = load_detector("long_names:longest=20").suspect(
            read(sys.argv[1]), clean=None, engine=engine, progress=no_progress, cache=Path("cache"))
    return found.ids, found.flagged.tolist(), found.reasons

assert judge("threads:workers=3") == judge("serial")
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, corpus_bytes: bytes) -> Path:
    """A folder with the package installed in `site`, and a dataset as JSON Lines and as CSV."""
    folder = tmp_path_factory.mktemp("example")
    install_project(folder / "site", PROJECT)
    lines = corpus_bytes.splitlines(keepends=True)[:300]
    (folder / "train.jsonl").write_bytes(b"".join(lines))
    names = ["id", "language", "code"]
    with (folder / "train.psv").open("w", newline="") as stream:
        writer = csv.DictWriter(stream, names, delimiter="|")
        writer.writeheader()
        writer.writerows({name: orjson.loads(line)[name] for name in names} for line in lines)
    (folder / "secret").touch(0o600)
    (folder / "secret").write_text("a secret for the tests only")
    return folder


def run(place: Path, line: str) -> str:
    done = run_with(place / "site", *line.split(), cwd=place)
    assert done.returncode == 0, f"{line}: {done.stderr}"
    assert "warning" not in done.stderr
    return done.stdout


def test_the_list_names_each_with_its_package(place: Path) -> None:
    listed = json.loads(run(place, "list --json"))
    for package, name in (
        ("watermarks", "short_only"),
        ("detectors", "long_names"),
        ("attacks", "longest_first"),
        ("models", "parrot"),
        ("corpora.formats", "bars"),
        ("engines", "threads"),
        ("carriers.projections", "weighted"),
        ("verification.tests", "unanimous"),
        ("languages", "small_go"),
    ):
        assert listed[package][name].endswith("(the package puzzlemark-example 1.0)")
    assert listed["marks"]["SHORT"]["settings"] == {"lines": 20}


@pytest.mark.parametrize("dataset", ["train.jsonl", "train.psv"])
def test_a_watermark_goes_the_whole_way_in_any_format(place: Path, dataset: str) -> None:
    _, ending = dataset.split(".")
    marked, manifest = f"{ending}-marked.{ending}", f"{ending}.manifest.gz"
    given = f"--manifest {manifest}"
    told = run(
        place,
        f"embed {dataset} -o {marked} {given} --watermark short_only:lines=15 --max-rate 1 "
        "--projection weighted:first=3 --tau 0.1 --secret-file secret --json --workers 2 "
        "--engine threads:ahead=4",
    )
    summary = json.loads(told)
    assert summary["marked"] > 20
    assert (place / marked).read_bytes() != (place / dataset).read_bytes()
    shown = json.loads(run(place, f"show {marked} {given} --limit 0 --json"))
    assert len(shown["marks"]) == summary["marked"]
    assert all(len(mark["before"].splitlines()) <= 15 for mark in shown["marks"])
    run(place, f"revert {marked} {given} -o {ending}-back.{ending}")
    assert (place / f"{ending}-back.{ending}").read_bytes() == (place / dataset).read_bytes()
    run(place, f"probe {marked} {given} -o {ending}-probes.jsonl --pairs 20 --secret-file secret")
    words = f"--probes {ending}-probes.jsonl --model parrot --model-args word=None,times=2"
    verdict = json.loads(run(place, f"verify {words} -o {ending}-run --json"))
    assert verdict["verdict"]["word"] == "not detected"
    assert verdict["model"] == {"kind": "parrot", "word": "None", "times": 2}
    assert verdict["verdict"]["test"] == "unanimous"
    assert verdict["probes"]["strategy"] == "short_only"
    run(place, f"report {ending}-run -o {ending}.html")
    assert "test of unanimity" in (place / f"{ending}.html").read_text()
    told = run(
        place,
        f"detect {marked} -m long_names:longest=20 -o {ending}.parquet --truth {manifest} --json",
    )
    assert json.loads(told)["records"] == 300
    assert pq.read_table(place / f"{ending}.parquet").num_rows == 300
    left = f"{ending}-left.{ending}"
    told = run(
        place, f"attack {marked} -a longest_first:lines=12 -o {left} --truth {manifest} --json"
    )
    attacked = json.loads(told)
    assert attacked["dropped"] == attacked["counts"]["long records"] > 0
    assert attacked["damage"]["survived"] + attacked["damage"]["dropped"] == summary["marked"]


def test_a_language_goes_the_whole_way(place: Path) -> None:
    (place / "tree").mkdir()
    (place / "tree" / "sums.go").write_text(
        "package sums\n\n" + "\n".join(GO.format(n=n) for n in range(30))
    )
    run(place, "harvest tree --language go -o go.jsonl")
    told = "--watermark universal --policy paper --tau 0 --max-rate 1 --secret-file secret --json"
    summary = json.loads(run(place, f"embed go.jsonl -o go-marked.jsonl {told}"))
    assert (summary["records"], summary["marked"]) == (30, 30)
    given = f"--manifest {summary['manifest']}"
    shown = json.loads(run(place, f"show go-marked.jsonl {given} --limit 1 --json"))
    assert [part["text"] for part in shown["marks"][0]["parts"]] == ["prices", "rate", "pricesRate"]
    run(place, f"revert go-marked.jsonl {given} -o go-back.jsonl")
    assert (place / "go-back.jsonl").read_bytes() == (place / "go.jsonl").read_bytes()


def test_the_experiments_take_its_watermark_and_its_detector(place: Path) -> None:
    told = "--marks short_only:lines=30 --methods long_names,concat --workers 1"
    pages = "--records records --page page.md"
    run(place, f"bench rq2 --python train.jsonl {told} -o rq2 {pages}")
    page = (place / "page.md").read_text()
    assert "| long_names |" in page
    assert "| short_only-lines-30-python |" in page


def test_an_engine_keeps_the_order_of_another(place: Path) -> None:
    import os
    import subprocess
    import sys

    from tests.installing import SOURCE

    paths = os.pathsep.join([str(SOURCE), str(place / "site")])
    subprocess.run(
        [sys.executable, "-c", SCRIPT, "train.psv"],
        cwd=place,
        env={**os.environ, "PYTHONPATH": paths},
        check=True,
    )


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("embed train.psv -o x.psv --watermark short_only:lines=few", "short_only: lines='few'"),
        ("embed train.psv -o x.psv --watermark short_only:size=3", "no setting 'size'; it takes"),
        ("detect train.psv -o x.parquet -m long_names --set longest=no", "longest='no'"),
    ],
)
def test_a_wrong_setting_is_named(place: Path, line: str, message: str) -> None:
    done = run_with(place / "site", *line.split(), cwd=place)
    assert done.returncode == 2
    assert message in done.stderr
