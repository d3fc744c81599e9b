"""The manifest: a private file that says what was marked, where and how; applying it is a replay.

One JSON object per line, gzip-compressed when the name ends in `.gz`: the header first, then one
line per carrier in dataset order, with its marks by function. See docs/manifest.md for every field.
"""

import gzip
import hashlib
import os
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import chain, pairwise
from pathlib import Path
from typing import Annotated, Any, BinaryIO, Literal, cast

import orjson
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
)

from puzzlemark.embedding.columns import Lines
from puzzlemark.errors import ManifestError
from puzzlemark.snippet import Edit, in_order, invert_edits
from puzzlemark.watermarks.base import Draw, Mark, Part, Role

FORMAT: Literal["puzzlemark manifest"] = "puzzlemark manifest"
LARGEST = (1 << 63) - 1  # a stranger's number that no array can hold is none of ours
LONGEST_LINE = 64 << 20  # bytes, as of a dataset
Count = Annotated[int, Field(ge=0, le=LARGEST)]
Positive = Annotated[int, Field(ge=1, le=LARGEST)]
VERSION = 3  # 1 knew prefix, suffix and target only; 2 had one mark a record, in no named function


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Shard(_Part):
    """One file of a dataset."""

    name: str
    records: Count
    sha256: str


class Dataset(_Part):
    """A dataset's identity: what is in its records, and the bytes of its files."""

    records: Count
    digest: str  # over the id and code of every record, in order; see docs/manifest.md
    shards: tuple[Shard, ...]


class Scheme(_Part):
    """A watermark and its settings."""

    scheme: str
    settings: dict[str, Any]
    name: str | None = None  # the paper's name for it


class Repository(_Part):
    """What `protect` was asked for, beside the header's own fields; `--update` goes on with it."""

    languages: tuple[str, ...]  # none: all that there are
    include: tuple[str, ...]
    exclude: tuple[str, ...]
    max_line_length: Positive | None  # None: what the project's own configuration says
    # functions that carry nothing, by id: the digest of their code, and why
    refused: dict[str, tuple[str, str]]


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
    counts: dict[str, Count]
    kept: dict[str, Count]  # records without a mark, by reason
    marks_per_record: Positive = 1  # the most that a record may carry
    key_fingerprint: str | None = None  # of the watermark's own key, where it has one
    priors: str | None = None  # digest of the counts by which a key drew, where it did
    # of a dataset in several languages: {"go": {"records": 800, "marked": 40}}
    languages: dict[str, dict[str, Count]] | None = None
    licensee: str | None = None  # whose copy it is, where each has a key of his own
    # what others get, where further marks were put in afterwards: see `embedding.owner`
    published: Dataset | None = None
    repository: Repository | None = None  # of marks in the files of a repository

    @property
    def marked(self) -> Dataset:
        """The marked dataset as others get it."""
        return self.published or self.output

    @property
    def marks(self) -> int:
        """How many marks there are; `counts["marked"]` says how many records carry them."""
        marks = self.counts.get("natural", 0) + self.counts.get("introduced", 0)
        return marks or self.counts.get("marked", 0)

    @field_validator("columns")
    @classmethod
    def _name_the_columns(cls, columns: dict[str, str | None]) -> dict[str, str | None]:
        if columns.keys() - {"project"} != {"code", "id", "language"}:
            raise ValueError("must name code, id and language")
        return columns

    def to_line(self) -> bytes:
        """The first line of the manifest, without what this dataset or watermark has not."""
        fields = self.model_dump()
        later = "key_fingerprint priors languages licensee published repository"
        for name in later.split():
            if fields[name] is None:
                del fields[name]
        return orjson.dumps(fields)


@dataclass(frozen=True, slots=True)
class Carrier:
    """A record that carries marks."""

    row: int  # counted from 0 over the whole dataset
    id: str
    marks: tuple[Mark, ...]  # one, or one for each of several functions, in order
    # of a function in a repository: SHA-256 of its code with the mark, by which it is found again
    digest: str | None = None

    @property
    def edits(self) -> tuple[Edit, ...]:
        """All edits of the record, in order."""
        return tuple(in_order(edit for mark in self.marks for edit in mark.edits))

    def to_line(self) -> bytes:
        """One line of the manifest; edits are grouped, as most differ in their offset only."""
        marks = [
            {
                "function": mark.function,
                "parts": [[part.role, part.text, part.was] for part in mark.parts],
                "edits": _group(mark.edits),
                **({} if mark.draw is None else {"draw": asdict(mark.draw)}),
            }
            for mark in self.marks
        ]
        said = {} if self.digest is None else {"digest": self.digest}
        return orjson.dumps({"row": self.row, "id": self.id, "marks": marks, **said})

    @staticmethod
    def from_line(line: bytes) -> "Carrier":
        """The reverse of `to_line`; raises ValueError, with the reason, on anything else."""
        return _Line3.model_validate_json(line).to_carrier()


