"""The files of a dataset: one file, a folder of shards, or a glob."""

import glob
import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from puzzlemark import plugins
from puzzlemark.errors import CorpusError, UsageError

Kind = Literal["file", "folder", "glob"]

_OTHERS = (
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


@dataclass(frozen=True, slots=True)
class Shard:
    """One file; `name` is its path below the dataset's folder, with forward slashes."""

    name: str
    path: Path
    format: str


@dataclass(frozen=True, slots=True)
class Layout:
    """How a dataset lies on the disk."""

    kind: Kind
    root: Path  # the folder that shard names are relative to
    shards: tuple[Shard, ...]
    ignored: int  # other files in the folder

    def paths(self, asked: Path) -> tuple[Path, ...]:
        """All that reading the dataset looks at: its files, and the folder that it looks into.

        A glob such as `*.jsonl` does not look into the folders beside its files.
        """
        looks_inside = self.kind == "folder" or (self.kind == "glob" and "**" in asked.parts)
        files = tuple(shard.path for shard in self.shards)
        return (self.root, *files) if looks_inside else files


def find_layout(path: str | Path) -> Layout:
    """The shards behind a path, in the order of their names."""
    place = Path(path)
    try:
        if place.is_dir():
            return _collect("folder", place, _walk(place), place)
        if place.exists():
            _require_file(place)
            shard = Shard(place.name, place, known_format(place.name))
            return Layout("file", place.parent, (shard,), 0)
    except OSError as exc:
        raise CorpusError(
            f"{exc.filename or place}: {exc.strerror}; check the path and its permissions"
        ) from exc
    if not glob.has_magic(str(path)):
        raise CorpusError(f"{place}: no such file or folder; check the path")
    found = (Path(name) for name in glob.iglob(str(path), recursive=True))  # noqa: PTH207 - `**` must find files
    return _collect("glob", _fixed_folder(place), found, place)


def dataset_paths(path: str | Path) -> tuple[Path, ...]:
    """All that reading the dataset at a path looks at, which no output may touch."""
    return find_layout(path).paths(Path(path))


def extension_of(name: str) -> tuple[str, str] | None:
    """The format and extension of a file name: `"a.jsonl.gz" -> ("jsonl", ".jsonl.gz")`."""
    for extension, variant in _extensions().items():
        if name.lower().endswith(extension):
            return variant, extension
    return None


def known_format(name: str) -> str:
    """The format of a file named by the user."""
    found = extension_of(name)
    if found is None:
        known = ", ".join(sorted(_extensions()))
        raise UsageError(f"{name}: unknown kind of dataset; its name must end in one of {known}")
    return found[0]


def _collect(kind: Kind, root: Path, found: Iterable[Path], asked: Path) -> Layout:
    files = sorted({path.relative_to(root).as_posix(): path for path in found}.items())
    shards: list[Shard] = []
    ignored = 0
    for name, path in files:
        recognised = extension_of(name)
        if path.is_dir():
            continue
        if recognised is None or is_hidden(name):
            ignored += path.is_file()
            continue
        _require_file(path)
        shards.append(Shard(name, path, recognised[0]))
    if not shards:
        known = ", ".join(sorted(_extensions()))
        raise CorpusError(f"{asked}: no dataset files in it; looked for {known}")
    _refuse_mixture(asked, shards)
    return Layout(kind, root, tuple(shards), ignored)


def _require_file(path: Path) -> None:
    """Raise for a pipe, a socket, a device: it would hang, and cannot be read again and again."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        raise CorpusError(
            f"{path}: a link to a file that is not there; fetch the file, or remove the link"
        ) from None
    if not stat.S_ISREG(mode):
        kind = next((word for is_kind, word in _OTHERS if is_kind(mode)), "not a file")
        raise CorpusError(f"{path}: {kind}, not a file; write its content to a file first")


def _walk(folder: Path) -> Iterator[Path]:
    def fail(exc: OSError) -> None:
        raise exc  # a folder that cannot be read may hold shards: never skip it

    for parent, _, names in os.walk(folder, onerror=fail):
        yield from (Path(parent, name) for name in names)


def _refuse_mixture(asked: Path, shards: list[Shard]) -> None:
    # the same records are often published in two formats side by side
    first = {shard.format: shard.name for shard in reversed(shards)}
    if len(first) > 1:
        examples = " and ".join(sorted(first.values()))
        raise UsageError(f"{asked}: more than one format ({examples}); pass a glob for one of them")


def is_hidden(name: str) -> bool:
    """Whether a file is by custom not part of a dataset: `_SUCCESS`, `.cache/`."""
    return any(part.startswith((".", "_")) for part in name.split("/"))


def _fixed_folder(pattern: Path) -> Path:
    parts = pattern.parts
    magic = next(at for at, part in enumerate(parts) if glob.has_magic(part))
    return Path(*parts[:magic])


@cache
def _extensions() -> dict[str, str]:
    return {
        extension: variant
        for variant, format_ in plugins.every("corpora.formats")
        for extension in format_.EXTENSIONS
    }
