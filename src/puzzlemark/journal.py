"""A file of JSON lines that only grows: what was interrupted goes on from it.

A header comes first, with all that was fixed before the work began. One process writes at a time;
what it has appended is on the disk, and a last line that was cut off never counts. In a chain every
line names the one before it by its SHA-256: none can be changed, added or taken out unnoticed but
at the end.
"""

import hashlib
import json
import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import FileIO
from itertools import pairwise
from pathlib import Path
from typing import Any

from puzzlemark.errors import PuzzleMarkError
from puzzlemark.files import lock_file, sync_folder


@dataclass(frozen=True, slots=True)
class Kind:
    """What a journal is a journal of: the words and the error that refuse any other file."""

    name: str  # "a transcript"
    error: type[PuzzleMarkError]
    mode: int = 0o644


@dataclass(slots=True)
class Journal:
    """An open journal, and the whole lines that it held when it was opened."""

    path: Path
    kind: Kind
    file: FileIO
    lines: list[bytes]

    def append(self, entries: Iterable[Mapping[str, Any]]) -> None:
        """Write and make sure it is on the disk: after a power cut nothing is paid for twice."""
        rest = memoryview(b"".join(map(spell, entries)))
        try:
            while rest:
                rest = rest[self.file.write(rest) :]
            os.fsync(self.file.fileno())
        except OSError as exc:
            raise self.kind.error(f"{self.path}: cannot be written: {exc.strerror or exc}") from exc


@dataclass(slots=True)
class Chain:
    """A journal whose lines hang together: `chain.head` stands for all of them."""

    journal: Journal
    last: bytes  # the last line, without its line feed
    length: int  # how many lines there are

    @property
    def head(self) -> str:
        """SHA-256 of the last line: what a timestamp is asked for."""
        return hashlib.sha256(self.last).hexdigest()

    def append(self, entries: Iterable[Mapping[str, Any]]) -> None:
        """Each entry as a line that names the one before it."""
        linked = []
        for fields in entries:
            linked.append({"previous": self.head, **fields})
            self.last = spell(linked[-1]).rstrip(b"\n")
            self.length += 1
        self.journal.append(linked)


def continue_chain(journal: Journal) -> Chain:
    """The chain in an open journal; one that was edited is refused."""
    if reason := why_broken(journal.lines):
        raise journal.kind.error(
            f"{journal.path}: {reason}; restore it, or begin anew in another place"
        )
    return Chain(journal, journal.lines[-1], len(journal.lines))


def why_broken(lines: Sequence[bytes]) -> str | None:
    """Which line of a chain does not follow from the one before it, or None."""
    for number, (before, line) in enumerate(pairwise(lines), start=2):
        try:
            fields = json.loads(line)
        except (ValueError, RecursionError):
            return f"line {number} is not JSON"
        if not isinstance(fields, dict):
            return f"line {number} is no object"
        if fields.get("previous") != hashlib.sha256(before).hexdigest():
            return f"line {number} does not follow from line {number - 1}: one of them was changed"
    return None


@contextmanager
def opened(path: Path, kind: Kind, header: Mapping[str, Any]) -> Iterator[Journal]:
    """Lock the file and mend its end; begin it when it is new. Its header is not checked yet."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, kind.mode)
    except OSError as exc:
        raise kind.error(f"{path}: cannot be opened: {exc.strerror or exc}") from exc
    with FileIO(descriptor, "r+") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):  # a device may never end
            raise kind.error(f"{path}: not a file")
        lock_file(file, kind.error(f"{path}: another run is writing it; wait for its end"))
        content = file.readall()
        journal = Journal(path, kind, file, whole_lines(content))
        if not journal.lines:
            _begin(journal, content, header)
        elif not content.endswith(b"\n"):
            file.truncate(content.rfind(b"\n") + 1)
        yield journal


def begin_anew(journal: Journal, header: Mapping[str, Any]) -> None:
    """Put another header into a journal that holds nothing else."""
    assert len(journal.lines) == 1, "what was recorded stays"
    journal.lines.clear()
    _begin(journal, b"", header)


def whole_lines(content: bytes) -> list[bytes]:
    """All lines but a last one that was cut off."""
    return content.split(b"\n")[:-1]


def spell(fields: Mapping[str, Any]) -> bytes:
    """One line, the same for the same fields."""
    return json.dumps(fields, separators=(",", ":")).encode() + b"\n"


def differences(found: Mapping[str, Any], expected: Mapping[str, Any]) -> str:
    """What two headers do not share, in words: `settings.seed was 0, is 1`; empty if nothing."""
    was, now = dict(_flatten(found)), dict(_flatten(expected))
    names = [name for name in {**was, **now} if was.get(name, ...) != now.get(name, ...)]
    return "; ".join(f"{name} was {was.get(name)!r}, is {now.get(name)!r}" for name in names)


def _begin(journal: Journal, content: bytes, header: Mapping[str, Any]) -> None:
    """Write the header, also over one that was cut off; any other text is somebody else's."""
    first = spell(header)
    opening = spell({"format": header["format"]}).rstrip(b"}\n")
    if not (content.startswith(opening) or opening.startswith(content)):
        raise journal.kind.error(
            f"{journal.path}: not {journal.kind.name}; choose another --output"
        )
    journal.file.truncate(0)
    journal.append([header])
    journal.lines.append(first.rstrip(b"\n"))
    sync_folder(journal.path.parent)


def _flatten(fields: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in fields.items():
        if isinstance(value, dict) and value:
            yield from _flatten(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value