def _group(edits: Iterable[Edit]) -> list[tuple[str, str, list[int]]]:
    groups: dict[tuple[bytes, bytes], list[int]] = {}
    for edit in edits:
        groups.setdefault((edit.old, edit.new), []).append(edit.start)
    return [(old.decode(), new.decode(), starts) for (old, new), starts in groups.items()]


# What a line may hold. A manifest may come from a stranger, so nothing is guessed or converted.

_Parts = Annotated[tuple[tuple[Role, str, str | None], ...], Field(min_length=1)]
_Starts = Annotated[tuple[Count, ...], Field(min_length=1)]
_Edits = tuple[tuple[str, str, _Starts], ...]


def _mark(
    parts: Iterable[Part], edits: _Edits, function: int | None = None, draw: Draw | None = None
) -> Mark:
    return Mark(tuple(parts), _listed(edits), function, draw)


def _listed(edits: _Edits) -> tuple[Edit, ...]:
    listed = (Edit(at, old.encode(), new.encode()) for old, new, starts in edits for at in starts)
    return tuple(sorted(listed))


class _Mark3(_Part):
    function: Count | None
    parts: _Parts
    edits: _Edits
    draw: Draw | None = None  # only where a key drew the target

    def to_mark(self) -> Mark:
        return _mark((Part(*each) for each in self.parts), self.edits, self.function, self.draw)


class _Line3(_Part):
    row: Count
    id: str
    marks: Annotated[tuple[_Mark3, ...], Field(min_length=1)]
    digest: str | None = None

    def to_carrier(self) -> Carrier:
        marks = tuple(mark.to_mark() for mark in self.marks)
        return Carrier(self.row, self.id, marks, self.digest)


class _Line2(_Part):
    row: Count
    id: str
    parts: _Parts
    edits: _Edits

    def to_carrier(self) -> Carrier:
        mark = _mark((Part(*each) for each in self.parts), self.edits)
        return Carrier(self.row, self.id, (mark,))


class _Line1(_Part):
    row: Count
    id: str
    prefix: str
    suffix: str
    target: str
    replaced: str | None
    introduced: str | None
    edits: _Edits

    def to_carrier(self) -> Carrier:
        parts = (
            Part("prefix", self.prefix, self.introduced),
            Part("suffix", self.suffix),
            Part("target", self.target, self.replaced),
        )
        return Carrier(self.row, self.id, (_mark(parts, self.edits),))


LINES: Mapping[int, type[_Line1 | _Line2 | _Line3]] = {1: _Line1, 2: _Line2, 3: _Line3}


def _why_impossible(carrier: Carrier) -> str | None:
    """Why no run of `embed` wrote these marks, or None."""
    functions = [mark.function for mark in carrier.marks]
    if len(functions) > 1 and None in functions:
        return "a mark of the whole snippet beside another one"
    if len(set(functions)) < len(functions):
        return "two marks in one function"
    if not all(any(part.role == "target" for part in mark.parts) for mark in carrier.marks):
        return "a mark without a target"
    for before, after in pairwise(carrier.edits):
        if after.start < before.end:
            return f"edits overlap at byte {after.start}"
    if any(edit.old == edit.new for edit in carrier.edits):
        return "an edit that changes nothing"
    return None


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
        edits = _read_edits(self._lines[row])
        return invert_edits(edits) if self._undo else edits

    def __contains__(self, row: object) -> bool:
        return row in self._lines

    def __iter__(self) -> Iterator[int]:
        return iter(self._lines)

    def __len__(self) -> int:
        return len(self._lines)


def _read_edits(line: bytes) -> tuple[Edit, ...]:
    """`Carrier.from_line(line).edits` of a line that was written or read here, and so is sound."""
    marks = orjson.loads(line)["marks"]
    edits = (edit for mark in marks for edit in _listed(mark["edits"]))
    return tuple(in_order(edits))


