"""Checkpoints: what a training needs to go on as if it had never stopped."""

import json
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

from puzzlemark.errors import PuzzleMarkError
from puzzlemark.files import lock_file, replacing

FOLDER = "checkpoint"
NAME = re.compile(r"step-(\d+)")
PROGRESS, TENSORS = "progress.json", "state.pt"


class TrainingError(PuzzleMarkError):
    """A training's folder cannot be used as asked."""


@dataclass(frozen=True, slots=True)
class Step:
    """What one step did; a line of loss.jsonl."""

    step: int  # from 1
    loss: float  # mean over its tokens
    tokens: int  # padding not counted
    rate: float


@dataclass(slots=True)
class Course:
    """How far a training has come."""

    steps: list[Step] = field(default_factory=list)
    tokens: int = 0
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    starts: int = 0
    computed: int = 0  # rows that went through the frozen layers; the others were in the cache

    def add(self, step: Step, seconds: float, cpu_seconds: float) -> None:
        """One more step, and what it took."""
        self.steps.append(step)
        self.tokens += step.tokens
        self.seconds += seconds
        self.cpu_seconds += cpu_seconds


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """One that was found."""

    path: Path
    identity: dict[str, Any]  # of the training; see run.py
    course: Course

    def tensors(self) -> dict[str, Any]:
        """Weights, optimiser and random states.

        Only tensors and plain values are ever read: a pickle with a program in it is refused.
        """
        import torch

        try:
            state: dict[str, Any] = torch.load(
                self.path / TENSORS, map_location="cpu", weights_only=True
            )
        except (OSError, RuntimeError, ValueError, EOFError) as exc:
            raise _damaged(self.path) from exc
        except UnpicklingError as exc:
            raise TrainingError(
                f"{self.path / TENSORS}: holds more than tensors, and was not opened: it is "
                "damaged, or somebody put a program in it; pass --force to begin again"
            ) from exc
        return state


def write_checkpoint(
    output: Path, identity: Mapping[str, Any], course: Course, tensors: Mapping[str, Any]
) -> None:
    """Write under another name, rename, and only then remove the one before."""
    import torch

    folder = output / FOLDER
    path = folder / f"step-{len(course.steps):08}"
    text = json.dumps({"identity": identity, "course": asdict(course)})
    try:
        with replacing(path) as place:
            place.mkdir(parents=True)
            torch.save(dict(tensors), place / TENSORS)
            (place / PROGRESS).write_text(text)
    except (OSError, RuntimeError) as exc:  # torch says RuntimeError when the disk is full
        reason = (str(exc).splitlines() or [type(exc).__name__])[0]
        raise TrainingError(
            f"{folder}: no checkpoint could be written: {reason}; free some space and run the "
            "same command to go on from the one before"
        ) from exc
    for other in folder.glob("step-*"):
        if other != path:
            shutil.rmtree(other, ignore_errors=True)


def find_checkpoint(output: Path) -> Checkpoint | None:
    """The last one that was written whole."""
    folder = output / FOLDER
    if not folder.is_dir():
        return None
    found = sorted(path for path in folder.iterdir() if NAME.fullmatch(path.name))
    if not found:
        return None
    path = found[-1]
    try:
        read = json.loads((path / PROGRESS).read_text())
        steps = [Step(**each) for each in read["course"].pop("steps")]
        return Checkpoint(path, read["identity"], Course(steps, **read["course"]))
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as exc:
        raise _damaged(path) from exc


@contextmanager
def alone(output: Path) -> Iterator[None]:
    """Keep other processes out of the folder; the system lets go of it when this one is killed."""
    folder = output / FOLDER
    made = [path for path in (folder, output) if not path.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    lock = folder / "lock"
    try:
        with lock.open("w") as file:
            lock_file(file, TrainingError(f"{output}: another process is training in this folder"))
            try:
                yield
            finally:
                lock.unlink(missing_ok=True)
    finally:
        for path in made:  # a training that did not begin leaves nothing behind
            if path.is_dir() and not any(path.iterdir()):
                path.rmdir()


def remove_checkpoints(output: Path) -> None:
    """When the training is over."""
    shutil.rmtree(output / FOLDER, ignore_errors=True)


def _damaged(path: Path) -> TrainingError:
    return TrainingError(f"{path}: is damaged; pass --force to begin again")
