"""Schema and notes in the footer are those of the original."""

from collections.abc import Iterator
from typing import Any

from puzzlemark.auditing.checks._parquet import opened
from puzzlemark.auditing.checks.base import Evidence, Observation, View, not_applicable

ABOUT = "Parquet schema"
VIEW: View = "difference"


def inspect(evidence: Evidence) -> Iterator[Observation]:
    """Columns, their types, and the key-value entries of the footer."""
    files, problems = 0, []
    for shard in opened(evidence):
        files += 1
        old, new = _notes(shard.before), _notes(shard.after)
        if not shard.before.schema_arrow.equals(shard.after.schema_arrow, check_metadata=True):
            problems.append(f"{shard.path.name}: another schema")
        elif old != new:
            key = min(old.items() ^ new.items())[0].decode("utf-8", "replace")
            problems.append(f"{shard.path.name}: another note {key!r}")
    if not files:
        yield not_applicable("no file is Parquet")
    elif problems:
        message = f"{len(problems):,} of {files:,} files differ, the first {problems[0]}"
        yield Observation("tells", message, {"files": files, "different": len(problems)})
    else:
        yield Observation("ok", f"schema and footer notes are as before ({files:,} files)")


def _notes(file: Any) -> dict[bytes, bytes]:
    notes = file.metadata.metadata or {}
    return {key: value for key, value in notes.items() if key != b"ARROW:schema"}
