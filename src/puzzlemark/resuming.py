"""Work that goes on where it was interrupted: its parts wait in a hidden folder beside the output.

A run that is killed, or ended with Ctrl-C, leaves `.NAME.work`, which nobody but its user can read.
The same command does not do again what it finds there. A command with another input or other
settings is refused, and told which. A run that fails, or ends well, leaves nothing.
"""

import hashlib
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from puzzlemark.errors import UsageError
from puzzlemark.files import remove, replacing
from puzzlemark.stores import Location, local_place

Result = TypeVar("Result")

FACTS = "facts.json"
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


@contextmanager
def resumable(output: Location, facts: Mapping[str, Any]) -> Iterator[Work]:
    """The work for an output whose lock is held; `facts` are all that decides its results.

    `resumable(Path("marked"), {"max_rate": 0.05, "input": {"a.jsonl": [812, 1763]}})`
    """
    folder = work_folder(output)
    _make(folder)
    now = json.loads(json.dumps(facts))
    begun = _read(folder / FACTS)
    if begun is None:
        remove(folder)  # killed before it had said what it was about
        folder.mkdir(mode=0o700)
        with replacing(folder / FACTS) as place:
            place.write_text(json.dumps(now), encoding="utf-8")
    elif begun != now:
        raise UsageError(_difference(folder, _flat(begun), _flat(now)))
    try:
        yield Work(folder)
    except (KeyboardInterrupt, SystemExit):
        if [each.name for each in folder.iterdir()] == [FACTS]:
            _give_up(folder)  # nothing was done yet
        raise  # else the same command goes on from here
    except BaseException:
        _give_up(folder)
        raise
    _give_up(folder)


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
        raise UsageError(
            f"{folder}: stands where parts of the work would wait, and is not yours; move it away "
            "or choose another --output"
        )


def work_folder(output: Location) -> Path:
    """Where the parts wait: `a/b.jsonl -> a/.b.jsonl.work`; for a URL see `local_place`."""
    place = local_place(output)
    return place.with_name(f".{place.name}.work")


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except (FileNotFoundError, ValueError):
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
