"""The source files of a folder, an archive or a single file; nothing is extracted or run."""

import lzma
import os
import re
import stat
import tarfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import IO

from puzzlemark.errors import CorpusError
from puzzlemark.harvesting.functions import Origin
from puzzlemark.stores import stamp_of

LARGEST = 4 << 20  # bytes; larger files are data that was spelled as code
# what tools put into trees of any language; a language adds its own
SKIPPED_FOLDERS = frozenset({"__pycache__", "node_modules"})
TARS = (".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".tar")
TOO_LARGE = f"larger than {LARGEST >> 20} MiB"
DAMAGE = (EOFError, zlib.error, lzma.LZMAError)
_COMMIT = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")


@dataclass(frozen=True, slots=True)
class Choice:
    """Which files of a tree are read."""

    extensions: tuple[str, ...]
    exclude: tuple[str, ...] = ()  # patterns for a path, or for any file or folder name in it
    skipped_folders: frozenset[str] = SKIPPED_FOLDERS

    def takes(self, path: str) -> bool:
        """Whether a file's path inside the tree, with forward slashes, is one of them."""
        if not path.lower().endswith(self.extensions):
            return False
        parts = path.split("/")
        if any(part.startswith(".") for part in parts if part not in (".", "..")):
            return False
        if not self.skipped_folders.isdisjoint(parts):
            return False
        return not any(fnmatchcase(name, each) for each in self.exclude for name in (path, *parts))


@dataclass(slots=True)
class Source:
    """A source tree, to be read once; what cannot be read is counted in `skipped`."""

    path: Path
    choice: Choice
    skipped: Counter[str] = field(default_factory=Counter)

    def files(self) -> Iterator[tuple[str, bytes]]:
        """Paths with forward slashes and their content, in the order of the paths.

        A tar has to be read in its own order, which is as fixed.
        """
        try:
            if self.path.is_dir():
                yield from self._folder()
            elif self._is_zip():
                yield from self._zip()
            elif self._is_tar():
                yield from self._tar()
            else:
                yield from self._single()
        except (zipfile.BadZipFile, tarfile.TarError, *DAMAGE) as exc:
            raise CorpusError(f"{self.path}: damaged archive ({exc}); fetch it again") from exc
        except OSError as exc:
            reason = exc.strerror or exc
            raise CorpusError(f"{self.path}: {reason}; check the path and its permissions") from exc

    def origin(self) -> Origin:
        """The tree's name, and its commit when that can be read off."""
        name = self.path.resolve().name
        if self.path.is_dir():
            return Origin(_printable(name), git_commit(self.path))
        for ending in (".zip", *TARS):
            name = name.removesuffix(ending)
        return Origin(_printable(name), self._archived_commit())

    def stamps(self) -> dict[str, list[int | str]]:
        """Size and time of every file that is read, by which a changed tree is told."""
        if not self.path.is_dir():
            return {self.path.name: stamp_of(self.path)}
        found: dict[str, list[int | str]] = {}
        for path, name in self._chosen():
            with suppress(OSError):  # counted when it is read
                found[name] = stamp_of(path)
        return found

    def _chosen(self) -> Iterator[tuple[Path, str]]:
        for path in sorted(_walk(self.path, self.choice.skipped_folders)):
            name = _printable(path.relative_to(self.path).as_posix())
            if self.choice.takes(name):
                yield path, name

    def _folder(self) -> Iterator[tuple[str, bytes]]:
        inside = self.path.resolve()
        for path, name in self._chosen():
            if path.is_symlink() and not path.resolve().is_relative_to(inside):
                self.skipped["a link out of the folder"] += 1
                continue
            try:
                if not stat.S_ISREG(path.stat().st_mode):  # a pipe would never end
                    self.skipped["not a regular file"] += 1
                    continue
                with path.open("rb") as stream:
                    content = self._read(stream)
            except OSError as exc:
                self.skipped[(exc.strerror or "unreadable").lower()] += 1
                continue
            if content is not None:
                yield name, content

    def _zip(self) -> Iterator[tuple[str, bytes]]:
        with zipfile.ZipFile(self.path) as archive:
            members = sorted(archive.infolist(), key=lambda each: each.filename)
            for member in members:
                name = member.filename.replace("\\", "/")
                if member.is_dir() or not self.choice.takes(name):
                    continue
                try:
                    with archive.open(member) as stream:
                        content = self._read(stream)
                except NotImplementedError:
                    self.skipped["unknown compression"] += 1
                except RuntimeError:  # how zipfile says that a password is needed
                    self.skipped["encrypted"] += 1
                except (zipfile.BadZipFile, ValueError, *DAMAGE):
                    self.skipped["damaged in the archive"] += 1
                else:
                    if content is not None:
                        yield name, content

    def _tar(self) -> Iterator[tuple[str, bytes]]:
        with tarfile.open(self.path) as archive:
            for member in archive:
                name = _printable(member.name)
                if not member.isreg() or not self.choice.takes(name):
                    continue
                stream = archive.extractfile(member)
                content = self._read(stream) if stream is not None else None
                if content is not None:
                    yield name, content

    def _single(self) -> Iterator[tuple[str, bytes]]:
        with self.path.open("rb") as stream:
            content = self._read(stream)
        if content is not None:
            yield _printable(self.path.name), content

    def _archived_commit(self) -> str:
        """`git archive` leaves the commit in the archive's comment."""
        try:
            if self._is_zip():
                with zipfile.ZipFile(self.path) as archive:
                    return _commit_or_nothing(archive.comment.decode("ascii", "replace"))
            if self._is_tar():
                with tarfile.open(self.path) as tar:
                    return _commit_or_nothing(tar.pax_headers.get("comment", ""))
        except (OSError, zipfile.BadZipFile, tarfile.TarError, *DAMAGE):
            return ""  # reading the files says what is wrong
        return ""

    def _is_zip(self) -> bool:
        return self.path.suffix not in self.choice.extensions and zipfile.is_zipfile(self.path)

    def _is_tar(self) -> bool:
        return self.path.name.lower().endswith(TARS)

    def _read(self, stream: IO[bytes]) -> bytes | None:
        # sizes in an archive's directory may lie: what is read is what counts
        content = stream.read(LARGEST + 1)
        if len(content) <= LARGEST:
            return content
        self.skipped[TOO_LARGE] += 1
        return None


def git_commit(folder: Path) -> str:
    """The commit that a checkout stands at, from its files; "" when it is none."""
    git = folder / ".git"
    try:
        if git.is_file():  # a worktree or a submodule: `gitdir: <path>`
            git = folder / git.read_text().removeprefix("gitdir:").strip()
        head = (git / "HEAD").read_text().strip()
        if not head.startswith("ref:"):
            return _commit_or_nothing(head)
        name = head.removeprefix("ref:").strip()
        common = git / "commondir"
        places = [git, git / common.read_text().strip()] if common.is_file() else [git]
        return next((found for each in places if (found := _read_reference(each, name))), "")
    except (OSError, ValueError):
        return ""


def _read_reference(git: Path, name: str) -> str:
    loose = git / name
    if loose.is_file():
        return _commit_or_nothing(loose.read_text().strip())
    packed = git / "packed-refs"
    for line in packed.read_text().splitlines() if packed.is_file() else ():
        commit, _, reference = line.partition(" ")
        if reference == name:
            return _commit_or_nothing(commit)
    return ""


def _commit_or_nothing(text: str) -> str:
    return text if _COMMIT.fullmatch(text) else ""


def _walk(folder: Path, skipped: frozenset[str]) -> Iterator[Path]:
    for parent, folders, files in os.walk(folder):
        folders[:] = [each for each in folders if not each.startswith(".") and each not in skipped]
        yield from (Path(parent, name) for name in files)


def _printable(name: str) -> str:
    # a file name may be bytes that are no text; JSON and Parquet know text only
    return os.fsencode(name).decode("utf-8", "replace")
