"""Every answer as it arrived, in a file that only grows: what was interrupted goes on from it.

JSON lines: a header with all that was fixed before the first question, then one line for each
completion and each loss, by the row of its sample.
"""

import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import FileIO
from pathlib import Path
from typing import Any

from puzzlemark.errors import PuzzleMarkError
from puzzlemark.models.base import Answer, Failure
from puzzlemark.quality.scoring import Loss

if sys.platform != "win32":
    import fcntl

FORMAT = "puzzlemark quality answers"


class JournalError(PuzzleMarkError):
    """A file of answers cannot be used."""


@dataclass(slots=True)
class Journal:
    """What is known so far. What failed is asked again by the next run."""

    path: Path
    file: FileIO
    completions: dict[int, Answer] = field(default_factory=dict)
    losses: dict[int, Loss | Failure] = field(default_factory=dict)

    def add_completions(self, answers: Iterable[tuple[int, Answer]]) -> None:
        """Keep some answers, on the disk before anything else is asked."""
        known = dict(answers)
        self._append(_answer_fields(row, answer) for row, answer in known.items())
        self.completions.update(known)

    def add_loss(self, row: int, loss: Loss | Failure) -> None:
        """Keep one loss."""
        self._append([_loss_fields(row, loss)])
        self.losses[row] = loss

    def _append(self, lines: Iterable[Mapping[str, Any]]) -> None:
        _write(self.file, self.path, b"".join(map(_spell, lines)))


@contextmanager
def opened(path: Path, header: Mapping[str, Any]) -> Iterator[Journal]:
    """Begin the file, or go on with it; refuse one that was made under other terms."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
    except OSError as exc:
        raise JournalError(f"{path}: cannot be opened: {exc.strerror or exc}") from exc
    with FileIO(descriptor, "r+") as file:
        _lock(file, path)
        first = _spell({"format": FORMAT, **header})
        content = file.readall()
        whole = content[: content.rfind(b"\n") + 1]  # a last line may have been cut off
        if not whole:
            if not first.startswith(content):
                raise JournalError(f"{path}: not a file of answers; choose another --output")
            file.truncate(0)
            _write(file, path, first)
            whole = first
        elif len(whole) < len(content):
            file.truncate(len(whole))
        begun, *lines = whole.split(b"\n")[:-1]
        _check(path, begun, first)
        journal = Journal(path, file)
        _read(journal, lines)
        yield journal


def _lock(file: FileIO, path: Path) -> None:
    """Held until the file is closed, also by a process that dies."""
    if sys.platform == "win32":
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as exc:
        raise JournalError(f"{path}: another run is writing it; wait for its end") from exc


def _write(file: FileIO, path: Path, content: bytes) -> None:
    rest = memoryview(content)
    try:
        while rest:
            rest = rest[file.write(rest) :]
        os.fsync(file.fileno())
    except OSError as exc:
        raise JournalError(f"{path}: cannot be written: {exc.strerror or exc}") from exc


def _check(path: Path, found: bytes, expected: bytes) -> None:
    try:
        was, now = json.loads(found), json.loads(expected)
        if was.get("format") != FORMAT:
            raise ValueError("no such format")
    except (ValueError, AttributeError) as exc:
        raise JournalError(f"{path}:1: not a file of answers; choose another --output") from exc
    names = [name for name in {**was, **now} if was.get(name) != now.get(name)]
    if names:
        told = "; ".join(f"{name} was {was.get(name)}, is {now.get(name)}" for name in names)
        raise JournalError(
            f"{path}: belongs to another measurement: {told}; repeat that command, or choose "
            "another --output"
        )


def _read(journal: Journal, lines: Iterable[bytes]) -> None:
    for number, line in enumerate(lines, 2):
        try:
            fields = json.loads(line)
            row = int(fields["row"])
            if "completion" in fields:
                journal.completions[row] = str(fields["completion"])
            elif "nats" in fields:
                journal.losses[row] = Loss(float(fields["nats"]), int(fields["tokens"]))
            elif fields["of"] == "loss":
                journal.losses[row] = Failure(str(fields["failure"]))
            else:
                journal.completions[row] = Failure(str(fields["failure"]))
        except (ValueError, TypeError, KeyError) as exc:
            raise JournalError(
                f"{journal.path}:{number}: not an answer; the file was changed after it was "
                "written: restore it, or remove the line to have its sample asked again"
            ) from exc


def _answer_fields(row: int, answer: Answer) -> dict[str, Any]:
    if isinstance(answer, Failure):
        return {"row": row, "of": "completion", "failure": answer.reason}
    return {"row": row, "completion": answer}


def _loss_fields(row: int, loss: Loss | Failure) -> dict[str, Any]:
    if isinstance(loss, Failure):
        return {"row": row, "of": "loss", "failure": loss.reason}
    return {"row": row, "nats": loss.nats, "tokens": loss.tokens}


def _spell(fields: Mapping[str, Any]) -> bytes:
    return json.dumps(fields, separators=(",", ":")).encode() + b"\n"
