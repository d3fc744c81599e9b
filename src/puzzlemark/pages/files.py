"""A page or picture as a file: there whole or not at all, and private where it must be."""

import os
from pathlib import Path

from puzzlemark.errors import UsageError
from puzzlemark.staging import staged

PRIVATE = 0o600
ORDINARY = 0o644


def refuse_existing(path: Path, *, overwrite: bool) -> None:
    """Say so before any work is done when the file could not be written."""
    if path.is_dir():
        raise UsageError(f"{path}: is a folder; name a file")
    if path.exists() and not overwrite:
        raise UsageError(f"{path}: already there; pass --force to replace it")


def write_text(path: Path, text: str, *, private: bool = False) -> None:
    """Write the file; a private one can be read by its owner only, from its first byte on."""
    mode = PRIVATE if private else ORDINARY
    with staged(path, overwrite=True) as place:
        handle = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with os.fdopen(handle, "wb") as file:
            # a file name in a title may be bytes that are no text
            file.write(text.encode("utf-8", "replace"))
