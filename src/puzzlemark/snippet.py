"""What flows through everything: a snippet, and an edit of its bytes."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from puzzlemark.errors import EditMismatch


@dataclass(frozen=True, slots=True)
class Snippet:
    """One record's code, and the rest of the record untouched."""

    id: str
    code: str
    language: str
    record: Mapping[str, Any] = field(default_factory=dict)
    project: str = ""  # whose code it is, where that is known: its repository
    around: str = ""  # the file that it was taken from, where it must go on running there


@dataclass(frozen=True, slots=True, order=True)
class Edit:
    """Bytes `old` at byte offset `start` become `new`: `Edit(4, b"a", b"key_iterator")`."""

    start: int
    old: bytes
    new: bytes

    @property
    def end(self) -> int:
        """Offset just after the replaced bytes."""
        return self.start + len(self.old)


def in_order(edits: Iterable[Edit]) -> list[Edit]:
    """By start; edits at one start keep the order in which they are given."""
    return sorted(edits, key=lambda edit: edit.start)


def apply_edits(source: bytes, edits: Iterable[Edit]) -> bytes:
    """Replay edits on the bytes they were planned for; refuse any other bytes."""
    pieces: list[bytes] = []
    at = 0
    for edit in in_order(edits):
        if edit.start < at or source[edit.start : edit.end] != edit.old:
            found = source[edit.start : edit.end].decode("utf-8", "replace")
            expected = edit.old.decode("utf-8", "replace")
            raise EditMismatch(f"byte {edit.start}: expected {expected!r}, found {found!r}")
        pieces += (source[at : edit.start], edit.new)
        at = edit.end
    pieces.append(source[at:])
    return b"".join(pieces)


def invert_edits(edits: Iterable[Edit]) -> tuple[Edit, ...]:
    """The edits that undo `edits`, with offsets in the edited source."""
    undo: list[Edit] = []
    shift = 0
    for edit in in_order(edits):
        undo.append(Edit(edit.start + shift, edit.new, edit.old))
        shift += len(edit.new) - len(edit.old)
    return tuple(undo)
