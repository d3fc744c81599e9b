"""Kill commands at random points and repeat them: the same bytes, and no task done twice in vain.

`python -m tests.killing anywhere FOLDER SEED KILLS [COMMAND ...]` prints what was seen as JSON. A
third of the kills come before a drawn change to a file, a third before a drawn task, both in a run
of one process; the others after a drawn time in a run with two workers, who are killed with it, or
left behind. An engine of its own notes every task that is begun. After the repetition each of them
was begun once, but for those in flight when the run was killed: one of the one process, at most
seven of two workers (`engines/processes.py` has three ahead for each). `embed@ray` as a COMMAND is
embed on a cluster of Ray's with two workers, killed when a drawn number of tasks was begun. A run
that ended before its kill is not counted.
"""

import hashlib
import os
import random
import shutil
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

import orjson

import puzzlemark as pm
from puzzlemark.engines.base import Engine, open_engine
from puzzlemark.errors import UsageError
from puzzlemark.harvesting import run as harvesting

SHARDS, RECORDS, SOURCES = 8, 5, 16
ENGINES = {"serial": (1, 1), "processes": (2, 7), "ray": (2, 5)}  # workers, tasks in flight
COUNTING = frozenset({"find_ends", "_count"})  # records of a shard: not kept, as it costs little
CHANGES = frozenset({"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate", "os.link"})
CODE = """def add_{0}(key, items, limit={0}):
    first = key
    second_total = first + len(items)
    for item in items:  # {0}
        second_total += item
    return second_total
"""

Run = Callable[[Path, Engine], object]
Kind = Literal["change", "task", "time"]
KINDS: tuple[tuple[Kind, str], ...] = (
    ("change", "serial"),
    ("task", "serial"),
    ("time", "processes"),
)

COMMANDS: dict[str, Run] = {
    "embed": lambda at, engine: pm.embed(
        at / "in", at / "m", at / "m.gz", watermark="universal", tau=0, max_rate=0.8, engine=engine
    ),
    "score": lambda at, engine: pm.score(at / "in", at / "scores.parquet", engine=engine),
    "concat": lambda at, engine: pm.detect(
        at / "in", at / "s.parquet", method="concat", engine=engine
    ),
    "decoma": lambda at, engine: pm.detect(
        at / "in", at / "s.parquet", method="decoma", settings={"clean_samples": 0}, engine=engine
    ),
    "attack": lambda at, engine: pm.attack(
        at / "in", at / "left", attack="rename:scope=all", engine=engine
    ),
    "dedup": lambda at, engine: pm.attack(at / "in", at / "left", attack="dedup", engine=engine),
    "harvest": lambda at, engine: pm.harvest(
        at / "tree", at / "functions.parquet", "python", engine=engine
    ),
}


@dataclass(frozen=True, slots=True)
class Noting:
    """An engine that notes in a file which tasks are begun; it may die before one of them."""

    engine: Engine
    notes: Path
    dies_at: int = 0

    @property
    def workers(self) -> int:
        return getattr(self.engine, "workers", 1)

    def map(self, function: Callable[[Any], Any], batches: Iterable[Any]) -> Iterator[Any]:
        """As the engine itself."""
        return self.engine.map(_Noted(function, self.notes, self.dies_at), batches)

    def close(self) -> None:
        """It is closed by whoever opened it."""


@dataclass(frozen=True, slots=True)
class _Noted:
    function: Callable[[Any], Any]
    notes: Path
    dies_at: int

    def __call__(self, task: Any) -> Any:
        # it is there already: making it would be a change to a file
        descriptor = os.open(self.notes, os.O_WRONLY | os.O_APPEND)
        os.write(descriptor, f"{_purpose(self.function)} {_name(task)}\n".encode())
        os.close(descriptor)
        if self.dies_at and self.notes.read_bytes().count(b"\n") == self.dies_at:
            os.kill(os.getpid(), signal.SIGKILL)
        return self.function(task)


