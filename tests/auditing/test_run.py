import math
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import puzzlemark as pm
from puzzlemark.auditing.run import Finding, _decide
from puzzlemark.cli.__main__ import application
from puzzlemark.errors import CorpusError, ManifestError, UsageError
from tests.auditing.making import Marked, records, write, write_shards

one = pytest.mark.parametrize("marked", ["a.jsonl"], indirect=True)


@one
def test_the_command_ends_with_0_when_nothing_tells_and_1_when_something_does(
    marked: Marked,
) -> None:
    words = ["audit", str(marked.original), str(marked.marked), "--manifest", str(marked.manifest)]
    quiet = CliRunner().invoke(application(), words)
    assert quiet.exit_code == 0, quiet.output
    assert "nothing tells" in quiet.output
    marked.edit_lines(lambda lines: lines.insert(3, b"\n"))
    loud = CliRunner().invoke(application(), [*words, "--json"])
    assert loud.exit_code == 1
    assert '"tells": [\n    "lines"\n  ]' in loud.output
    wrong = CliRunner().invoke(application(), [*words, "--alpha", "2"])
    assert wrong.exit_code == 2


@one
def test_the_result_counts_records_and_carriers_and_is_plain_data(marked: Marked) -> None:
    found = pm.audit(marked.original, marked.marked, marked.manifest)
    assert found.records == len(records(marked.original))
    assert found.carriers == len(marked.carriers())
    told = found.to_json()
    assert told["tells"] == []
    assert {finding["view"] for finding in told["findings"]} == {"marked", "difference"}


@one
def test_datasets_that_are_not_a_pair_are_refused(marked: Marked, tmp_path: Path) -> None:
    rows = records(marked.marked)
    write(tmp_path / "short.jsonl", rows[:-1])
    with pytest.raises(CorpusError, match="not the same number of records"):
        pm.audit(marked.original, tmp_path / "short.jsonl")
    with pytest.raises(CorpusError, match="not the same number of records"):
        pm.audit(tmp_path / "short.jsonl", marked.marked)
    write(tmp_path / "other.parquet", rows)
    with pytest.raises(UsageError, match="pass one format"):
        pm.audit(marked.original, tmp_path / "other.parquet")
    write_shards(tmp_path / "many", rows, 100, ".jsonl")
    with pytest.raises(CorpusError, match="pass a dataset and its marked version"):
        pm.audit(marked.original, tmp_path / "many")


@pytest.mark.parametrize("marked", ["a.parquet"], indirect=True)
def test_a_parquet_file_with_fewer_rows_is_refused(marked: Marked, tmp_path: Path) -> None:
    write(tmp_path / "short.parquet", records(marked.marked)[:-1])
    with pytest.raises(CorpusError, match="not the same number of records"):
        pm.audit(marked.original, tmp_path / "short.parquet")


@one
def test_a_manifest_of_another_dataset_is_refused(marked: Marked, tmp_path: Path) -> None:
    rows = records(marked.original)[:300]
    write(tmp_path / "original" / "b.jsonl", rows)
    other = Marked(tmp_path, "b.jsonl")
    other.manifest = tmp_path / "other.jsonl.gz"
    other.embed()
    with pytest.raises(CorpusError, match="pass the manifest of this dataset"):
        pm.audit(marked.original, marked.marked, other.manifest)
    with pytest.raises(ManifestError):
        pm.audit(marked.original, marked.marked, marked.original)


def test_one_test_of_many_must_be_better_than_one_alone() -> None:
    p = math.log10(0.004)
    alone = [Finding("a", "marked", "ok", "", {}, p)]
    assert [f.outcome for f in _decide(iter(alone), 0.01)] == ["tells"]
    many = [*alone, *(Finding("b", "marked", "ok", "", {}, math.log10(0.5)) for _ in range(9))]
    assert {f.outcome for f in _decide(iter(many), 0.01)} == {"ok"}


def test_random_carriers_are_named_by_accident_as_rarely_as_promised() -> None:
    from puzzlemark.auditing.checks.base import compare_touching

    rng = np.random.default_rng(5)
    alarms = 0
    for _ in range(400):
        carriers = rng.random(2000) < 0.05
        evidence = type("E", (), {"carriers": carriers})
        seen = compare_touching(evidence, range(40, 2000, 40), "end")  # type: ignore[arg-type]
        alarms += seen.log10_p is not None and seen.log10_p < -2
    assert alarms <= 10  # 1 % of 400 are 4; the chance of more than 10 is below 0.3 %
