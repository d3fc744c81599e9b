"""Files of a work tree, replaced one by one and whole; a run that is killed can be rolled back.

Before anything is touched, the files as they were are saved in a folder beside the manifest. Each
is then replaced in one step. Whatever happens, a file is either the old or the new one, and the
next run finds the folder and puts the old ones back.
"""

import json
import os
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from puzzlemark.errors import CorpusError
from puzzlemark.files import lock_file, remove, replacing, sync_folder

INDEX, LOCK, MANIFEST = "index.json", "lock", "manifest"


@dataclass(frozen=True, slots=True)
class _Saved:
    content: bytes
    mode: int
    times: tuple[int, int]


@dataclass(slots=True)
class WorkTree:
    """The files of a folder that a run may replace."""

    folder: Path
    saved: dict[str, _Saved] = field(default_factory=dict)
    current: dict[str, bytes] = field(default_factory=dict)
    clock: dict[str, int] = field(default_factory=dict)  # when each was last written, in seconds

    def save(self, paths: Iterable[str]) -> None:
        """Remember files as they are."""
        for path in paths:
            file = self.folder / path
            found = file.stat()
            self.saved[path] = _Saved(
                file.read_bytes(), found.st_mode, (found.st_atime_ns, found.st_mtime_ns)
            )
            self.current[path] = self.saved[path].content

    def put(self, contents: Mapping[str, bytes]) -> None:
        """Give files this content; those that are not named get their own back."""
        for path, saved in self.saved.items():
            content = contents.get(path, saved.content)
            if content != self.current[path]:
                if self._is_touched(path):
                    raise CorpusError(
                        f"{self.folder / path}: somebody changed it while protect was at work; "
                        "its marks and that change stay, everything else was put back"
                    )
                self._replace(path, content)

    def roll_back(self) -> None:
        """Put every file back as it was, but for those that somebody else has changed since."""
        for path, saved in self.saved.items():
            if saved.content != self.current[path] and not self._is_touched(path):
                self._replace(path, saved.content)

    def _is_touched(self, path: str) -> bool:
        try:
            return (self.folder / path).read_bytes() != self.current[path]
        except FileNotFoundError:
            return True

    def _replace(self, path: str, content: bytes) -> None:
        saved = self.saved[path]
        file = self.folder / path
        place = temporary(file)
        with place.open("wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        place.chmod(saved.mode & 0o7777)
        if content == saved.content:
            os.utime(place, ns=saved.times)
        else:
            # caches of compiled code go by whole seconds: no two versions may share one
            before = self.clock.get(path, saved.times[1] // 10**9)
            self.clock[path] = max(int(time.time()), before + 1)
            os.utime(place, (self.clock[path], self.clock[path]))
        place.replace(file)
        self.current[path] = content


def temporary(file: Path) -> Path:
    """Where a file is written before it gets its name."""
    return file.with_name(f".{file.name}.puzzlemark")


def journal_folder(manifest: Path) -> Path:
    """Where files are saved while they are being replaced."""
    return manifest.with_name(f".{manifest.name}.journal")


@contextmanager
def journalled(folder: Path, manifest: Path) -> Iterator["Journal"]:
    """The right to replace files of a folder, one run at a time; a failure puts them back."""
    place = journal_folder(manifest)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.mkdir(mode=0o700, exist_ok=True)
    with (place / LOCK).open("a") as lock:
        lock_file(lock, _busy(manifest))
        _recover(place, manifest)
        journal = Journal(WorkTree(folder), place, manifest)
        try:
            yield journal
        except BaseException:
            journal.roll_back()
            remove(place)
            raise
        remove(place)


@dataclass(slots=True)
class Journal:
    """A work tree whose files are also saved on the disk."""

    tree: WorkTree
    place: Path
    manifest: Path

    def save(self, paths: list[str]) -> None:
        """Save files, and the manifest, before anything is replaced."""
        self.tree.save(paths)
        entries = []
        for number, (path, saved) in enumerate(self.tree.saved.items()):
            name = f"{number:06}"
            _write(self.place / name, saved.content)
            entries.append([path, name, saved.mode, *saved.times])
        has_manifest = self.manifest.exists()
        if has_manifest:
            _write(self.place / MANIFEST, self.manifest.read_bytes())
        root = str(self.tree.folder)
        index = {"folder": root, "has_manifest": has_manifest, "files": entries}
        with replacing(self.place / INDEX) as partial:
            _write(partial, json.dumps(index).encode())
        sync_folder(self.place)

    def roll_back(self) -> None:
        """Put everything back: files and manifest."""
        self.tree.roll_back()
        if (self.place / INDEX).exists():
            _restore_manifest(
                self.place, self.manifest, json.loads((self.place / INDEX).read_text())
            )


def recover(manifest: Path) -> None:
    """Undo what a run had begun that was killed, before anything is read."""
    place = journal_folder(manifest)
    if place.is_dir():
        with (place / LOCK).open("a") as lock:
            lock_file(lock, _busy(manifest))
            _recover(place, manifest)
            remove(place)


def _busy(manifest: Path) -> CorpusError:
    return CorpusError(f"{manifest}: another run of protect is at work; wait for its end")


def _recover(place: Path, manifest: Path) -> None:
    """Undo what a killed run had begun."""
    index = place / INDEX
    if index.exists():
        read = json.loads(index.read_text())
        folder = Path(read["folder"])
        for path, name, mode, accessed, modified in read["files"]:
            file = folder / path
            remove(temporary(file))
            content = (place / name).read_bytes()
            if file.parent.is_dir() and (not file.exists() or file.read_bytes() != content):
                part = temporary(file)
                _write(part, content)
                part.chmod(mode & 0o7777)
                os.utime(part, ns=(accessed, modified))
                part.replace(file)
        _restore_manifest(place, manifest, read)
    for each in place.iterdir():
        if each.name != LOCK:
            remove(each)


def _restore_manifest(place: Path, manifest: Path, index: Mapping[str, object]) -> None:
    if not index["has_manifest"]:
        remove(manifest)
    elif not manifest.exists() or manifest.read_bytes() != (place / MANIFEST).read_bytes():
        with replacing(manifest) as partial:
            _write(partial, (place / MANIFEST).read_bytes())


def _write(file: Path, content: bytes) -> None:
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())


def copy_tree(folder: Path, output: Path, paths: list[str] | None) -> None:
    """Copy a folder, or some paths of it, as they are: modes, times and links."""
    if paths is None:
        shutil.copytree(folder, output, symlinks=True, ignore=_without_git(folder))
        return
    output.mkdir()
    for path in paths:
        source, target = folder / path, output / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir() and not source.is_symlink():  # a submodule
            shutil.copytree(source, target, symlinks=True, ignore=_without_git(source))
        elif source.exists() or source.is_symlink():
            shutil.copy2(source, target, follow_symlinks=False)


def _without_git(top: Path) -> Callable[[str, list[str]], list[str]]:
    def ignore(folder: str, names: list[str]) -> list[str]:
        return [name for name in names if name == ".git" and Path(folder) == top]

    return ignore
