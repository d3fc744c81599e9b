"""The files of a dataset: one file, a folder of shards, or a glob."""

import glob
import os
import stat
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Literal

from puzzlemark import plugins
from puzzlemark.corpora.hub import split_of
from puzzlemark.corpora.lines import PACKINGS, packing_of
from puzzlemark.errors import CorpusError, UsageError
from puzzlemark.stores import Location, Url, locate

Kind = Literal["file", "folder", "glob"]

STANDARD = "-"  # standard input or output
ALL = "all"  # splits
# what `datasets` and its hub write beside the records
ABOUT = frozenset("dataset_info.json dataset_infos.json dataset_dict.json state.json".split())
# other kinds of files that pandas reads without running anything in them
_READERS = {"xlsx": "read_excel", "xls": "read_excel", "ods": "read_excel"}
_READERS |= {"feather": "read_feather", "orc": "read_orc", "xml": "read_xml"}
_ARCHIVES = frozenset({"zip", "tar", "tgz", "7z", "gz", "zst", "xz", "bz2"})
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
    path: Location
    format: str
    # where its parts end that can be read one by one, the last one at its number of records: known
    # once the dataset was counted
    ends: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class Layout:
    """How a dataset lies on the disk, or in a store."""

    kind: Kind
    root: Location  # the folder that shard names are relative to
    shards: tuple[Shard, ...]
    ignored: int  # other files in the folder, which are not copied
    others: tuple[tuple[str, Location], ...] = ()  # files to be copied as they are, by name
    left: tuple[str, ...] = ()  # among them: shards of other splits

    def paths(self, asked: Location) -> tuple[Location, ...]:
        """All that reading the dataset looks at: its files, and the folder that it looks into.

        A glob such as `*.jsonl` does not look into the folders beside its files.
        """
        looks_inside = self.kind == "folder" or (self.kind == "glob" and "**" in asked.parts)
        files = tuple(shard.path for shard in self.shards)
        return (self.root, *files) if looks_inside else files


def find_layout(
    path: str | Location, split: str | None = None, names: Collection[str] | None = None
) -> Layout:
    """The shards behind a path, in the order of their names.

    Where files tell splits apart by their names, those of `split`: by default all but the files
    for tests and validation. `names` are shards that are known, and taken if all are there.
    """
    place = locate(path)
    if str(path) == STANDARD:
        raise UsageError("-: only embed, apply and revert read standard input; pass a file")
    if isinstance(place, Url):
        return _find_in_store(place, split, names)
    try:
        if place.is_dir():
            layout = _collect("folder", place, _walk(place), place)
            return _choose(layout, place, split, names)
        if place.exists():
            _require_file(place)
            return _one_file(place, split)
    except OSError as exc:
        raise CorpusError(
            f"{exc.filename or place}: {exc.strerror}; check the path and its permissions"
        ) from exc
    if not glob.has_magic(str(place)):
        raise CorpusError(f"{place}: no such file or folder; check the path")
    found = (Path(name) for name in glob.iglob(str(place), recursive=True))  # noqa: PTH207 - `**` must find files
    return _choose(_collect("glob", _fixed_folder(place), found, place), place, split, names)


def _find_in_store(place: Url, split: str | None, names: Collection[str] | None) -> Layout:
    if place.has_magic():
        layout = _collect("glob", place.fixed_part(), place.glob(), place)
    elif place.is_file():
        return _one_file(place, split)
    elif place.is_dir():
        layout = _collect("folder", place, place.find(), place)
    else:
        raise CorpusError(f"{place}: no such object or folder; check the URL")
    return _choose(layout, place, split, names)


def _one_file(place: Location, split: str | None) -> Layout:
    if split not in (None, ALL):
        raise UsageError(f"{place}: one file, which has no splits; leave out --split")
    shard = Shard(place.name, place, known_format(place.name))
    return Layout("file", place.parent, (shard,), 0)


