"""One file for many: a zip whose bytes follow from its content, and that nobody can make hurt.

Nothing in it is compressed: the bytes do not depend on a library, and there is nothing to blow up.
Times, modes and order are fixed, so that there is one archive for one content. Whatever differs
from that one is refused, which takes care of all that a zip may hide between its files.
"""

import hashlib
import io
import re
import zipfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from puzzlemark.errors import PuzzleMarkError

SUMS = "SHA256SUMS"
LARGEST = 1 << 29  # bytes
MOST_FILES = 5_000
LONGEST_NAME = 200
EARLIEST = (1980, 1, 1, 0, 0, 0)  # the first day that a zip knows
READABLE = 0o644
_NAME = re.compile(r"(?!.*\.\.)[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)*")


class BundleError(PuzzleMarkError):
    """A bundle cannot be made, or a file is not one."""


def pack(files: Mapping[str, bytes]) -> bytes:
    """The archive of these files; `SHA256SUMS`, which `sha256sum -c` reads, is added as the last.

    `pack({"a": b"1"}) == pack({"a": b"1"})`, on any machine and on any day.
    """
    return _zipped({**files, SUMS: sums_of(files)})


def sums_of(files: Mapping[str, bytes]) -> bytes:
    """A line for each file, by name: its SHA-256, two spaces, its name."""
    lines = (f"{hashlib.sha256(files[name]).hexdigest()}  {name}\n" for name in sorted(files))
    return "".join(lines).encode()


def read_archive(path: Path | str) -> tuple[dict[str, bytes], bool]:
    """The files of an archive, and whether it is, byte for byte, the one that `pack` makes of them.

    What cannot be read without danger, or not at all, raises a BundleError with the reason.
    """
    path = Path(path)
    if path.is_dir():
        raise BundleError(
            f"{path}: a folder, not a bundle; of a run's folder the verdict is computed again by: "
            f"puzzlemark verify --test-only --output {path}"
        )
    try:
        if path.stat().st_size > LARGEST:
            raise BundleError(f"{path}: larger than {LARGEST:,} bytes; not a bundle of ours")
        content = path.read_bytes()
    except OSError as exc:
        raise BundleError(f"{path}: cannot be read: {exc.strerror}") from exc
    try:
        return unpack(content)
    except BundleError as exc:
        raise BundleError(f"{path}: {exc}") from exc


def unpack(content: bytes) -> tuple[dict[str, bytes], bool]:
    """The same of an archive that was read already."""
    try:
        files = _unzipped(content)
    except (zipfile.BadZipFile, NotImplementedError, ValueError, OSError, EOFError) as exc:
        raise BundleError(f"not a zip that can be read: {exc}") from exc
    return files, _zipped(files) == content


def why_changed(files: Mapping[str, bytes]) -> list[str]:
    """The names of files that are not as `SHA256SUMS` says; of one that is missing or added."""
    written = files.get(SUMS, b"").decode("utf-8", "replace").splitlines()
    expected = sums_of({name: each for name, each in files.items() if name != SUMS})
    ours = set(expected.decode().splitlines())
    return sorted({line.partition("  ")[2] or SUMS for line in ours.symmetric_difference(written)})


def _zipped(files: Mapping[str, bytes]) -> bytes:
    place = io.BytesIO()
    with zipfile.ZipFile(place, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(files, key=lambda each: (each == SUMS, each)):
            entry = zipfile.ZipInfo(name, EARLIEST)
            entry.create_system = 3  # whatever this machine is
            entry.external_attr = (0o100000 | READABLE) << 16
            archive.writestr(entry, files[name])
    return place.getvalue()


def _unzipped(content: bytes) -> dict[str, bytes]:
    """Everything is looked at before anything is read."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        entries = archive.infolist()
        if len(entries) > MOST_FILES:
            raise BundleError(f"more than {MOST_FILES:,} files; not a bundle of ours")
        names = Counter(entry.filename for entry in entries)
        if twice := sorted(name for name, times in names.items() if times > 1):
            raise BundleError(f"{twice[0]!r} is in it twice, so that two readers may see two files")
        for entry in entries:
            if reason := _why_unsafe(entry):
                raise BundleError(f"{entry.filename[:LONGEST_NAME]!r} {reason}")
        if sum(entry.file_size for entry in entries) > len(content):
            raise BundleError("its files are larger than it is: some of them overlap")
        return {name: archive.read(name) for name in names}


def _why_unsafe(entry: zipfile.ZipInfo) -> str | None:
    if len(entry.filename) > LONGEST_NAME or not _NAME.fullmatch(entry.filename):
        return "is no name of a file in a bundle; nothing was unpacked"
    if entry.compress_type != zipfile.ZIP_STORED:
        return "is compressed, and a bundle never is; nothing was unpacked"
    return "is encrypted; nothing was unpacked" if entry.flag_bits & 1 else None
