"""A gzip file does not begin anew at carriers."""

import zlib
from collections.abc import Iterator
from pathlib import Path

from puzzlemark.auditing.checks.base import (
    Evidence,
    Observation,
    View,
    compare_touching,
    not_applicable,
)

ABOUT = "beginnings of gzip members"
VIEW: View = "marked"
CHUNK = 1 << 20


def inspect(evidence: Evidence) -> Iterator[Observation]:
    """The records beside the end of a member."""
    files = evidence.only("jsonl", packed=True)
    if not files:
        yield not_applicable("no file is gzip")
        return
    boundaries: list[int] = []
    for at, _, path in files:
        boundaries += (evidence.starts[at] + lines for lines in _members(path))
    yield compare_touching(evidence, boundaries, "gzip member's end")


def _members(path: Path) -> Iterator[int]:
    """How many records stand before each member but the first."""
    records, partial = 0, b""
    with path.open("rb") as stream:
        unpacker, waiting = zlib.decompressobj(31), stream.read(CHUNK)
        while waiting:
            lines = (partial + unpacker.decompress(waiting)).split(b"\n")
            partial = lines.pop()
            records += sum(not line.isspace() for line in lines if line)
            waiting = unpacker.unused_data
            if unpacker.eof:
                waiting = waiting or stream.read(CHUNK)
                if waiting.strip(b"\0"):
                    yield records
                    unpacker = zlib.decompressobj(31)
                else:
                    return
            else:
                waiting = stream.read(CHUNK)
