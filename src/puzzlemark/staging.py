"""Outputs appear whole or not at all, several of them together, also when a run is killed.

Each output is written in a hidden folder beside its place, `.NAME.partial`, which one process at a
time can hold. When all are written, the renames that are left are noted in the folder of the last
output, and then done, first output first. So a run that is killed

- before the note has changed nothing, and the next run to an output of it removes what it left,
  but for parts of the work that it goes on with (`puzzlemark.resuming`): these go after the note;
- after the note is completed by the next run to an output of it.

Until then no output stands in its place before those that come earlier. See
docs/decisions/0007-outputs-are-put-in-place-together.md.

An output in a store is written beside its place, too (`puzzlemark.holding`); its lock and its notes
are on this machine.
"""

import errno
import json
import os
import secrets
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import overload

from puzzlemark.errors import CorpusError, UsageError
from puzzlemark.files import (
    is_there,
    lock_file,
    refuse_existing,
    remove,
    replacing,
    staging_folder,
    sync_folder,
)
from puzzlemark.holding import (
    held_in_store,
    place_in_store,
    put_in_store,
    refuse_lost,
    remove_from_store,
)
from puzzlemark.resuming import forget
from puzzlemark.stores import Location, Url, local_path, local_place, locate

PRIVATE = 0o600
ORDINARY = 0o644
LOCK, NOTE = "lock", "renames.json"
OURS = b"PuzzleMark writes here; what is left of a run is removed by the next one\n"


@overload
def staged(output: Path, *, overwrite: bool = False) -> AbstractContextManager[Path]: ...
@overload
def staged(output: Location, *, overwrite: bool = False) -> AbstractContextManager[Location]: ...
@contextmanager  # type: ignore[misc]
def staged(output: Location, *, overwrite: bool = False) -> Iterator[Location]:
    """A place to write to that becomes `output` when the block ends well, and vanishes otherwise.

    For a `Path` it is a `Path`, for a `Url` a `Url`.
    """
    with staged_together((output,), overwrite=overwrite) as (place,):
        yield place


@contextmanager
def staged_file(output: Location, *, overwrite: bool = False) -> Iterator[Path]:
    """The same for one file, which is written on this machine wherever it goes then."""
    with staged(output, overwrite=overwrite) as place, written_here(place) as path:
        yield path


@contextmanager
def written_here(place: Location) -> Iterator[Path]:
    """A path on this machine whose file becomes that of a place when the block ends well."""
    if isinstance(place, Path):
        yield place
        return
    with tempfile.TemporaryDirectory(prefix="puzzlemark-") as folder:
        path = Path(folder, place.name)
        yield path
        place.put(path)


@overload
def staged_together(
    outputs: Sequence[Path], *, overwrite: bool = False
) -> AbstractContextManager[tuple[Path, ...]]: ...
@overload
def staged_together(
    outputs: Sequence[Location], *, overwrite: bool = False
) -> AbstractContextManager[tuple[Location, ...]]: ...
@contextmanager  # type: ignore[misc]
def staged_together(
    outputs: Sequence[Location], *, overwrite: bool = False
) -> Iterator[tuple[Location, ...]]:
    """The same for several outputs, which get their names in this order or not at all.

    Nobody else can write any of them meanwhile. What exists is refused unless `overwrite`.
    """
    last = staging_folder(outputs[-1])
    with ExitStack() as held:
        stagings = [held.enter_context(_held(each, last / NOTE)) for each in outputs]
        for each in stagings:
            if each.was_completed and not overwrite:
                raise UsageError(_is_complete(each))
            refuse_existing(each.asked, overwrite=overwrite, may_be_folder=True)
        try:
            yield tuple(each.place for each in stagings)
            _put_in_place(stagings, overwrite=overwrite)
        except OSError as exc:
            raise CorpusError(_tell(stagings, exc)) from exc


def write_text(path: Location, text: str, *, private: bool = False) -> None:
    """Write a file in one go; a private one can be read by its owner only, from its first byte."""
    if private:
        path = local_path(path, "a private file")
    mode = PRIVATE if private else ORDINARY
    with staged_file(path, overwrite=True) as place:
        handle = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with os.fdopen(handle, "wb") as file:
            # a file name in a title may be bytes that are no text
            file.write(text.encode("utf-8", "replace"))


@dataclass(frozen=True, slots=True)
class _Staging:
    """The hidden folder of one output, held by this process."""

    asked: Location  # as the user spelled it
    output: Location
    folder: Path
    run: str  # tells this run's files from those of any other
    was_completed: bool  # a run had been killed while it put this output in place; it is there now

    @property
    def place(self) -> Location:
        if isinstance(self.output, Url):
            return place_in_store(self.output)
        return self.folder / self.run / self.output.name

    @property
    def replaced(self) -> Path:
        return self.folder / f"{self.run}.replaced"


