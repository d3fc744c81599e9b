"""No command destroys what it reads, nor one of its outputs by another; `--force` or not."""

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest
from typer.testing import CliRunner, Result

import puzzlemark as pm
from puzzlemark.cli.__main__ import application
from puzzlemark.verification.making import build_probes
from puzzlemark.verification.probes import save_probes

CODE = "def f(key, item):\n    first = key\n    second = first + item\n    return second  # {}\n"
MARK = ("--mark", "U1", "--tau", "0", "--max-rate", "1", "--workers", "1")
ASK = ("--model", "scripted", "--model-args", "habit=innocent")


def run(*words: str | Path) -> Result:
    return CliRunner().invoke(application(), [str(word) for word in words])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """All that commands work with: datasets, a manifest, probes, a run with its report."""
    monkeypatch.chdir(tmp_path)
    lines = [
        {"id": str(n), "language": "python", "repo": f"r{n % 4}", "code": CODE.format(n)}
        for n in range(12)
    ]
    content = b"".join(orjson.dumps(line) + b"\n" for line in lines)
    Path("in.jsonl").write_bytes(content)
    Path("shards").mkdir()
    Path("shards/a.jsonl").write_bytes(content)
    Path("code").mkdir()
    Path("code/a.py").write_text(CODE)
    Path("secret").touch(mode=0o600)
    Path("secret").write_text("known to the tests only")
    for words in (
        ("embed", "in.jsonl", "-o", "m.jsonl", "--manifest", "m.gz", *MARK),
        ("probe", "m.jsonl", "--manifest", "m.gz", "-o", "p.jsonl", "--pairs", "5"),
        ("verify", "--probes", "p.jsonl", *ASK, "-o", "run"),
    ):
        done = run(*words)
        assert done.exit_code == 0, done.output
    Path("link.gz").symlink_to("m.gz")
    os.link("m.gz", "hard.gz")
    return tmp_path


def content(folder: Path) -> dict[str, str]:
    def each() -> Iterator[tuple[str, str]]:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                name = str(path.relative_to(folder))
                yield name, hashlib.sha256(path.read_bytes()).hexdigest()

    return dict(each())


EMBED = ("embed", "in.jsonl", *MARK)
SHARDS = ("embed", "shards", *MARK)
PROBE = ("probe", "m.jsonl", "--manifest", "m.gz")
SHOW = ("show", "m.jsonl", "--manifest", "m.gz")
SCORE = ("score", "in.jsonl", "--workers", "1")
DETECT = ("detect", "in.jsonl", "--method", "concat", "--workers", "1")
VERIFY = ("verify", "m.jsonl", "--manifest", "m.gz", "--pairs", "2", *ASK)
MEASURE = ("quality", "measure", "in.jsonl", *ASK)
BENCH = ("bench", "rq2", "--python", "in.jsonl")

