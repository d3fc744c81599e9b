"""Outputs in a store that fails at any moment: whole or not at all, and completed by the next run.

The store is `memory://`, which shows an object while it is written, as S3 does not.
"""

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import puzzlemark as pm
from puzzlemark.corpora.writing import write_records
from puzzlemark.errors import CorpusError, UsageError
from puzzlemark.holding import CLAIM
from puzzlemark.stores import Url

fsspec = pytest.importorskip("fsspec")
memory = pytest.importorskip("fsspec.implementations.memory")

CODE = "def f(key, item):\n    first = key\n    second = first + item\n    return second  # {}\n"
CHANGES = ("pipe_file", "put_file", "cp_file", "rm_file")
ENDINGS = ".jsonl .jsonl.gz .jsonl.zst .jsonl.xz .jsonl.bz2 .json .csv .parquet .arrow".split()


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    """What the store holds, by path."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PUZZLEMARK_SECRET", "known to everybody")
    memory.MemoryFileSystem.store.clear()
    yield memory.MemoryFileSystem.store
    memory.MemoryFileSystem.store.clear()


def put(name: str, ending: str, first: int) -> None:
    """A dataset of six records in the store."""
    lines = [
        {"id": str(n), "language": "python", "code": CODE.format(n)}
        for n in range(first, first + 6)
    ]
    write_records(lines, f"memory://{name}{ending}")


def contents(store: dict[str, Any], prefix: str) -> dict[str, bytes]:
    found = [name for name in store if name.startswith(prefix)]
    return {name: store[name].getvalue() for name in found}


def embed(output: str, manifest: Path, source: str = "memory://in") -> None:
    pm.embed(source, output, manifest, watermark="universal", tau=0, max_rate=0.8)


@pytest.mark.parametrize("ending", ENDINGS)
def test_every_format_has_the_bytes_that_it_has_on_a_disk(
    store: dict[str, Any], tmp_path: Path, ending: str
) -> None:
    put("in/a", ending, 0)
    here = tmp_path / f"a{ending}"
    here.write_bytes(store[f"/in/a{ending}"].getvalue())
    marked = tmp_path / f"m{ending}"
    embed(str(marked), tmp_path / "here.gz", str(here))
    embed(f"memory://out/m{ending}", tmp_path / "there.gz", f"memory://in/a{ending}")
    assert contents(store, "/out") == {f"/out/m{ending}": marked.read_bytes()}
    pm.revert(f"memory://out/m{ending}", f"memory://back/a{ending}", tmp_path / "there.gz")
    assert contents(store, "/back") == {f"/back/a{ending}": here.read_bytes()}


def test_a_store_that_fails_at_any_change_shows_nothing_half(
    store: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for at in range(2):
        put(f"in/{at}", ".jsonl", 6 * at)
    embed("memory://out/m", tmp_path / "m.gz")
    expected, marks = contents(store, "/out"), (tmp_path / "m.gz").read_bytes()
    outcomes = set()
    for number in itertools.count(1):
        for name in list(contents(store, "/out")):
            del store[name]
        (tmp_path / "m.gz").unlink()
        with monkeypatch.context() as patched:
            _fail_at(number, patched)
            try:
                embed("memory://out/m", tmp_path / "m.gz")
            except CorpusError as exc:
                told = str(exc)
            else:
                break
        assert "no more room" in told, (number, told)
        given = contents(store, "/out/m/")
        assert given.items() <= expected.items(), number
        try:
            embed("memory://out/m", tmp_path / "m.gz")
            outcomes.add("anew")
        except UsageError as exc:
            outcomes.add("completed" if "is complete" in str(exc) else "was done")
        assert contents(store, "/out") == expected, number
        assert (tmp_path / "m.gz").read_bytes() == marks, number
    assert {"anew", "completed"} <= outcomes
    assert number > 8


def _fail_at(number: int, patched: pytest.MonkeyPatch) -> None:
    left = number

    def failing(name: str) -> Any:
        change = getattr(memory.MemoryFileSystem, name)

        def fail(self: Any, *arguments: Any, **options: Any) -> Any:
            nonlocal left
            left -= 1
            if left == 0:
                raise OSError("no more room")
            return change(self, *arguments, **options)

        return fail

    for name in CHANGES:
        patched.setattr(memory.MemoryFileSystem, name, failing(name))


def test_an_output_that_another_machine_claimed_is_left_alone(
    store: dict[str, Any], tmp_path: Path
) -> None:
    put("in/0", ".jsonl", 0)
    claim = Url("memory", f"out/.m.partial/{CLAIM}")
    claim.write_bytes(b'{"machine": "another", "since": "2026-11-18"}')
    with pytest.raises(CorpusError, match="another machine or user is writing it since 2026-11-18"):
        embed("memory://out/m", tmp_path / "m.gz")
    assert list(contents(store, "/out")) == [f"/out/.m.partial/{CLAIM}"]
    assert not (tmp_path / "m.gz").exists()


def test_the_manifest_of_a_dataset_in_a_store_has_to_be_named(store: dict[str, Any]) -> None:
    put("in/0", ".jsonl", 0)
    with pytest.raises(UsageError, match="kept on this machine; name its file: --manifest"):
        pm.embed("memory://in", "memory://out/m", watermark="universal")


def test_an_input_is_not_overwritten_by_another_spelling(
    store: dict[str, Any], tmp_path: Path
) -> None:
    put("t/in/0", ".jsonl", 0)
    before = contents(store, "/t/in")
    for output in ("memory://t/in/", "MEMORY://t/in", "memory://t/in/sub", "memory://t/%69n"):
        with pytest.raises(UsageError, match="could be lost"):
            pm.embed("memory://t/in", output, tmp_path / "m.gz", overwrite=True)
    assert contents(store, "/t/in") == before
