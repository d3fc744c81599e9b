"""Blank lines stand where they stood."""

from collections.abc import Iterator
from pathlib import Path

from puzzlemark.auditing.checks.base import Evidence, Observation, View, not_applicable
from puzzlemark.corpora.lines import read_blocks

ABOUT = "lines between the records"
VIEW: View = "difference"


def inspect(evidence: Evidence) -> Iterator[Observation]:
    """Records on other lines than before, or another end of the file."""
    files = evidence.only("jsonl")
    if not files:
        yield not_applicable("only files of lines have lines")
        return
    ends = sum(_end(old) != _end(new) for _, old, new in files)
    numbers = {"moved": evidence.moved_lines, "files with another end": ends}
    if evidence.moved_lines or ends:
        sentence = (
            f"{evidence.moved_lines:,} records stand on another line than before, "
            f"and {ends:,} files end in another way"
        )
        yield Observation("tells", sentence, numbers)
    else:
        yield Observation("ok", "every record stands on the line on which it stood", numbers)


def _end(path: Path) -> bytes:
    last = b""
    for block in read_blocks(path):
        last = block
    return last[len(last.rstrip(b" \t\r\n")) :]
