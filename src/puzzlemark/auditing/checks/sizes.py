"""The sizes of files do not tell which hold carriers."""

from collections import Counter
from collections.abc import Iterator

from puzzlemark.auditing.checks.base import (
    Evidence,
    Observation,
    View,
    compare_parts,
    not_applicable,
)

ABOUT = "sizes of the files"
VIEW: View = "marked"


def inspect(evidence: Evidence) -> Iterator[Observation]:
    """Files that are all of one size but for some, or as large as before but for some."""
    sizes = [(old.stat().st_size, new.stat().st_size) for old, new in evidence.paths]
    if len(sizes) < 2:
        yield not_applicable("one file has one size")
        return
    carriers = [evidence.carriers_of(at) for at in range(len(sizes))]
    usual, count = Counter(new for _, new in sizes).most_common(1)[0]
    if count * 2 <= len(sizes):
        yield Observation("ok", f"{len(sizes):,} files of different sizes", {"files": len(sizes)})
    else:
        yield compare_parts([new == usual for _, new in sizes], carriers, ABOUT, "file")
