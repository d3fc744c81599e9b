"""A dataset that is marked by the ranks of datatrove: the bytes of `puzzlemark embed`."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import orjson
import pytest

import puzzlemark as pm
from puzzlemark.errors import UsageError

SHARDS = 5


@pytest.fixture
def shards(corpus_path: Path, tmp_path: Path) -> Path:
    """The corpus of the tests in some files, one of them in a folder of its own."""
    folder = tmp_path / "shards"
    (folder / "more").mkdir(parents=True)
    lines = corpus_path.read_bytes().splitlines(keepends=True)
    for number in range(SHARDS):
        place = folder / ("more" if number == 3 else "") / f"part-{number}.jsonl"
        place.write_bytes(b"".join(lines[number::SHARDS]))
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


@pytest.fixture
def parts(shards: Path, tmp_path: Path) -> list[Path]:
    corpus = pm.read(shards)
    found = [tmp_path / f"features-{number}.parquet" for number in range(SHARDS)]
    for shard, output in zip(corpus.shards, found, strict=True):
        pm.score(corpus.alone(shard), output)
    return found


def test_features_of_shards_join_to_those_of_the_whole(
    shards: Path, parts: list[Path], tmp_path: Path
) -> None:
    once, joined = tmp_path / "once.parquet", tmp_path / "joined.parquet"
    whole = pm.score(shards, once)
    found = pm.score(shards, joined, measured=parts)
    assert joined.read_bytes() == once.read_bytes()
    assert {**found.to_json(), "output": ""} == {**whole.to_json(), "output": ""}


def test_features_of_other_shards_are_refused(
    shards: Path, parts: list[Path], tmp_path: Path
) -> None:
    output = tmp_path / "joined.parquet"
    with pytest.raises(UsageError, match="5 shards, and features of 4"):
        pm.score(shards, output, measured=parts[:-1])
    with pytest.raises(UsageError, match="features of another dataset"):
        pm.score(shards, output, measured=[*reversed(parts)])
    first = shards / "part-0.jsonl"
    records = [orjson.loads(line) for line in first.read_bytes().splitlines()]
    records[0]["code"] += "\n"
    first.write_bytes(b"".join(orjson.dumps(record) + b"\n" for record in records))
    with pytest.raises(UsageError, match=r"of another dataset than .*more.*|part-0"):
        pm.score(shards, output, measured=parts)
    assert not output.exists()


def run(*arguments: Any, **environment: str) -> subprocess.CompletedProcess[str]:
    """In a process of its own: datatrove logs to files that stay open, and starts a manager."""
    command = [sys.executable, "-m", "examples.datatrove_marks", *map(str, arguments)]
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[2],
        env={**os.environ, **environment},
    )


def test_ranks_mark_a_dataset_as_the_command_does(shards: Path, tmp_path: Path) -> None:
    pytest.importorskip("datatrove", reason="datatrove is not installed: pip install datatrove")
    secret = tmp_path / "secret"
    pm.embed(shards, tmp_path / "here", secret_file=secret, mark="U1")
    copy = (shards, tmp_path / "again")
    done = run(
        shards, tmp_path / "there", "--tasks", 3, "--workers", 2, "--mark", "U1",
        "--secret-file", secret, "--copy", *copy,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    here = contents(tmp_path / "here")
    assert len(here) == SHARDS
    assert contents(tmp_path / "there") == here
    assert contents(tmp_path / "again") == here
    manifests = [tmp_path / f"{name}.manifest.jsonl.gz" for name in ("here", "there")]
    one, other = (pm.load_manifest(path) for path in manifests)
    assert one.header == other.header
    assert manifests[0].read_bytes() == manifests[1].read_bytes()
    logs = tmp_path / "there.datatrove" / "logs"
    completed = {str(path.relative_to(logs)) for path in logs.glob("*/completions/*")}
    assert completed == {
        *(f"{name}/completions/0000{rank}" for name in ("measure", "apply") for rank in range(3)),
        "mark/completions/00000",
    }
    # a rank whose completion was lost does not do again what is there, and the rest is left alone
    (logs / "measure" / "completions" / "00001").unlink()
    (logs / "apply" / "completions" / "00000").unlink()
    (tmp_path / "again" / "more" / "part-3.jsonl").unlink()  # the first shard, of the first rank
    done = run(
        shards, tmp_path / "there", "--tasks", 3, "--workers", 1, "--mark", "U1",
        "--secret-file", secret, "--copy", *copy,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    assert contents(tmp_path / "again") == here
    # another dataset than that of the manifest is refused by its ranks
    (shards / "part-1.jsonl").write_bytes((shards / "part-0.jsonl").read_bytes())
    for path in (logs / "apply" / "completions").iterdir():
        path.unlink()
    done = run(
        shards, tmp_path / "there", "--tasks", 3, "--workers", 1, "--mark", "U1",
        "--secret-file", secret, "--copy", shards, tmp_path / "third",
    )  # fmt: skip
    assert done.returncode != 0
    assert "part-1.jsonl" in done.stderr
    assert not (tmp_path / "third" / "part-1.jsonl").exists()
    assert (tmp_path / "third" / "part-0.jsonl").exists()  # of another rank