def _purpose(function: Callable[..., Any]) -> str:
    """The name of the function that a worker calls in the end."""
    while isinstance(function, partial):
        function = function.keywords.get("function") or function.func
    return getattr(function, "__name__", type(function).__name__)


def _name(task: Any) -> str:
    """The rows of a batch or the name of a shard; "-" for what has none, and is not kept."""
    shard = getattr(task, "shard", None)
    name = getattr(task, "name", None) or getattr(shard, "name", None)
    return "-" if name is None else str(name).replace(" ", "_")


@dataclass(frozen=True, slots=True)
class _Place:
    """Where one command runs, again and again."""

    folder: Path
    command: str

    @property
    def notes(self) -> Path:
        return self.folder / "notes"

    def prepare(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        (self.folder / "in").mkdir(parents=True)
        for shard in range(SHARDS):
            numbers = range(RECORDS * shard, RECORDS * (shard + 1))
            lines = ({"id": str(n), "language": "python", "code": CODE.format(n)} for n in numbers)
            place = self.folder / "in" / f"{shard}.jsonl"
            place.write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in lines))
            os.utime(place, (1, 1))
        (self.folder / "tree").mkdir()
        for number in range(SOURCES):
            (self.folder / "tree" / f"f{number}.py").write_text(CODE.format(number))
        self.notes.touch()

    def begin(self, engine: str, die: Callable[[], None] | None = None, dies_at: int = 0) -> int:
        """A fork that runs the command, alone in its group: this process must have one thread."""
        child = os.fork()
        if child:
            with suppress(ProcessLookupError, PermissionError):  # it may have done so itself
                os.setpgid(child, child)
            return child
        os.setpgid(0, 0)
        status = 1
        try:
            harvesting.BATCH_FILES = 2
            if die is not None:
                die()
            with open_engine(engine, ENGINES[engine][0]) as opened:
                COMMANDS[self.command](self.folder, Noting(opened, self.notes, dies_at))
            status = 0
        except UsageError as exc:
            status = 3 if "is complete" in str(exc) or "already there" in str(exc) else 1
            print(exc, file=sys.stderr)
        except BaseException:
            traceback.print_exc()
            raise
        finally:
            os._exit(status)

    def written(self) -> dict[str, str]:
        """All that stands there but for what was there before."""
        files = (path for path in self.folder.rglob("*") if path.is_file() and path != self.notes)
        ours = (path.relative_to(self.folder) for path in files)
        return {
            str(name): hashlib.sha256((self.folder / name).read_bytes()).hexdigest()
            for name in ours
            if name.parts[0] not in ("in", "tree")
        }

    def noted(self) -> Counter[str]:
        return Counter(self.notes.read_text().splitlines())


@dataclass(frozen=True, slots=True)
class _Undisturbed:
    """A run that nobody kills."""

    written: dict[str, str]
    tasks: Counter[str]
    changes: int
    seconds: float


