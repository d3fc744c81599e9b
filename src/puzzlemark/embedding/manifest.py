"""The manifest: a private file that says what was marked, where and how; applying it is a replay.

One JSON object per line, gzip-compressed when the name ends in `.gz`: the header first, then one
line per carrier in dataset order. See docs/manifest.md for every field.
"""

import gzip
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import orjson
from pydantic import BaseModel, ConfigDict, ValidationError

from puzzlemark.errors import ManifestError
from puzzlemark.snippet import Edit, invert_edits
from puzzlemark.watermarks.base import Mark, Part, Role

FORMAT: Literal["puzzlemark manifest"] = "puzzlemark manifest"
VERSION = 2
FIRST_VERSION = {"prefix", "suffix", "target", "replaced", "introduced"}  # what a mark was in 1
ROLES = frozenset(get_args(Role))


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Shard(_Part):
    """One file of a dataset."""

    name: str
    records: int
    sha256: str


class Dataset(_Part):
    """A dataset's identity: what is in its records, and the bytes of its files."""

    records: int
    digest: str  # over the id and code of every record, in order; see docs/manifest.md
    shards: tuple[Shard, ...]


class Scheme(_Part):
    """A watermark and its settings."""

    scheme: str
    settings: dict[str, Any]
    name: str | None = None  # the paper's name for it


class Header(_Part):
    """How the marks came about: enough to do it again, and to refuse a wrong dataset."""

    format: Literal["puzzlemark manifest"]
    version: int
    versions: dict[str, str]  # of puzzlemark, Python, the parser and its grammars
    watermark: Scheme
    policy: Literal["paper", "safe"]
    order: Literal["keyed", "dataset"]
    secret_fingerprint: str | None
    tau: float
    min_rate: float
    max_rate: float
    features: tuple[str, ...]
    projection: str
    suitability: dict[str, Any]
    language: str | None
    columns: dict[str, str | None]
    derived: dict[str, str]
    input: Dataset
    output: Dataset
    counts: dict[str, int]
    kept: dict[str, int]  # records without a mark, by reason


@dataclass(frozen=True, slots=True)
class Carrier:
    """A record that carries a mark."""

    row: int  # counted from 0 over the whole dataset
    id: str
    mark: Mark

    def to_line(self) -> bytes:
        """One line of the manifest; edits are grouped, as most differ in their offset only."""
        mark = self.mark
        groups: dict[tuple[bytes, bytes], list[int]] = {}
        for edit in mark.edits:
            groups.setdefault((edit.old, edit.new), []).append(edit.start)
        edits = [[old.decode(), new.decode(), starts] for (old, new), starts in groups.items()]
        return orjson.dumps(
            {
                "row": self.row,
                "id": self.id,
                "parts": [[part.role, part.text, part.was] for part in mark.parts],
                "edits": edits,
            }
        )

    @staticmethod
    def from_line(line: bytes) -> "Carrier":
        """The reverse of `to_line`; raises KeyError, TypeError or ValueError on anything else."""
        fields = orjson.loads(line)
        row, id_, edits = fields.pop("row"), fields.pop("id"), fields.pop("edits")
        planned = tuple(
            sorted(
                Edit(int(start), old.encode(), new.encode())
                for old, new, starts in edits
                for start in starts
            )
        )
        return Carrier(int(row), str(id_), Mark(_read_parts(fields), planned))


def _read_parts(fields: dict[str, Any]) -> tuple[Part, ...]:
    """The parts of a mark; the first version of the format spelled them as five fields."""
    if fields.keys() == FIRST_VERSION:
        return (
            Part("prefix", fields["prefix"], fields["introduced"]),
            Part("suffix", fields["suffix"]),
            Part("target", fields["target"], fields["replaced"]),
        )
    if fields.keys() != {"parts"}:
        raise ValueError(f"unknown fields {', '.join(sorted(fields))}")
    parts = tuple(Part(*each) for each in fields["parts"])
    if unknown := {part.role for part in parts} - ROLES:
        raise ValueError(f"unknown role {', '.join(sorted(unknown))}")
    return parts


@dataclass(frozen=True, slots=True)
class Manifest:
    """A header and its carriers, kept as their lines: small, even for millions."""

    header: Header
    lines: Mapping[int, bytes]  # row -> line, rows ascending

    def __len__(self) -> int:
        return len(self.lines)

    def __iter__(self) -> Iterator[Carrier]:
        return map(Carrier.from_line, self.lines.values())

    def edits(self, *, undo: bool = False) -> "Edits":
        """Each changed row's edits, or those that undo them."""
        return Edits(self.lines, undo=undo)


class Edits(Mapping[int, tuple[Edit, ...]]):
    """Edits by row, read from the manifest's lines when they are asked for."""

    def __init__(self, lines: Mapping[int, bytes], *, undo: bool = False) -> None:
        self._lines = lines
        self._undo = undo

    def __getitem__(self, row: int) -> tuple[Edit, ...]:
        edits = Carrier.from_line(self._lines[row]).mark.edits
        return invert_edits(edits) if self._undo else edits

    def __contains__(self, row: object) -> bool:
        return row in self._lines

    def __iter__(self) -> Iterator[int]:
        return iter(self._lines)

    def __len__(self) -> int:
        return len(self._lines)


def write_manifest(manifest: Manifest, path: Path) -> None:
    """Write a manifest where no file is yet: on the disk when this ends, with mode 0600."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as file:
        _write_lines(manifest, path, file)
        file.flush()
        os.fsync(file.fileno())


def _write_lines(manifest: Manifest, path: Path, file: Any) -> None:
    lines = (orjson.dumps(manifest.header.model_dump()), *manifest.lines.values())
    if path.suffix != ".gz":
        file.writelines(line + b"\n" for line in lines)
        return
    # no name and no time in the header: the same marks give the same bytes
    with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as packed:
        packed.writelines(line + b"\n" for line in lines)


def load_manifest(path: Path | str) -> Manifest:
    """Read a manifest of this or an earlier version, packed or plain."""
    path = Path(path)
    try:
        raw = path.read_bytes()
        text = gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
    except (OSError, EOFError) as exc:
        raise ManifestError(f"{path}: cannot read the manifest: {exc}") from exc
    first, _, rest = text.partition(b"\n")
    header = _read_header(path, first)
    lines: dict[int, bytes] = {}
    for number, line in enumerate(rest.splitlines(), start=2):
        try:
            lines[Carrier.from_line(line).row] = line
        except (ValueError, KeyError, TypeError, AttributeError) as exc:
            raise ManifestError(f"{path}:{number}: not a mark: {exc}") from exc
    if len(lines) != header.counts.get("marked"):
        raise ManifestError(
            f"{path}: {len(lines)} marks, but the header counts {header.counts.get('marked')}; "
            "the file is cut short or was edited"
        )
    return Manifest(header, lines)


def _read_header(path: Path, line: bytes) -> Header:
    try:
        fields = orjson.loads(line)
    except orjson.JSONDecodeError as exc:
        raise ManifestError(f"{path}: not a PuzzleMark manifest") from exc
    if not isinstance(fields, dict) or fields.get("format") != FORMAT:
        raise ManifestError(f"{path}: not a PuzzleMark manifest")
    if not isinstance(fields.get("version"), int) or fields["version"] > VERSION:
        raise ManifestError(
            f"{path}: made by a newer version of PuzzleMark "
            f"(format {fields.get('version')}, this one reads up to {VERSION}); upgrade"
        )
    try:
        return Header.model_validate_json(line)
    except ValidationError as exc:
        where = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in exc.errors())
        raise ManifestError(f"{path}:1: the header is damaged: {where}") from exc