def write_manifest(manifest: Manifest, path: Path) -> None:
    """Write a manifest where no file is yet: on the disk when this ends, with mode 0600."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as file:
        _write_lines(manifest, path, file)
        file.flush()
        os.fsync(file.fileno())


def _write_lines(manifest: Manifest, path: Path, file: Any) -> None:
    lines = chain((manifest.header.to_line(),), manifest.lines.values())
    if path.suffix != ".gz":
        file.writelines(line + b"\n" for line in lines)
        return
    # no name and no time in the header: the same marks give the same bytes
    with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as packed:
        packed.writelines(line + b"\n" for line in lines)


def is_manifest(path: Path) -> bool:
    """Whether a file begins as a manifest does, packed or plain."""
    try:
        with _opened(path) as stream:
            return stream.read(64).startswith(b'{"format":"%b"' % FORMAT.encode())
    except ManifestError:
        return False


def manifest_digest(path: Path | str) -> str:
    """SHA-256 of a manifest's text, packed or not: `zcat marks.jsonl.gz | sha256sum`."""
    state = hashlib.sha256()
    with _opened(Path(path)) as stream:
        while some := stream.read(1 << 20):
            state.update(some)
    return state.hexdigest()


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    """The text of a manifest, unpacked as it is read."""
    if path.exists() and not (path.is_file() or path.is_dir()):  # one would wait for a pipe
        raise ManifestError(f"{path}: not a file but a pipe or a device; put it into a file first")
    try:
        with path.open("rb") as file:
            is_packed = file.read(2) == b"\x1f\x8b"
            file.seek(0)
            if not is_packed:
                yield file
                return
            with gzip.open(file) as packed:
                yield cast("BinaryIO", packed)
    except (OSError, EOFError, zlib.error) as exc:
        raise ManifestError(f"{path}: cannot read the manifest: {exc}") from exc


def load_manifest(path: Path | str) -> Manifest:
    """Read a manifest of this or an earlier version, packed or plain."""
    path = Path(path)
    with _opened(path) as stream:
        lines_of_file = _lines(path, stream)
        header = _read_header(path, next(lines_of_file, b""))
        lines = Lines.of(_read_lines(path, header, lines_of_file))
    if len(lines) != header.counts.get("marked"):
        raise ManifestError(
            f"{path}: {len(lines)} marks, but the header counts {header.counts.get('marked')}; "
            "the file is cut short or was edited"
        )
    return Manifest(header, lines)


def _lines(path: Path, stream: BinaryIO) -> Iterator[bytes]:
    """Each line without its end; a packed one may be longer than any memory."""
    number = 1
    while whole := stream.readline(LONGEST_LINE + 1):
        if len(whole) > LONGEST_LINE:
            raise ManifestError(f"{path}:{number}: longer than {LONGEST_LINE:,} bytes; not a mark")
        yield whole.removesuffix(b"\n").removesuffix(b"\r")
        number += 1


def _read_lines(path: Path, header: Header, lines: Iterator[bytes]) -> Iterator[tuple[int, bytes]]:
    """Each line by its row, in the spelling of this version."""
    last = -1
    most = header.counts.get("marked", 0)
    for number, line in enumerate(lines, start=2):
        if number - 1 > most:
            raise ManifestError(
                f"{path}:{number}: a mark more than the {most:,} that the header counts; the file "
                "was edited"
            )
        try:
            carrier = LINES[header.version].model_validate_json(line).to_carrier()
        except ValidationError as exc:
            raise ManifestError(f"{path}:{number}: not a mark: {_first_error(exc)}") from exc
        if carrier.row <= last:
            raise ManifestError(f"{path}:{number}: row {carrier.row} stands after row {last}")
        if reason := _why_impossible(carrier):
            raise ManifestError(f"{path}:{number}: not a mark: {reason}")
        last = carrier.row
        yield last, line if header.version == VERSION else carrier.to_line()


def _read_header(path: Path, line: bytes) -> Header:
    try:
        fields = orjson.loads(line)
    except orjson.JSONDecodeError as exc:
        raise ManifestError(f"{path}: not a PuzzleMark manifest") from exc
    if not isinstance(fields, dict) or fields.get("format") != FORMAT:
        raise ManifestError(f"{path}: not a PuzzleMark manifest")
    version = fields.get("version")
    if not isinstance(version, int) or version not in LINES:
        raise ManifestError(
            f"{path}: made by a newer version of PuzzleMark "
            f"(format {version}, this one reads up to {VERSION}); upgrade"
        )
    try:
        return Header.model_validate_json(line)
    except ValidationError as exc:
        raise ManifestError(f"{path}:1: the header is damaged: {_first_error(exc)}") from exc


def _first_error(exc: ValidationError) -> str:
    """`marks.0.parts.1: what is wrong with it`."""
    first = exc.errors(include_url=False, include_input=False)[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}".removeprefix(": ")