def kill_anywhere(folder: Path, seed: str, kills: str, *names: str) -> dict[str, Any]:
    """So many kills in all, in turn over the commands."""
    rng = random.Random(int(seed))
    commands = names or tuple(COMMANDS)
    known: dict[tuple[str, str], _Undisturbed] = {}
    seen: dict[str, Counter[str]] = {name: Counter() for name in commands}
    for number in range(int(kills)):
        name = commands[number % len(commands)]
        kind, engine = KINDS[number // len(commands) % len(KINDS)]
        if name.endswith("@ray"):
            kind, engine = "task", "ray"
        place = _Place(folder / name, name.removesuffix("@ray"))
        for each in ("serial", engine):
            if (name, each) not in known:
                known[name, each] = _run_undisturbed(place, each)
        expected = known[name, "serial"].written
        assert known[name, engine].written == expected, f"{name}: other bytes by {engine}"
        once: Counter[str] | None = None
        while once is None:
            once = _kill_once(place, known[name, engine], kind, engine, rng)
        seen[name] += once
    total = sum(seen.values(), Counter[str]())
    return {"seed": int(seed), "all": total, **seen}


def _run_undisturbed(place: _Place, engine: str) -> _Undisturbed:
    place.prepare()
    counted = place.folder / "counted"
    started = time.monotonic()
    child = place.begin(engine, partial(_count_changes, counted))
    assert os.waitpid(child, 0)[1] == 0, f"{place.command} failed"
    seconds = time.monotonic() - started
    changes = int(counted.stat().st_size)
    counted.unlink()
    return _Undisturbed(place.written(), place.noted(), changes, seconds)


def _kill_once(
    place: _Place, known: _Undisturbed, kind: Kind, engine: str, rng: random.Random
) -> Counter[str] | None:
    """What was seen; None when the run ended first."""
    place.prepare()
    point = rng.random()
    if kind == "change":
        child = place.begin(engine, partial(_die_at_change, 1 + int(point * known.changes)))
    elif engine == "serial":
        child = place.begin(engine, dies_at=1 + int(point * known.tasks.total()))
    else:
        child = place.begin(engine)
        if kind == "time":
            time.sleep(point * known.seconds)
        while kind == "task" and place.noted().total() <= int(point * known.tasks.total()):
            time.sleep(0.01)
        # its workers find out for themselves; Ray's take more than a minute for it
        is_alone = engine == "processes" and rng.random() < 0.3
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL) if is_alone else os.killpg(child, signal.SIGKILL)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    where = (place.command, kind, point)
    assert status in (0, -signal.SIGKILL), (where, status)
    _wait_for_group(child)
    if status == 0:
        return None
    before = place.noted()
    folder = next((place.folder.glob(".*.work")), None)
    seen = Counter({"kills": 1, f"by {kind}": 1})
    seen["parts to go on from"] += folder is not None
    again = os.waitstatus_to_exitcode(os.waitpid(place.begin(engine), 0)[1])
    assert again in (0, 3), (where, again)
    seen["done by the next run" if again == 0 else "nothing left to do"] += 1
    assert place.written() == known.written, (where, sorted(place.written()))
    after = place.noted()
    named = {task: n for task, n in after.items() if _is_kept(task)}
    twice = Counter({task: n - known.tasks[task] for task, n in named.items()})
    twice = +twice  # what a run does twice by itself, such as two digests, is known
    assert twice.total() <= ENGINES[engine][1], (where, twice)
    missing = [task for task in known.tasks if _is_kept(task) and not after[task]]
    assert not missing, (where, missing)
    seen["tasks"] += sum(n for task, n in known.tasks.items() if _is_kept(task))
    seen["tasks before the kill"] += sum(n for task, n in before.items() if _is_kept(task))
    seen["tasks begun twice"] += twice.total()
    return seen


def _is_kept(task: str) -> bool:
    purpose, name = task.split(" ", 1)
    return name != "-" and purpose not in COUNTING


def _wait_for_group(group: int) -> None:
    """Until nobody of it is left: workers that were left behind end by themselves."""
    for _ in range(1200):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    raise AssertionError("workers of a run that was killed live on")


def _watch(act: Callable[[], None]) -> None:
    def watch(event: str, arguments: tuple[object, ...]) -> None:
        writes = event == "open" and isinstance(arguments[2], int) and arguments[2] & os.O_CREAT
        if event in CHANGES or writes:
            act()

    sys.addaudithook(watch)


def _count_changes(place: Path) -> None:
    descriptor = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def act() -> None:
        os.write(descriptor, b".")

    _watch(act)


def _die_at_change(number: int) -> None:
    left = number

    def act() -> None:
        nonlocal left
        left -= 1
        if not left:
            os.kill(os.getpid(), signal.SIGKILL)

    _watch(act)
