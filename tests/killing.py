"""Kill a run before each change that it makes to a file, and look at what it leaves.

`python -m tests.killing staging FOLDER KIND BEFORE` and `python -m tests.killing embed FOLDER
BEFORE` print what was seen as JSON, and fail at the first state that must not be. Each run is a
fork of this process, which has one thread; it kills itself (SIGKILL) before its n-th change.
"""

import hashlib
import itertools
import json
import os
import shutil
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import orjson

import puzzlemark as pm
from puzzlemark.errors import UsageError
from puzzlemark.staging import staged_together

CHANGES = frozenset({"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate"})
CODE = "def f(key, item):\n    first = key\n    second = first + item\n    return second  # {}\n"


def killed_before_each_change(
    run: Callable[[], None], prepare: Callable[[], None]
) -> Iterator[int]:
    """Prepare, and run until the n-th change, for every n; the last run is not killed."""
    for number in itertools.count(1):
        prepare()
        child = os.fork()
        if not child:
            _die_at(number)
            run()
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if os.WIFEXITED(status):
            assert os.WEXITSTATUS(status) == 0, f"the run failed at change {number}"
            return
        assert os.WTERMSIG(status) == signal.SIGKILL
        yield number


def _die_at(number: int) -> None:
    left = number

    def watch(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal left
        writes = event == "open" and isinstance(arguments[2], int) and arguments[2] & os.O_CREAT
        if event in CHANGES or writes:
            left -= 1
            if not left:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(watch)


def kill_staging(folder: Path, kind: str, before: str) -> Counter[str]:
    """Two outputs, a first and a last one; as files or folders, new or replaced."""
    outputs = (folder / "1" / "first", folder / "2" / "last")

    def put(path: Path, text: str) -> None:
        if kind == "folders":
            path.mkdir(parents=True)
            path = path / "inside"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def read(path: Path) -> str | None:
        path = path / "inside" if kind == "folders" else path
        return path.read_text() if path.exists() else None

    def prepare() -> None:
        shutil.rmtree(folder)
        folder.mkdir()
        if before != "nothing":
            for path in outputs:
                put(path, "old")

    def run(text: str = "new") -> None:
        with staged_together(outputs, overwrite=True) as places:
            for place in places:
                put(place, text)

    seen: Counter[str] = Counter()
    for number in killed_before_each_change(run, prepare):
        seen["kills"] += 1
        first, last = map(read, outputs)
        # the last is never beside another than its own first
        assert last is None or first == last, (number, first, last)
        told = ""
        try:
            with staged_together(outputs) as places:
                for place in places:
                    put(place, "next")
        except UsageError as exc:
            told = str(exc)
        outcome = _outcome(told)
        seen[outcome] += 1
        expected = {
            "swept up by the next run": (["next", "next"],),
            "completed by the next run": (["new", "new"],),
            # or killed when it was done, but for tidying up
            "kept by the next run": (["old", "old"], ["new", "new"]),
        }
        found = [read(path) for path in outputs]
        assert found in expected[outcome], (number, outcome, found)
        assert not list(folder.rglob(".*")), (number, list(folder.rglob(".*")))
    return seen


def kill_embed(folder: Path, before: str) -> Counter[str]:
    """A dataset is marked, anew or over an older pair of dataset and manifest."""
    source, output, manifest = folder / "in.jsonl", folder / "m.jsonl", folder / "m.gz"
    os.environ["PUZZLEMARK_SECRET"] = "known to everybody"  # noqa: S105

    def prepare() -> None:
        shutil.rmtree(folder)
        folder.mkdir()
        lines = ({"id": str(n), "language": "python", "code": CODE.format(n)} for n in range(12))
        source.write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in lines))
        if before != "nothing":
            pm.embed(source, output, manifest, mark="P1", tau=0, max_rate=0.5)

    def run() -> None:
        pm.embed(source, output, manifest, mark="U1", tau=0, max_rate=0.8, overwrite=True)

    seen: Counter[str] = Counter()
    for number in killed_before_each_change(run, prepare):
        seen["kills"] += 1
        seen[_state(output, manifest)] += 1
        told = ""
        try:
            pm.embed(source, output, manifest, mark="U1", tau=0, max_rate=0.8)
        except UsageError as exc:
            told = str(exc)
        seen[_outcome(told)] += 1
        assert _state(output, manifest) == "both", number
        pm.revert(output, folder / "back.jsonl", manifest)
        assert (folder / "back.jsonl").read_bytes() == source.read_bytes()
        names = sorted(path.name for path in folder.iterdir())
        assert names == ["back.jsonl", "in.jsonl", "m.gz", "m.jsonl"], (number, names)
    return seen


def _outcome(told: str) -> str:
    if not told:
        return "swept up by the next run"
    return "completed by the next run" if "is complete" in told else "kept by the next run"


def _state(output: Path, manifest: Path) -> str:
    """What stands there; a marked dataset without its own manifest must never be."""
    if not output.exists():
        return "a manifest alone" if manifest.exists() else "neither"
    (shard,) = pm.load_manifest(manifest).header.output.shards
    assert hashlib.sha256(output.read_bytes()).hexdigest() == shard.sha256
    return "both"


if __name__ == "__main__":
    what, where, *words = sys.argv[1:]
    if what == "staging":
        print(json.dumps(kill_staging(Path(where), *words)))
    else:
        print(json.dumps(kill_embed(Path(where), *words)))