@dataclass(frozen=True, slots=True)
class _Rename:
    """One step of putting outputs in place."""

    place: Location
    replaced: Path  # where the old one waits until all new ones are in place; of a store: a sign
    output: Location  # that the old one was removed

    @property
    def is_ours(self) -> bool:
        """Whether it is about an output and its own hidden folder, as a note of ours is."""
        folder = staging_folder(self.output)
        if isinstance(self.output, Url):
            is_place = self.place == place_in_store(self.output)
        else:
            is_place = (
                isinstance(self.place, Path)
                and self.place.parent.parent == folder
                and self.place.name == self.output.name
            )
        return is_place and self.replaced.parent == folder


@contextmanager
def _held(asked: Location, note: Path) -> Iterator[_Staging]:
    """Lock the output, finish or remove what a killed run left, and make a place to write to."""
    output = asked if isinstance(asked, Url) else asked.absolute()
    folder = staging_folder(asked)
    try:
        made = _make_parents(local_place(output).parent)
        try:
            with _locked(folder, asked) as file:
                was_completed = _recover(folder, file, asked)
                _claim(file, note)
                staging = _Staging(asked, output, folder, secrets.token_hex(8), was_completed)
                (folder / staging.run).mkdir()
                with held_in_store(output, note) if isinstance(output, Url) else nullcontext():
                    yield staging
        finally:
            for parent in made:  # deepest first; one that is used by now stays
                with suppress(OSError):
                    parent.rmdir()
    except OSError as exc:
        raise CorpusError(f"{asked}: {_explain(exc)}") from exc


@contextmanager
def _locked(folder: Path, asked: Location) -> Iterator[FileIO]:
    """Hold a hidden folder. It goes in the end, unless its note says that it is still needed."""
    refusal = CorpusError(
        f"{asked}: another run is writing it; wait for its end, or choose another --output"
    )
    while True:
        _make_hidden(folder)
        try:
            descriptor = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        except FileNotFoundError:  # its run has just ended, and took the folder away
            continue
        with FileIO(descriptor, "r+") as file:
            lock_file(file, refusal)
            if not _is_still_there(folder / LOCK, file):
                continue
            if not _is_ours(folder, file.read(len(OURS))):
                raise _not_ours(folder)
            try:
                yield file
            finally:
                if not _note_of(folder, file).exists():
                    _remove(folder)
            return


def _is_ours(folder: Path, content: bytes) -> bool:
    """Judged by what the lock says; a run may have died before it had said all of it."""
    is_alone = {path.name for path in folder.iterdir()} == {LOCK}
    return content == OURS or (is_alone and OURS.startswith(content))


def _make_hidden(folder: Path) -> None:
    """Make the folder; one that is there must be ours."""
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
    except FileExistsError as exc:
        raise _not_ours(folder) from exc
    is_strange = not (folder / LOCK).exists() and any(folder.iterdir())
    if is_strange or folder.is_symlink() or not _is_own(folder):
        raise _not_ours(folder)


def _is_own(path: Path) -> bool:
    return sys.platform == "win32" or path.stat().st_uid == os.geteuid()


def _claim(file: FileIO, note: Path) -> None:
    """Say in the lock whose it is, and where the note will be that decides over this output."""
    file.seek(0)
    file.truncate()
    file.write(OURS + os.fsencode(note))


def _note_of(folder: Path, file: FileIO) -> Path:
    """Where the lock of a folder says that the note is; its run may have died before it said so."""
    file.seek(len(OURS))
    return Path(os.fsdecode(file.readall()) or folder / NOTE)


def _recover(folder: Path, file: FileIO, asked: Location) -> bool:
    """Finish what a killed run had noted, else remove what it left; whether it was finished."""
    note = _note_of(folder, file)
    was_noted = note.exists()
    if was_noted and note.parent == folder:
        _finish(note)
    elif was_noted:
        with _locked(note.parent, asked):
            _finish(note)
    for old in folder.glob("*.replaced"):
        if isinstance(asked, Path) and not is_there(
            asked
        ):  # nor is the note: somebody moved the folder
            old.rename(asked)
    _clear(folder)
    return was_noted


def _finish(note: Path) -> None:
    """Do what a note says; one that somebody planted could ask for anything."""
    try:
        lines = json.loads(note.read_text(encoding="utf-8"))
        renames = [
            _Rename(locate(place), Path(replaced), locate(output))
            for place, replaced, output in lines
        ]
    except (ValueError, TypeError, UsageError) as exc:
        raise _not_ours(note.parent) from exc
    if not all(each.is_ours for each in renames):
        raise _not_ours(note.parent)
    for each in renames:
        forget(each.output)
    _complete(renames)
    note.unlink()