def _choose(
    layout: Layout, asked: Location, split: str | None, names: Collection[str] | None
) -> Layout:
    """The shards of a split; the others are copied as they are."""
    every = {shard.name: split_of(shard.name) for shard in layout.shards}
    found = {name for name in every.values() if name is not None}
    if names is not None and set(names) <= every.keys():
        wanted = set(names)
    elif split == ALL or (split is None and len(set(every.values())) == 1):  # not told apart
        wanted = set(every)
    elif split is None:
        wanted = {name for name, own in every.items() if own in (None, "train")}
    else:
        wanted = {name for name, own in every.items() if own == split}
    if not wanted:
        there = ", ".join(sorted(found)) or "none"
        raise UsageError(
            f"{asked}: no file of the split {split or 'train'}; there are {there}; pass --split "
            "with one of them, or --split all"
        )
    left = [shard for shard in layout.shards if shard.name not in wanted]
    others = (*layout.others, *((shard.name, shard.path) for shard in left))
    return replace(
        layout,
        shards=tuple(shard for shard in layout.shards if shard.name in wanted),
        others=tuple(sorted(others)),
        left=tuple(shard.name for shard in left),
    )


def dataset_paths(path: str | Location) -> tuple[Location, ...]:
    """All that reading the dataset at a path looks at, which no output may touch."""
    return find_layout(path).paths(locate(path))


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
        raise UsageError(
            f"{name}: unknown kind of dataset; its name must end in one of {_known()}"
            f"{_conversion(name)}"
        )
    return found[0]


def _collect(kind: Kind, root: Location, found: Iterable[Path | str], asked: Location) -> Layout:
    """The shards among the files of a folder; those of a store are all there, and are told by name.

    On a disk there may be folders among them, and pipes.
    """
    shards: list[Shard] = []
    others: list[tuple[str, Location]] = []
    ignored = 0
    for name, path in sorted(_named(root, found).items()):
        recognised = extension_of(name)
        if isinstance(path, Path) and path.is_dir():
            continue
        if recognised is None or is_hidden(name) or _is_about(name):
            is_file = isinstance(path, Url) or path.is_file()
            if kind == "folder" and is_file and not _is_private(name):
                others.append((name, path))
            else:
                ignored += is_file
            continue
        if isinstance(path, Path):
            _require_file(path)
        shards.append(Shard(name, path, recognised[0]))
    own = [shard for shard in shards if not _may_be_beside(shard.format)]
    if kind == "folder" and own:
        others += [(s.name, s.path) for s in shards if _may_be_beside(s.format)]
        shards = own
    if not shards:
        raise CorpusError(f"{asked}: no dataset files in it; looked for {_known()}")
    _refuse_mixture(asked, shards)
    return Layout(kind, root, tuple(shards), ignored, tuple(sorted(others)))


def _named(root: Location, found: Iterable[Path | str]) -> dict[str, Location]:
    """The files by their names below the root, with forward slashes."""
    if isinstance(root, Path):
        return {path.relative_to(root).as_posix(): path for path in map(Path, found)}
    return {str(name): root / str(name) for name in found}


def _is_private(name: str) -> bool:
    """Whether a file belongs to this copy of a folder only: `.git/HEAD`, `.cache/x`."""
    return name.split("/")[0] in (".git", ".cache", "__pycache__") or name.endswith(".partial")


def _is_about(name: str) -> bool:
    """Whether a file says something of a dataset, and is none."""
    return name.rpartition("/")[2] in ABOUT


def _may_be_beside(format_: str) -> bool:
    return getattr(plugins.find("corpora.formats", format_), "BESIDE", False)


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


def _refuse_mixture(asked: Location, shards: list[Shard]) -> None:
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


def _known() -> str:
    """The endings of datasets, in words: those of packed files in short."""
    endings = sorted(_extensions())
    plain = [ending for ending in endings if packing_of(ending) is None]
    packed = [packing for packing in PACKINGS if any(each.endswith(packing) for each in endings)]
    return f"{', '.join(plain)} (some also with {', '.join(packed)})"


def _conversion(name: str) -> str:
    """The line that makes a dataset of another kind of file, where there is one."""
    stem, _, ending = name.rpartition(".")
    reader = _READERS.get(ending.lower())
    if reader is None:
        return "; unpack it first" if ending.lower() in _ARCHIVES else ""
    return (
        f"; convert it: python -c \"import pandas as pd; pd.{reader}('{name}')"
        f".to_json('{stem}.jsonl', orient='records', lines=True)\""
    )


@cache
def _extensions() -> dict[str, str]:
    return {
        extension: variant
        for variant, format_ in plugins.every("corpora.formats")
        for extension in format_.EXTENSIONS
    }
