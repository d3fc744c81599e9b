"""Work that goes on where it was interrupted: its parts wait in a hidden folder beside the output.

A run that is killed, or ended with Ctrl-C, leaves `.NAME.work`, which nobody but its user can read.
The same command does not do again what it finds there. A command with another input or other
settings is refused, and told which. A run that fails leaves nothing. Of one that ends well the
folder goes when it is sure that the outputs will get their names (`puzzlemark.staging`).

Parts are JSON, Parquet and plain bytes, never pickles: a folder that came with somebody's dataset
must not be able to run code.
"""

import hashlib
import json
import os
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from puzzlemark.errors import UsageError
from puzzlemark.files import remove, replacing
from puzzlemark.stores import Location, local_place

Result = TypeVar("Result")

FACTS = "facts.json"
DIGESTS = "digests"  # of the inputs: parts of the work, too, but none that would be missed
_IN_THE_WAY = "stands where parts of the work would wait"
_REMEDY = "move it away or choose another --output"
_CHECK = hashlib.sha256().digest_size


@dataclass(frozen=True, slots=True)
class Work:
    """The folder of one run, which nobody else uses: the run holds the lock of its output."""

    folder: Path

    def below(self, name: str) -> "Work":
        """A part of the work that has parts itself."""
        return Work(self.folder / name)

    def find(self, name: str) -> bytes | None:
        """A part that was kept: `find("survey/0-8191")`. One that is damaged is none."""
        try:
            content = (self.folder / name).read_bytes()
        except FileNotFoundError:
            return None
        check, content = content[:_CHECK], content[_CHECK:]
        return content if hashlib.sha256(content).digest() == check else None

    def keep(self, name: str, content: bytes) -> None:
        """Keep a part, whole or not at all."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as place:
            place.write_bytes(hashlib.sha256(content).digest() + content)


@dataclass(frozen=True, slots=True)
class Kept(Generic[Result]):
    """The results of one stage of the work, and how they become bytes."""

    work: Work
    stage: str
    pack: Callable[[list[Result]], bytes]
    unpack: Callable[[bytes], list[Result]]

    def has(self, name: str) -> bool:
        """Whether anything is kept under this name."""
        return self.work.find(f"{self.stage}/{name}") is not None

    def find(self, name: str) -> list[Result] | None:
        """What is kept under this name."""
        content = self.work.find(f"{self.stage}/{name}")
        return None if content is None else self.unpack(content)

    def keep(self, name: str, results: list[Result]) -> None:
        """Keep them."""
        self.work.keep(f"{self.stage}/{name}", self.pack(results))


class Named(Protocol):
    """A task whose result can be kept."""

    @property
    def name(self) -> str:
        """The same for the same task in every run."""
        ...


Task = TypeVar("Task", bound=Named)


def keep_or_find(
    tasks: Iterable[Task],
    work: Callable[[Iterable[Task]], Iterator[list[Result]]],
    kept: Kept[Result],
) -> Iterator[Result]:
    """The results of all tasks in order: those that are kept, and the others as `work` gives them.

    They are kept as they come.
    """
    order: deque[tuple[str, bool]] = deque()  # of what was looked at: its name, whether it is kept

    def missing() -> Iterator[Task]:
        for task in tasks:
            name = task.name
            order.append((name, kept.has(name)))
            if not order[-1][1]:
                yield task

    def found() -> Iterator[Result]:
        while order and order[0][1]:
            yield from kept.find(order.popleft()[0]) or ()

    for results in work(missing()):
        yield from found()
        kept.keep(order.popleft()[0], results)
        yield from results
    yield from found()


@contextmanager
def resumable(
    output: Location,
    facts: Mapping[str, Any],
    *,
    spared: tuple[type[Exception], ...] = (),
) -> Iterator[Work]:
    """The work for an output whose lock is held; `facts` are all that decides its results.

    `resumable(Path("marked"), {"max_rate": 0.05, "input": {"a.jsonl": [812, 1763]}})`. Errors that
    are `spared` are taken for an interruption: a server that ends says nothing against its answers.
    """
    folder = work_folder(output)
    _make(folder)
    now = json.loads(json.dumps(facts))
    begun = _read(folder / FACTS)
    if begun is None:
        _refuse_others(folder)
        remove(folder)  # killed before it had said what it was about
        folder.mkdir(mode=0o700)
        with replacing(folder / FACTS) as place:
            place.write_text(json.dumps(now), encoding="utf-8")
    elif begun != now:
        raise UsageError(_difference(folder, _flat(begun), _flat(now)))
    interruptions: tuple[type[BaseException], ...] = (KeyboardInterrupt, SystemExit, *spared)
    try:
        yield Work(folder)
    except interruptions:
        if not _is_begun(folder):
            _give_up(folder)
        raise  # else the same command goes on from here
    except BaseException:
        _give_up(folder)
        raise


def forget(output: Location) -> None:
    """Remove the parts of an output that is whole."""
    folder = work_folder(output)
    if (folder / FACTS).is_file() and not folder.is_symlink():
        _give_up(folder)
    remove(_ended(folder))


def _is_begun(folder: Path) -> bool:
    """Whether anything was done that would be missed."""
    ours = (folder / FACTS, folder / DIGESTS)
    files = (path for path in folder.rglob("*") if path.is_file())
    return any(path not in ours and ours[1] not in path.parents for path in files)


def _give_up(folder: Path) -> None:
    """Remove it. A run that is killed meanwhile must not leave a half that is taken for a whole."""
    folder.rename(_ended(folder))
    remove(_ended(folder))


def _ended(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.ended")


def _make(folder: Path) -> None:
    """Make it; one that is there must be this user's own, as what it holds is believed."""
    remove(_ended(folder))
    folder.mkdir(mode=0o700, exist_ok=True)
    is_own = sys.platform == "win32" or folder.stat().st_uid == os.geteuid()
    if folder.is_symlink() or not is_own:
        raise UsageError(f"{folder}: {_IN_THE_WAY}, and is not yours; {_REMEDY}")


def _refuse_others(folder: Path) -> None:
    """A folder without facts is a run's only if nothing but these was about to be written."""
    there = {each.name for each in folder.iterdir()}
    if FACTS not in there and there - {f"{FACTS}.partial"}:
        raise UsageError(f"{folder}: {_IN_THE_WAY}, and no run has made it; {_REMEDY}")


def work_folder(output: Location) -> Path:
    """Where the parts wait: `a/b.jsonl -> a/.b.jsonl.work`; for a URL see `local_place`."""
    place = local_place(output)
    return place.with_name(f".{place.name}.work")


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except (FileNotFoundError, ValueError, RecursionError):
        return None


def _flat(facts: Any, name: str = "") -> dict[str, Any]:
    """`{"input": {"a.jsonl": 1}} -> {"input a.jsonl": 1}`."""
    if not isinstance(facts, dict):
        return {name: facts}
    found: dict[str, Any] = {}
    for key, value in facts.items():
        found |= _flat(value, f"{name} {key}".strip())
    return found


def _difference(folder: Path, begun: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    names = [name for name in {**begun, **now} if begun.get(name) != now.get(name)]
    name = names[0]
    before, after = begun.get(name, "none"), now.get(name, "none")
    if name.startswith("input "):
        what = f"{name.removeprefix('input ')} was another file then"
    else:
        what = f"{name} was {before} then, and is {after} now"
    return (
        f"an earlier run to this output was interrupted, and is not the same: {what}; repeat that "
        f"one to go on, or remove {folder} to begin anew"
    )