def _put_in_place(stagings: Sequence[_Staging], *, overwrite: bool) -> None:
    renames = [_Rename(each.place, each.replaced, each.output) for each in stagings]
    for each in renames:
        _refuse(each)
        if isinstance(each.output, Url):  # no lock kept others from it
            refuse_lost(each.output)
            refuse_existing(each.output, overwrite=overwrite, may_be_folder=True)
    note = stagings[-1].folder / NOTE
    _write(note, renames)
    try:
        for each in renames:
            forget(each.output)
        _complete(renames)
    except BaseException as exc:
        if any(isinstance(each.output, Url) for each in renames):  # the note stays
            if isinstance(exc, CorpusError | OSError):
                raise _is_unfinished(stagings[-1], exc) from exc
            raise
        if any(is_there(each.place) for each in renames):
            _undo(renames)
        note.unlink()
        raise
    note.unlink()


def _complete(renames: Sequence[_Rename]) -> None:
    """Do the renames that were not done yet; may be repeated after a kill at any point of it."""
    several = len(renames) > 1
    for each in reversed(renames):
        # a file alone is replaced in one step; beside others it goes before they come, so that
        # an old dataset never stands beside the new manifest
        if several or each.output.is_dir():
            _make_way(each)
    for each in renames:
        if isinstance(each.output, Url):
            assert isinstance(each.place, Url), "by is_ours"
            put_in_store(each.place, each.output)
        elif is_there(each.place):
            assert isinstance(each.place, Path), "by is_ours"
            each.place.replace(each.output)
            if several:
                sync_folder(each.output.parent)


def _make_way(rename: _Rename) -> None:
    """Put the old output aside; a store cannot, and what is there was to be replaced anyway."""
    if isinstance(rename.output, Path):
        if is_there(rename.place) and is_there(rename.output):
            rename.output.rename(rename.replaced)
    elif not rename.replaced.exists():
        remove_from_store(rename.output)
        rename.replaced.touch()


def _undo(renames: Sequence[_Rename]) -> None:
    for each in reversed(renames):
        assert isinstance(each.output, Path), "nothing is in a store"
        assert isinstance(each.place, Path)
        if not is_there(each.place):
            each.output.rename(each.place)
    for each in renames:
        assert isinstance(each.output, Path)
        if is_there(each.replaced):
            each.replaced.rename(each.output)


def _write(note: Path, renames: Sequence[_Rename]) -> None:
    lines = [[str(each.place), str(each.replaced), str(each.output)] for each in renames]
    with replacing(note) as place, place.open("w") as file:
        json.dump(lines, file)
        file.flush()
        os.fsync(file.fileno())


def _refuse(rename: _Rename) -> None:
    """A file never takes the place of a folder, nor a folder that of a file."""
    if not is_there(rename.place):
        raise FileNotFoundError(errno.ENOENT, "nothing was made to put there", str(rename.place))
    if rename.output.is_dir() and not rename.place.is_dir():
        raise IsADirectoryError(errno.EISDIR, "it is a folder")
    if rename.place.is_dir() and is_there(rename.output) and not rename.output.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, "it is a file")


def _remove(folder: Path) -> None:
    """Remove a folder that this process holds; its lock goes last."""
    _clear(folder)
    (folder / LOCK).unlink(missing_ok=True)
    with suppress(OSError):  # the next one is in it already
        folder.rmdir()


def _clear(folder: Path) -> None:
    for path in folder.iterdir():
        if path.name != LOCK:
            remove(path)


def _is_still_there(path: Path, file: FileIO) -> bool:
    """Whether the locked file is the one at the path, not one that was removed meanwhile."""
    try:
        return os.path.samestat(path.stat(), os.fstat(file.fileno()))
    except FileNotFoundError:
        return False


def _make_parents(folder: Path) -> list[Path]:
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    return missing


def _tell(stagings: Sequence[_Staging], exc: OSError) -> str:
    """What failed: an output, as far as the error says, or a file that was read for it."""
    for each in stagings:
        if str(each.folder) in str(exc.filename):
            return f"{each.asked}: {_explain(exc)}"
    if exc.filename is None:
        return f"{stagings[-1].asked}: {_explain(exc)}"
    return f"{exc.filename}: {exc.strerror or exc}; nothing was written"


def _explain(exc: OSError) -> str:
    if exc.errno in (errno.ENOSPC, errno.EDQUOT):
        reason = "no space left on the disk; free some or choose another --output"
    elif isinstance(exc, PermissionError):
        reason = "permission denied; choose another --output"
    else:
        reason = f"cannot be written: {exc.strerror or exc}"
    return f"{reason}; nothing was written"


def _is_complete(staging: _Staging) -> str:
    return (
        f"{staging.asked}: is complete: an earlier run was killed while it put its files in "
        "place, and they are there now; pass --force to replace them"
    )


def _is_unfinished(last: _Staging, exc: CorpusError | OSError) -> CorpusError:
    reason = exc if isinstance(exc, CorpusError) else _explain(exc)
    return CorpusError(
        f"{reason}; {last.asked} is written, but could not be given its name: the same command "
        "completes it"
    )


def _not_ours(folder: Path) -> CorpusError:
    return CorpusError(
        f"{folder}: stands where the output would be written first, and PuzzleMark did not make "
        "it; move it away or choose another --output"
    )
