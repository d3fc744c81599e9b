"""A run of embed that is killed: never a marked dataset without its manifest."""

import hashlib
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

import puzzlemark as pm
from puzzlemark.corpora import lines
from puzzlemark.corpora.formats import jsonl
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
    assert seen["half a file to go on with"] > 4
    assert seen["a manifest alone"] > 0
    assert seen["completed by the next run"] > 0


def test_after_a_kill_at_any_point_the_same_command_goes_on_to_the_same_bytes(
    tmp_path: Path,
) -> None:
    """See tests/killing.py: nothing that was kept is measured again."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.killing", "resume", str(tmp_path), "universal"],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[2],
    )
    assert done.returncode == 0, done.stdout + done.stderr
    seen = json.loads(done.stdout)
    assert seen["kills"] > 100
    assert seen["measured before"] > 50
    assert seen["written before"] > 20


@pytest.mark.parametrize("damage", [None, b"x", b""])
def test_a_plain_file_is_gone_on_with_in_its_middle(
    tmp_path: Path,
    stdlib_functions: list[tuple[str, str]],
    monkeypatch: pytest.MonkeyPatch,
    damage: bytes | None,
) -> None:
    """Lines before the last note are not edited again, unless what is there was changed."""
    source, interrupted_at = tmp_path / "in.jsonl", 20
    records = [
        {"id": id_, "language": "python", "code": code, "copy": code, "note": "\u00e9"}
        for id_, code in stdlib_functions[:120]
    ]
    source.write_bytes(b"".join(json.dumps(each).encode() + b"\n" for each in records))
    monkeypatch.setenv("PUZZLEMARK_SECRET", "known to everybody")
    monkeypatch.setattr(lines, "BLOCK_BYTES", 3000)
    monkeypatch.setattr(jsonl, "NOTED_BLOCKS", 1)

    def run(name: str) -> pm.Summary:
        place = tmp_path / f"{name}.jsonl"
        return pm.embed(source, place, tmp_path / f"{name}.gz", mark="U1", tau=0, max_rate=0.5)

    edited: list[int] = []
    revise = jsonl.revise_line

    def watched(line: bytes, row: int, *rest: Any) -> Any:
        edited.append(row)
        if len(edited) == interrupted_at:
            raise KeyboardInterrupt
        return revise(line, row, *rest)

    expected = run("undisturbed")
    assert expected.marked > 2 * interrupted_at
    monkeypatch.setattr(jsonl, "revise_line", watched)
    with pytest.raises(KeyboardInterrupt):
        run("marked")
    half = tmp_path / ".marked.jsonl.work" / "file" / "marked.jsonl"
    if damage is not None:
        half.write_bytes(half.read_bytes()[:-1] + damage if damage else b"")
    begun = len(set(edited))
    done = run("marked")
    again = len(edited) - expected.marked
    assert begun == interrupted_at
    assert (again < 5) if damage is None else (again == begun)
    assert done.counts == expected.counts
    assert done.recomputed == expected.recomputed
    for ending in ("jsonl", "gz"):
        undisturbed = (tmp_path / f"undisturbed.{ending}").read_bytes()
        assert (tmp_path / f"marked.{ending}").read_bytes() == undisturbed
    assert not list(tmp_path.glob(".*"))


@pytest.fixture
def shards(corpus_path: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "in"
    folder.mkdir()
    records = [orjson.loads(line) for line in corpus_path.read_bytes().splitlines()]
    for number in range(5):
        with (folder / f"{number}.jsonl").open("wb") as file:
            for record in records[number::5]:
                code = record["code"].encode()
                derived = {"sha256": hashlib.sha256(code).hexdigest(), "size": len(code)}
                file.write(orjson.dumps(record | derived) + b"\n")
    return folder


def interrupt(stage: str, after: int) -> Callable[[str, int, int | None], None]:
    """Ctrl-C, after so many steps of a stage."""
    left = after

    def progress(now: str, done: int, total: int | None) -> None:
        nonlocal left
        left -= now == stage
        if not left:
            raise KeyboardInterrupt

    return progress


@pytest.mark.parametrize(
    ("watermark", "stage"),
    [
        ("universal", "measuring"),
        ("universal", "marking"),
        ("universal", "writing"),
        ("synonyms", "measuring"),
        ("owner", "writing"),
    ],
)
def test_an_interrupted_run_goes_on_with_another_number_of_workers(
    shards: Path, tmp_path: Path, watermark: str, stage: str
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("known to everybody", encoding="utf-8")
    secret.chmod(0o600)

    def run(name: str, workers: int, **more: Any) -> Any:
        output = tmp_path / name / "m"
        given = {"secret_file": secret, "workers": workers, **more}
        if watermark == "owner":
            return pm.embed_owner(shards, output, **given).to_json()
        return pm.embed(shards, output, watermark=watermark, **given).to_json()

    once = run("once", 1)
    with pytest.raises(KeyboardInterrupt):
        run("twice", 1, progress=interrupt(stage, 1 if stage == "marking" else 2))
    assert (tmp_path / "twice" / ".m.work").is_dir()
    twice = run("twice", 2)
    assert json.dumps(twice).replace("/twice/", "/once/") == json.dumps(once)
    assert contents(tmp_path / "twice") == contents(tmp_path / "once")


def contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def test_an_interrupted_run_is_not_gone_on_with_by_another(shards: Path, tmp_path: Path) -> None:
    output = tmp_path / "m"
    with pytest.raises(KeyboardInterrupt):
        pm.embed(shards, output, mark="U1", progress=interrupt("measuring", 2))
    with pytest.raises(UsageError, match=r"tau was 0\.35 then, and is 0\.1 now"):
        pm.embed(shards, output, mark="U1", tau=0.1)
    (shards / "3.jsonl").write_bytes((shards / "3.jsonl").read_bytes() + b"\n")
    with pytest.raises(UsageError, match=r"3\.jsonl was another file then"):
        pm.embed(shards, output, mark="U1")


def test_scores_go_on_where_they_were_interrupted(shards: Path, tmp_path: Path) -> None:
    once, twice = tmp_path / "once.parquet", tmp_path / "twice.parquet"
    pm.score(shards, once)
    with pytest.raises(KeyboardInterrupt):
        pm.score(shards, twice, progress=interrupt("measuring", 3))
    pm.score(shards, twice)
    assert twice.read_bytes() == once.read_bytes()
    assert not (tmp_path / ".twice.parquet.work").exists()


def test_shards_have_one_name_in_the_end_with_or_without_links(
    shards: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pm.embed(shards, tmp_path / "linked", mark="P1", order="dataset")
    assert {path.stat().st_nlink for path in (tmp_path / "linked").iterdir()} == {1}

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError("no links on this file system")

    monkeypatch.setattr("puzzlemark.corpora.writing.os.link", refuse)
    pm.embed(shards, tmp_path / "moved", mark="P1", order="dataset")
    assert contents(tmp_path / "moved") == contents(tmp_path / "linked")
    assert not list(tmp_path.glob(".*"))


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
