"""Written again by someone who does not know the marks, the files are the same byte for byte."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

from puzzlemark.auditing.checks.base import Evidence, Observation, View, not_applicable

ABOUT = "bytes that follow from the values"
VIEW: View = "marked"


def inspect(evidence: Evidence) -> Iterator[Observation]:
    """Equal bytes prove that pages, blocks and packing show nothing but the values themselves."""
    marked = evidence.marked
    with tempfile.TemporaryDirectory(prefix="puzzlemark-audit-") as name:
        again = Path(name, marked.path.name if marked.layout.kind == "file" else "again")
        written = marked.rewrite(again, {}, evidence.setting.derivations)
    same = sum(shard.input_sha256 == shard.output_sha256 for shard in written.shards)
    numbers = {"files": len(written.shards), "same": same}
    if same == len(written.shards):
        message = (
            f"written again without the marks in mind, the bytes are the same ({same:,} files)"
        )
        yield Observation("ok", message, numbers)
    else:
        other = len(written.shards) - same
        yield not_applicable(
            f"{other:,} of {len(written.shards):,} files were written by another program or "
            "version; the other checks look at what can be seen"
        )
