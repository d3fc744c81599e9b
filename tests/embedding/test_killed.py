"""A run of embed that is killed: never a marked dataset without its manifest."""

import json
import subprocess
import sys
from pathlib import Path

import orjson
import pytest

import puzzlemark as pm
from puzzlemark.errors import CorpusError, UsageError
from puzzlemark.staging import staged
from tests.corpora.making import tree


@pytest.mark.parametrize("before", ["nothing", "old outputs"])
def test_a_kill_at_any_point_leaves_no_marked_dataset_without_its_manifest(
    tmp_path: Path, before: str
) -> None:
    """See tests/killing.py, which also runs embed and revert after each kill."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.killing", "embed", str(tmp_path), before],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[2],
    )
    assert done.returncode == 0, done.stdout + done.stderr
    seen = json.loads(done.stdout)
    assert seen["kills"] > 15
    assert seen["a manifest alone"] > 0
    assert seen["completed by the next run"] > 0


def test_two_runs_to_one_output_or_one_manifest_are_one_too_many(
    corpus_path: Path, tmp_path: Path
) -> None:
    output, manifest = tmp_path / "m.jsonl", tmp_path / "m.gz"
    before = tree(tmp_path)
    for held in (output, manifest):
        with (
            pytest.raises(CorpusError, match=f"{held.name}: another run is writing it"),
            staged(held),
        ):
            pm.embed(corpus_path, output, manifest, mark="U1", overwrite=True)
        assert tree(tmp_path) == before


def test_the_second_run_is_refused_before_it_works(corpus_path: Path, tmp_path: Path) -> None:
    output = tmp_path / "m.jsonl"

    def fail(stage: str, done: int, total: int | None) -> None:
        raise AssertionError(f"{stage} {done} {total}")

    with pytest.raises(CorpusError, match="another run"), staged(output):
        pm.embed(corpus_path, output, mark="U1", progress=fail)


def test_a_dataset_in_the_place_of_other_files_is_refused_even_by_force(tmp_path: Path) -> None:
    code = "def f(key, item):\n    first = key\n    second = first + item\n    return second\n"
    (tmp_path / "in").mkdir()
    line = orjson.dumps({"id": "1", "language": "python", "code": code}) + b"\n"
    (tmp_path / "in" / "a.jsonl").write_bytes(line * 4)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.txt").write_text("precious")
    with pytest.raises(UsageError, match=r"out: holds other files .* thesis\.txt"):
        pm.embed(tmp_path / "in", tmp_path / "out", max_rate=1, tau=0, overwrite=True)
    assert (tmp_path / "out" / "thesis.txt").read_text() == "precious"
