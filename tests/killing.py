"""Kill a run before each change that it makes to a file, and look at what it leaves.

`python -m tests.killing staging FOLDER KIND BEFORE`, `python -m tests.killing embed FOLDER BEFORE`,
`python -m tests.killing resume FOLDER WATERMARK` and `python -m tests.killing store FOLDER BEFORE`
(with an S3 server on the loopback) print what was seen as JSON, and fail at the first state that
must not be. Each run is a fork of this process, which has one thread; it kills
itself (SIGKILL) before its n-th change. `python -m tests.killing anywhere FOLDER SEED KILLS` kills
every command that goes on at random points: see tests/killing_anywhere.py.
"""

import hashlib
import itertools
import json
import os
import shutil
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import orjson

import puzzlemark as pm
import puzzlemark.corpora.formats.jsonl
from puzzlemark import corpora
from puzzlemark.corpora.base import Batch
from puzzlemark.embedding import survey
from puzzlemark.errors import UsageError
from puzzlemark.staging import staged_together
from tests.killing_anywhere import kill_anywhere
from tests.servers.s3 import serving

CHANGES = frozenset({"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate"})
CODE = "def f(key, item):\n    first = key\n    second = first + item\n    return second  # {}\n"


def killed_before_each_change(
    run: Callable[[], None],
    prepare: Callable[[], None],
    die_at: Callable[[int], None] | None = None,
    numbers: Iterable[int] | None = None,
) -> Iterator[int]:
    """Prepare, and run until the n-th change, for every n; the last run is not killed."""
    for number in numbers or itertools.count(1):
        prepare()
        child = os.fork()
        if not child:
            (die_at or _die_at)(number)
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
    # so that even this file is written in some blocks, and each of them is noted
    corpora.lines.BLOCK_BYTES, corpora.formats.jsonl.NOTED_BLOCKS = 700, 1

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
    prepare()
    run()
    whole = output.stat().st_size
    for number in killed_before_each_change(run, prepare):
        seen["kills"] += 1
        seen[_state(output, manifest)] += 1
        half = folder / ".m.jsonl.work" / "file" / "m.jsonl"
        seen["half a file to go on with"] += half.exists() and 0 < half.stat().st_size < whole
        told = ""
        try:
            pm.embed(source, output, manifest, mark="U1", tau=0, max_rate=0.8)
        except UsageError as exc:
            told = str(exc)
        seen[_outcome(told)] += 1
        if _outcome(told) == "kept by the next run":  # and with it what was done so far
            pm.embed(source, output, manifest, mark="U1", tau=0, max_rate=0.8, overwrite=True)
        assert _state(output, manifest) == "both", number
        pm.revert(output, folder / "back.jsonl", manifest)
        assert (folder / "back.jsonl").read_bytes() == source.read_bytes()
        names = sorted(path.name for path in folder.iterdir())
        assert names == ["back.jsonl", "in.jsonl", "m.gz", "m.jsonl"], (number, names)
    return seen


def kill_and_resume(folder: Path, watermark: str) -> Counter[str]:
    """Shards are marked; after each kill the same command goes on, to the same bytes."""
    source, output, manifest = folder / "in", folder / "m", folder / "m.gz"
    os.environ["PUZZLEMARK_SECRET"] = "known to everybody"  # noqa: S105
    shards, records = 4, 6

    def prepare() -> None:
        shutil.rmtree(folder)
        source.mkdir(parents=True)
        for shard in range(shards):
            codes = (CODE.format(f"{shard}, {n}") for n in range(records))
            lines = ({"id": str(n), "language": "python", "code": code} for n, code in
                     enumerate(codes, records * shard))  # fmt: skip
            place = source / f"{shard}.jsonl"
            place.write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in lines))
            os.utime(place, (1, 1))

    def run() -> None:
        pm.embed(source, output, manifest, watermark=watermark, tau=0, max_rate=0.8)

    def written() -> dict[str, bytes]:
        files = [path for path in folder.rglob("*") if path.is_file()]
        ours = (path for path in files if source not in path.parents)
        return {str(path.relative_to(folder)): path.read_bytes() for path in ours}

    prepare()
    run()
    expected, seen = written(), Counter[str]()
    measured: list[int] = []
    measure = survey.survey_batch

    def watched(batch: Batch, wanted: survey.Wanted) -> Any:
        measured.append(len(batch.rows))
        return measure(batch, wanted)

    for number in killed_before_each_change(run, prepare):
        seen["kills"] += 1
        kept = [path for path in folder.glob(".m.work/survey/*") if path.suffix != ".partial"]
        shard_files = len(list(folder.glob(".m.work/written/*.json")))
        told = ""
        measured.clear()
        survey.survey_batch = watched
        try:
            run()
        except UsageError as exc:
            told = str(exc)
        finally:
            survey.survey_batch = measure
        if told:
            assert "is complete" in told or "already there" in told, (number, told)
        else:
            assert sum(measured) == records * (shards - len(kept)), (number, measured, kept)
            seen["measured before"] += bool(kept)
            seen["written before"] += bool(shard_files)
        assert written() == expected, (number, sorted(written()))
    return seen


