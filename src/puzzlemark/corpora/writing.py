"""An output appears whole or not at all: written under another name, then renamed."""

import errno
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from puzzlemark.corpora.shards import Layout, extension_of
from puzzlemark.errors import CorpusError, UsageError


def refuse_output(source: Layout, asked: Path, output: Path, *, overwrite: bool) -> None:
    """Raise unless a dataset laid out like `source` can be written to `output`."""
    if source.kind == "file":
        _refuse_other_file(source, output)
    else:
        _refuse_other_folder(source, output)
    _refuse_overlap(source, asked, output)
    if _exists(output) and not overwrite:
        raise UsageError(f"{output}: already there; pass --force to replace it")


@contextmanager
def staged(output: Path) -> Iterator[Path]:
    """A path to write to that becomes `output` when the block ends well, and vanishes otherwise."""
    try:
        made = _make_parents(output.absolute().parent)
        try:
            yield from _in_staging(output)
        except BaseException:
            for folder in made:  # deepest first; one that others use by now stays
                if not any(folder.iterdir()):
                    folder.rmdir()
            raise
    except OSError as exc:
        raise CorpusError(f"{output}: {_explain(exc)}; nothing was written") from exc


def _in_staging(output: Path) -> Iterator[Path]:
    staging = Path(
        tempfile.mkdtemp(prefix=f".{output.name}.", suffix=".partial", dir=output.absolute().parent)
    )
    try:
        written = staging / output.name
        yield written
        if output.is_dir():  # a folder cannot be renamed over another
            output.rename(staging / "replaced")
        try:
            written.replace(output)
        except OSError:
            if (staging / "replaced").exists():
                (staging / "replaced").rename(output)
            raise
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _make_parents(folder: Path) -> list[Path]:
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    return missing


def _explain(exc: OSError) -> str:
    if exc.errno in (errno.ENOSPC, errno.EDQUOT):
        return "no space left on the disk; free some or choose another --output"
    if isinstance(exc, PermissionError):
        return "permission denied; choose another --output"
    return f"{exc.strerror or exc}"


def _refuse_other_file(source: Layout, output: Path) -> None:
    (shard,) = source.shards
    ours, theirs = extension_of(shard.name), extension_of(output.name)
    assert ours is not None
    same = theirs is not None and theirs[0] == ours[0] and _packing(theirs[1]) == _packing(ours[1])
    if not same or output.is_dir():
        raise UsageError(
            f"{output}: the input {shard.name} is one file ending in {ours[1]}, "
            f"so the output must be a file ending in {ours[1]}"
        )


def _refuse_other_folder(source: Layout, output: Path) -> None:
    if extension_of(output.name) is not None or (_exists(output) and not output.is_dir()):
        raise UsageError(
            f"{output}: the input is a {source.kind} of {len(source.shards)} files, "
            "so the output must be a folder"
        )


def _refuse_overlap(source: Layout, asked: Path, output: Path) -> None:
    place = output.resolve()
    if source.kind == "file":
        overlaps = place == source.shards[0].path.resolve()
    else:
        root = source.root.resolve()
        # a glob such as *.jsonl does not look into the folders beside its files
        looks_inside = source.kind == "folder" or "**" in asked.parts
        overlaps = place == root or place in root.parents
        overlaps |= looks_inside and root in place.parents
        overlaps |= any(place in shard.path.resolve().parents for shard in source.shards)
    if overlaps:
        raise UsageError(f"{output}: would overwrite the input {asked}; choose another --output")


def _packing(extension: str) -> bool:
    return extension.endswith(".gz")


def _exists(path: Path) -> bool:
    return path.exists() or path.is_symlink()