WRONG = [
    # the manifest in a folder output: it was a traceback, and marks without a manifest
    (*SHARDS, "-o", "out", "--manifest", "out/m.gz"),
    (*SHARDS, "-o", "out", "--manifest", "out"),
    (*SHARDS, "-o", "out", "--manifest", "out/../out/deep/m.gz"),
    (*SHARDS, "-o", "shards/out"),
    (*SHARDS, "-o", "out", "--manifest", "shards/m.gz"),
    (*SHARDS, "-o", "out", "--secret-file", "out/secret"),
    # the manifest over the output, or over the input
    (*EMBED, "-o", "x.jsonl", "--manifest", "x.jsonl"),
    (*EMBED, "-o", "x.jsonl", "--manifest", "in.jsonl"),
    (*EMBED, "-o", "x.jsonl", "--manifest", "secret", "--secret-file", "secret"),
    (*EMBED, "-o", "in.jsonl"),
    (*EMBED, "-o", "x.jsonl", "--manifest", ".x.jsonl.partial/m.gz"),
    # probes over the manifest, or over the dataset
    (*PROBE, "-o", "m.gz"),
    (*PROBE, "-o", "link.gz"),
    (*PROBE, "-o", "hard.gz"),
    (*PROBE, "-o", "code/../m.gz"),
    (*PROBE, "-o", "m.jsonl"),
    # the report over what it is about
    ("report", "run", "--output", "run/transcript.jsonl"),
    ("report", "run", "--output", "run/probes.jsonl"),
    ("report", "run", "--output", "run/verdict.json"),
    ("revert", "m.jsonl", "--manifest", "m.gz", "-o", "m.jsonl"),
    ("apply", "in.jsonl", "--manifest", "manifest.jsonl", "-o", "manifest.jsonl"),
    (*SHOW, "--html", "m.gz"),
    (*SHOW, "--html", "m.jsonl"),
    (*SCORE, "-o", "x.parquet", "--picture", "x.parquet"),
    (*SCORE, "-o", "x.parquet", "--picture", "in.jsonl"),
    (*DETECT, "-o", "x.parquet", "--picture", "in.jsonl"),
    (*DETECT, "-o", "x.parquet", "--picture", "m.gz", "--truth", "m.gz"),
    (*DETECT, "-o", "cache/x.parquet", "--cache", "cache"),
    (*DETECT, "-o", "x.parquet", "--picture", "m.jsonl", "--clean", "m.jsonl"),
    ("harvest", "code", "--language", "python", "--output", "code/x.jsonl"),
    ("split", "in.jsonl", "--train", "x.jsonl", "--test", "x.jsonl"),
    ("split", "in.jsonl", "--train", "x.jsonl", "--test", "in.jsonl"),
    (*VERIFY, "-o", "."),
    (*VERIFY, "-o", "m.gz"),
    (*VERIFY, "--secret-file", "new/verdict.json", "-o", "new"),
    (*MEASURE, "-o", "in.jsonl"),
    (*BENCH, "-o", "rq", "--records", "rq/records"),
    (*BENCH, "-o", "."),
]


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("words", WRONG, ids=" ".join)
def test_an_output_that_touches_another_path_is_refused_and_nothing_changes(
    folder: Path, words: tuple[str, ...], force: bool
) -> None:
    if "manifest.jsonl" in words:  # a manifest by a name that a dataset may have
        Path("m.gz").rename("manifest.jsonl")
    before = content(folder)
    has_force = words[0] not in ("verify", "quality", "bench")
    done = run(*words, *(["--force"] if force and has_force else []))
    told = " ".join(done.output.split())
    assert done.exit_code == 2, told
    assert any(relation in told for relation in ("is the same as", "lies inside", "contains")), told
    assert "choose another path for --" in told or "its answers" in told
    assert content(folder) == before


RIGHT = [
    (*SHARDS, "-o", "out", "--manifest", "out.gz"),
    ("embed", "shards/*.jsonl", *MARK, "-o", "shards/out", "--manifest", "shards/m.gz"),
    ("report", "run"),
    ("report", "run", "--output", "run/page.html"),
    ("verify", "--probes", "p.jsonl", *ASK, "-o", "run"),
    ("verify", "--probes", "run/probes.jsonl", *ASK, "-o", "run"),
    ("verify", "--test-only", "-o", "run"),
    ("revert", "m.jsonl", "--manifest", "m.gz", "-o", "x.jsonl"),
    (*SCORE, "-o", "x.parquet"),
    (*DETECT, "-o", "x.parquet", "--truth", "m.gz", "--clean", "shards"),
]


@pytest.mark.parametrize("words", RIGHT, ids=" ".join)
def test_what_lies_apart_goes_on(folder: Path, words: tuple[str, ...]) -> None:
    if "--truth" in words:
        words = tuple("m.jsonl" if word == "in.jsonl" else word for word in words)
    done = run(*words)
    assert done.exit_code == 0, done.output
    assert not [path for path in folder.rglob(".*") if path.name.endswith(".partial")]


def test_python_users_are_protected_as_well(folder: Path) -> None:
    before = content(folder)
    with pytest.raises(pm.PuzzleMarkError, match="lies inside --output"):
        pm.embed("shards", "out", "out/m.gz", tau=0, max_rate=1)
    with pytest.raises(pm.PuzzleMarkError, match="is the same as INPUT"):
        pm.embed("in.jsonl", "x.jsonl", "in.jsonl", tau=0, max_rate=1, overwrite=True)
    with pytest.raises(pm.PuzzleMarkError, match="is the same as --manifest"):
        pm.revert("m.jsonl", "m.gz", "m.gz", overwrite=True)
    probes = build_probes("m.jsonl", "m.gz", pairs=2)
    with pytest.raises(pm.PuzzleMarkError, match="is the same as --manifest"):
        save_probes(probes, Path("m.gz"), overwrite=True, sources={"--manifest": "m.gz"})
    with pytest.raises(pm.PuzzleMarkError, match="lies inside FOLDER_OR_ZIP"):
        pm.harvest("code", "code/x.jsonl", "python", overwrite=True)
    assert content(folder) == before