STORE_CHANGES = frozenset(
    "put_object copy_object delete_object create_multipart_upload upload_part "
    "complete_multipart_upload abort_multipart_upload".split()
)


def _die_at_request(number: int) -> None:
    """Die before the n-th request that changes anything in the store."""
    import s3fs

    from puzzlemark import stores

    stores.PART, stores.PARTS_AT_ONCE = 400, 1  # so that a small shard is sent in parts
    left = number
    call = s3fs.S3FileSystem._call_s3

    async def watched(self: Any, method: str, *arguments: Any, **options: Any) -> Any:
        nonlocal left
        if method in STORE_CHANGES:
            left -= 1
            if not left:
                os.kill(os.getpid(), signal.SIGKILL)
        return await call(self, method, *arguments, **options)

    s3fs.S3FileSystem._call_s3 = watched


def kill_in_store(folder: Path, before: str, *numbers: str) -> Counter[str]:
    """Shards in a store are marked into it, anew or over older ones; after each kill go on."""
    import s3fs  # noqa: F401 - before any fork, and without a thread of its own

    os.environ["PUZZLEMARK_SECRET"] = "known to everybody"  # noqa: S105
    os.environ["XDG_CACHE_HOME"] = str(folder / "cache")
    manifest, seen = folder / "m.gz", Counter[str]()

    def lines(shard: int) -> bytes:
        codes = enumerate((CODE.format(f"{shard}, {n}") for n in range(6)), 6 * shard)
        records = ({"id": str(n), "language": "python", "code": code} for n, code in codes)
        return b"".join(orjson.dumps(record) + b"\n" for record in records)

    def run(output: str = "s3://datasets/out/m") -> None:
        pm.embed(
            "s3://datasets/in", output, manifest, watermark="universal", tau=0, max_rate=0.8,
            overwrite=before != "nothing",
        )  # fmt: skip

    def elsewhere(output: str) -> None:
        """In a process of its own: this one must never have a thread, as it forks."""
        child = os.fork()
        if not child:
            run(output)
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0

    with serving() as s3:
        os.environ.update(s3.environment)

        def prepare() -> None:
            s3.reset()
            for shard in range(3):
                s3.put(f"in/{shard}.jsonl", lines(shard))
            if before != "nothing":
                s3.put("out/m/old.jsonl", lines(7))
            shutil.rmtree(folder)
            folder.mkdir()

        prepare()
        elsewhere("s3://datasets/out/m")
        expected, marks = s3.objects("out/"), manifest.read_bytes()
        assert sorted(expected) == [f"out/m/{shard}.jsonl" for shard in range(3)]
        points = [int(number) for number in numbers] or None
        for number in killed_before_each_change(run, prepare, _die_at_request, points):
            seen["kills"] += 1
            found = s3.objects("out/m/")
            for name, content in found.items():  # whole, of this run or of the one before
                assert content == expected.get(name, lines(7)), (number, name)
            seen["uploads left"] += bool(s3.uploads())
            seen["some names given"] += 0 < len(found.keys() & expected.keys()) < 3
            child = os.fork()
            if not child:
                try:
                    run()
                except UsageError as exc:
                    words = ("is complete", "already there")
                    os._exit(next((3 + at for at, w in enumerate(words) if w in str(exc)), 1))
                os._exit(0)
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            outcomes = {0: "done by the next run", 3: "completed by the next run", 4: "was done"}
            seen[outcomes[status]] += 1
            assert s3.objects("out/") == expected, (number, sorted(s3.objects("out/")))
            assert manifest.read_bytes() == marks, number
            assert s3.uploads() == [], (number, s3.uploads())
            left = [path for path in (folder / "cache").rglob("*") if path.name.startswith(".")]
            assert left == [], (number, left)
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
    elif what == "store":
        print(json.dumps(kill_in_store(Path(where), *words)))
    elif what == "anywhere":
        print(json.dumps(kill_anywhere(Path(where), *words), indent=1))
    elif what == "resume":
        print(json.dumps(kill_and_resume(Path(where), *words)))
    else:
        print(json.dumps(kill_embed(Path(where), *words)))
