"""A page or picture as a file: there whole or not at all, and private where it must be."""

import os
import tempfile
from pathlib import Path

from puzzlemark.errors import CorpusError, UsageError

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
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # a temporary file is made with mode 0600
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        try:
            # a file name in a title may be bytes that are no text
            with os.fdopen(handle, "wb") as file:
                file.write(text.encode("utf-8", "replace"))
            Path(name).chmod(PRIVATE if private else ORDINARY & ~_umask())
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as exc:
        raise CorpusError(f"{path}: cannot be written: {exc.strerror or exc}") from exc


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
