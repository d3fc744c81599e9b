"""The files of a command: which may be written where, and how one process keeps others out."""

import os
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, TypeAlias

from puzzlemark.errors import PuzzleMarkError, UsageError

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

Name: TypeAlias = Path | str
Identity: TypeAlias = tuple[int, int]  # device and number of a file: what os.path.samefile compares


def keep_apart(
    outputs: Mapping[str, Name | None], inputs: Mapping[str, Name | Iterable[Name] | None]
) -> None:
    """Refuse an output that is another path of the same command, lies in it or around it.

    Keys are what the user calls a path: `keep_apart({"--output": "a/b"}, {"INPUT": "a"})` raises
    "--output a/b lies inside INPUT a". Links are followed, and it does not matter whether anything
    may be replaced: no command may destroy what it reads, or one of its outputs by another.

    A folder that a command owns, such as a run of `verify`, is not passed as an input of itself.
    The files in it that must stay are.
    """
    written = [
        _Path.of(name, path, staging_folder(path))  # what is written there goes in the end
        for name, path in outputs.items()
        if path is not None
    ]
    read = [_Path.of(name, path) for name, paths in inputs.items() for path in _each(paths)]
    for number, output in enumerate(written):
        for other in read:
            _refuse(output, other, output.relation(other))
        for other in written[:number]:
            _refuse(output, other, output.relation(other))
            # a file system that is blind to case cannot be asked about names that are not there yet
            _refuse(output, other, output.folded().relation(other.folded()))


def staging_folder(output: Name) -> Path:
    """Where an output is written before it gets its name: `a/b.jsonl -> a/.b.jsonl.partial`."""
    place = Path(output).absolute()
    return place.with_name(f".{place.name}.partial")


def lock_file(file: IO[Any], refusal: PuzzleMarkError) -> None:
    """Hold a file until it is closed, also by a process that dies; or raise the refusal."""
    try:
        if sys.platform == "win32":
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError) as exc:
        raise refusal from exc
    except OSError as exc:
        raise PuzzleMarkError(
            f"{file.name}: no locks on this file system ({exc.strerror}); write to another one"
        ) from exc


def sync_folder(folder: Path) -> None:
    """Make sure that the names in a folder are on the disk."""
    if sys.platform == "win32":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@dataclass(frozen=True, slots=True)
class _Path:
    """A path by its name, by where its links lead, and by what stands there."""

    name: str  # of the option
    path: Path
    places: frozenset[Path]
    above: frozenset[Path]  # every folder that one of the places is in
    identity: Identity | None
    identities_above: frozenset[Identity]

    @classmethod
    def of(cls, name: str, path: Name, *others: Path) -> "_Path":
        path = Path(path)
        absolute = path.absolute()
        # where a link stands, beside where it leads: both are lost when a folder is replaced
        stands = Path(os.path.realpath(absolute.parent)) / absolute.name
        places = {stands, *(Path(os.path.realpath(each)) for each in (absolute, *others))}
        above = {folder for place in places for folder in place.parents}
        identities = {_identity(folder) for folder in above} - {None}
        return cls(
            name,
            path,
            frozenset(places),
            frozenset(above),
            _identity(path),
            frozenset(each for each in identities if each is not None),
        )

    def folded(self) -> "_Path":
        """The same where `A` and `a` are one name."""
        places = frozenset(map(_fold, self.places))
        above = frozenset(map(_fold, self.above))
        return _Path(self.name, self.path, places, above, None, frozenset())

    def relation(self, other: "_Path") -> str | None:
        """How this path meets another, in words; None when they lie apart."""
        if self.places & other.places or _shared(self.identity, {other.identity}):
            return "is the same as"
        if self.above & other.places or _shared(other.identity, self.identities_above):
            return "lies inside"
        if self.places & other.above or _shared(self.identity, other.identities_above):
            return "contains"
        return None


def _each(paths: Name | Iterable[Name] | None) -> Iterator[Name]:
    if isinstance(paths, str | Path):
        yield paths
    elif paths is not None:
        yield from paths


def _refuse(output: _Path, other: _Path, relation: str | None) -> None:
    if relation is not None:
        raise UsageError(
            f"{output.name} {output.path} {relation} {other.name} {other.path}, and one of them "
            f"could be lost; choose another path for {output.name}"
        )


def _identity(path: Path) -> Identity | None:
    try:
        found = path.stat()
    except (OSError, ValueError):  # not there, or a name that cannot be
        return None
    return (found.st_dev, found.st_ino)


def _shared(identity: Identity | None, others: Iterable[Identity | None]) -> bool:
    return identity is not None and identity in others


def _fold(path: Path) -> Path:
    return Path(unicodedata.normalize("NFC", str(path)).casefold())
