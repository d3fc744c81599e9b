"""Files that are written: which may stand where, whole or not at all, and by one process at a time.

What a user named as an output goes through `puzzlemark.staging`, which builds on this.
"""

import os
import shutil
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import IO, Any, TypeAlias

from puzzlemark.errors import PuzzleMarkError, UsageError
from puzzlemark.stores import Location, Url, local_place, locate

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

Name: TypeAlias = Path | str | Url
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
        _Path.of(name, path, is_written=True) for name, path in outputs.items() if path is not None
    ]
    read = [_Path.of(name, path) for name, paths in inputs.items() for path in _each(paths)]
    for number, output in enumerate(written):
        for other in read:
            _refuse(output, other, output.relation(other))
        for other in written[:number]:
            _refuse(output, other, output.relation(other))
            # a file system that is blind to case cannot be asked about names that are not there yet
            _refuse(output, other, output.folded().relation(other.folded()))


def refuse_folder(output: Location) -> None:
    """Raise when a file is to be written where a folder stands."""
    if output.is_dir():
        raise UsageError(f"{output}: is a folder; name a file")


def refuse_existing(output: Location, *, overwrite: bool, may_be_folder: bool = False) -> None:
    """Raise when an output stands there that may not be replaced; at best before any work.

    A pipe, a socket or a device is never: replaced by a file it would be gone for every program.
    """
    if not may_be_folder:
        refuse_folder(output)
    if isinstance(output, Path) and output.exists() and not (output.is_file() or output.is_dir()):
        raise UsageError(f"{output}: a pipe, a socket or a device, which stays; name a file")
    if not overwrite and is_there(output):
        raise UsageError(f"{output}: already there; pass --force to replace it")


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A place for a file or folder that becomes `path` when the block ends well.

    For a folder that is ours, such as a cache or a checkpoint's: nobody else is kept out of it. A
    run that is killed leaves `NAME.partial`, which the next one replaces.
    """
    place = path.with_name(f"{path.name}.partial")
    remove(place)
    try:
        yield place
        if path.is_dir():
            remove(path)
        place.replace(path)
    except BaseException:
        remove(place)
        raise


def remove(path: Path) -> None:
    """Remove a file, or a folder with all in it, if it is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def is_there(path: Location) -> bool:
    """Whether anything has this name, be it a link to nothing."""
    return path.exists() or (isinstance(path, Path) and path.is_symlink())


def staging_folder(output: Name) -> Path:
    """Where an output is written before it gets its name: `a/b.jsonl -> a/.b.jsonl.partial`.

    For one in a store: the folder on this machine that holds its lock.
    """
    place = local_place(locate(output))
    return place.with_name(f".{place.name}.partial")


def hidden_place(output: Url) -> Url:
    """Where an output in a store is written first: `s3://b/a/x -> s3://b/a/.x.partial`."""
    return output.with_name(f".{output.name}.partial")


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
    path: Location
    places: frozenset[PurePath]
    above: frozenset[PurePath]  # every folder that one of the places is in
    identity: Identity | None
    identities_above: frozenset[Identity]

    @classmethod
    def of(cls, name: str, asked: Name, *, is_written: bool = False) -> "_Path":
        path = locate(asked)
        if isinstance(path, Url):
            hidden = [hidden_place(path)] if is_written else []
            places = frozenset(each.canonical for each in (path, *hidden))
            above = frozenset(folder for place in places for folder in place.parents)
            return cls(name, path, places, above, None, frozenset())
        # what is written in the staging folder goes in the end
        others = [staging_folder(path)] if is_written else []
        return cls._on_disk(name, path, others)

    @classmethod
    def _on_disk(cls, name: str, path: Path, others: Iterable[Path]) -> "_Path":
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
    if isinstance(paths, str | Path | Url):
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


def _fold(path: PurePath) -> PurePath:
    return Path(unicodedata.normalize("NFC", str(path)).casefold())
