"""The headers of gzip files do not tell which hold carriers."""

from collections.abc import Iterator
from pathlib import Path

from puzzlemark.auditing.checks.base import (
    Evidence,
    Observation,
    View,
    compare_parts,
    not_applicable,
)

ABOUT = "gzip headers"
VIEW: View = "marked"


def inspect(evidence: Evidence) -> Iterator[Observation]:
    """Flags, time, level and system of the first header of each file (RFC 1952)."""
    files = evidence.only("jsonl", packed=True)
    if not files:
        yield not_applicable("no file is gzip")
        return
    headers = [_header(new) for _, _, new in files]
    carriers = [evidence.carriers_of(at) for at, _, _ in files]
    yield compare_parts(headers, carriers, ABOUT, "file")


def _header(path: Path) -> bytes:
    with path.open("rb") as stream:
        return stream.read(10)  # magic, method, flags, time, level, system
