"""Row groups are as large as before, and do not begin at carriers."""

from collections.abc import Iterator

from puzzlemark.auditing.checks._parquet import groups, opened
from puzzlemark.auditing.checks.base import (
    Evidence,
    Observation,
    View,
    compare_touching,
    not_applicable,
)

ABOUT = "row groups"
VIEW: View = "difference"


def inspect(evidence: Evidence) -> Iterator[Observation]:
    """The number of rows in each group, and the records beside the end of one."""
    boundaries: list[int] = []
    files = different = 0
    for shard in opened(evidence):
        files += 1
        old, new = (
            [group.num_rows for *_, group in groups(file)] for file in (shard.before, shard.after)
        )
        different += old != new
        boundaries += (shard.start + first for _, first, _ in groups(shard.after) if first)
    if not files:
        yield not_applicable("no file is Parquet")
        return
    numbers = {"files": files, "different": different}
    if different:
        message = f"{different:,} of {files:,} files have row groups of other sizes than before"
        yield Observation("tells", message, numbers)
    else:
        yield Observation("ok", f"row groups are as large as before ({files:,} files)", numbers)
    yield compare_touching(evidence, boundaries, "row group's end")
