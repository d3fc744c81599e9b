"""The same files with the same names, and no others."""

from collections.abc import Iterator
from pathlib import Path

from puzzlemark.auditing.checks.base import Evidence, Observation, View, not_applicable
from puzzlemark.stores import Location

ABOUT = "files"
VIEW: View = "difference"


def inspect(evidence: Evidence) -> Iterator[Observation]:
    """Names that changed; files in the marked folder that the original does not have."""
    if evidence.marked.layout.kind == "file":
        yield not_applicable("one file, whose name is chosen by its owner")
        return
    old, new = ([shard.name for shard in c.shards] for c in (evidence.original, evidence.marked))
    renamed = sorted(set(new) - set(old))
    numbers = {"files": len(new), "renamed": len(renamed)}
    if renamed:
        yield Observation("tells", f"{len(renamed):,} files have new names: {renamed[0]}", numbers)
    else:
        yield Observation("ok", f"{len(new):,} files with their old names", numbers)
    if evidence.marked.layout.kind == "folder":
        yield _strangers(evidence)


def _strangers(evidence: Evidence) -> Observation:
    known = _names(evidence.original.layout.root) | {s.name for s in evidence.marked.shards}
    strange = sorted(_names(evidence.marked.layout.root) - known)
    if strange:
        message = f"{len(strange):,} files that the original does not have, such as {strange[0]}"
        return Observation("tells", message, {"strangers": len(strange)})
    return Observation("ok", "no file in the folder that the original does not have")


def _names(folder: Location) -> set[str]:
    assert isinstance(folder, Path), "fetched"
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
