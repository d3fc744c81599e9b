"""Marks to look at: a dataset, original or marked, and its manifest give both sides of each."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any, Literal

import numpy as np

from puzzlemark.corpora.base import Corpus, Entry
from puzzlemark.embedding.manifest import Carrier, Header, Manifest, load_manifest
from puzzlemark.embedding.survey import reopen
from puzzlemark.errors import ManifestError, UsageError
from puzzlemark.languages.base import find
from puzzlemark.snippet import Edit, Snippet, apply_edits, invert_edits
from puzzlemark.stores import Location
from puzzlemark.syntax.tree import parse
from puzzlemark.watermarks.base import Mark, Part, Place, Role, Watermark, from_settings

SideName = Literal["original", "marked"]


@dataclass(frozen=True, slots=True)
class Span:
    """A part of the mark at its place, in characters."""

    start: int
    end: int
    role: Role


@dataclass(frozen=True, slots=True)
class Side:
    """The snippet before or after, and the parts of the mark in it."""

    code: str
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Shown:
    """One mark, and both sides of its snippet with all the marks that it carries."""

    row: int
    id: str
    language: str
    mark: Mark
    before: Side
    after: Side

    @property
    def parts(self) -> tuple[Part, ...]:
        """What the mark consists of."""
        return self.mark.parts

    @property
    def function(self) -> int | None:
        """The index of its function in the snippet; None: the mark is the whole snippet's."""
        return self.mark.function

    def to_json(self) -> dict[str, Any]:
        """Plain data for a JSON object."""
        return {
            "row": self.row,
            "id": self.id,
            "function": self.function,
            "language": self.language,
            "parts": [asdict(part) for part in self.parts],
            "before": self.before.code,
            "after": self.after.code,
        }


@dataclass(frozen=True, slots=True)
class Showing:
    """Some marks of a dataset."""

    input: str
    side: SideName | None  # what the dataset is; None: these marks changed nothing in it
    header: Header
    total: int  # marks in the manifest
    marks: tuple[Shown, ...]


def show(
    path: Path | str,
    manifest: Path | str,
    *,
    limit: int | None = 5,
    ids: Collection[str] = (),
    rows: Collection[int] | None = None,
) -> Showing:
    """The first marks, or those of some records, from the original or the marked dataset.

    `show("marked.jsonl.gz", "marks.jsonl.gz", limit=1).marks[0].parts[-1].text -> "key_iterator"`
    """
    loaded = load_manifest(manifest)
    carriers = _choose(loaded, Path(manifest), ids)
    if rows is not None:
        carriers = [carrier for carrier in carriers if carrier.row in rows]
    carriers = _first(carriers, limit)
    corpus = reopen(path, loaded.header)
    entries = read_entries(corpus, carriers, Path(manifest))
    side = which_side(path, manifest, carriers, entries)
    scheme = loaded.header.watermark
    watermark = from_settings(scheme.scheme, scheme.settings)
    marks = tuple(
        shown
        for carrier, entry in zip(carriers, entries, strict=True)
        for shown in _shown(watermark, carrier, entry, side)
    )
    return Showing(str(path), side, loaded.header, loaded.header.marks, marks[:limit])


def _first(carriers: list[Carrier], limit: int | None) -> list[Carrier]:
    """As many carriers as have the marks that are to be shown."""
    if limit is None:
        return carriers
    before = accumulate((len(carrier.marks) for carrier in carriers), initial=0)
    return [carrier for carrier, marks in zip(carriers, before, strict=False) if marks < limit]


def _choose(manifest: Manifest, path: Path, ids: Collection[str]) -> list[Carrier]:
    if not ids:
        return list(manifest)
    wanted = set(ids)
    found = [carrier for carrier in manifest if carrier.id in wanted]
    if missing := sorted(wanted - {carrier.id for carrier in found}):
        raise UsageError(f"{path}: no mark in the record {', '.join(missing)}; ids are exact")
    return found


def read_entries(corpus: Corpus, carriers: Sequence[Carrier], manifest: Path) -> list[Entry]:
    """The records of some carriers; a dataset that does not have them is refused."""
    rows = np.array([carrier.row for carrier in carriers], np.int64)
    entries = list(corpus.entries(rows))
    for carrier, entry in zip(carriers, entries, strict=False):
        if entry.id != carrier.id or entry.code is None:
            raise _wrong(corpus.path, manifest, f"row {carrier.row} is the record {entry.id!r}")
    if len(entries) < len(carriers):
        raise _wrong(corpus.path, manifest, f"it has no row {carriers[len(entries)].row}")
    return entries


def which_side(
    path: Location | str,
    manifest: Path | str,
    carriers: Sequence[Carrier],
    entries: Sequence[Entry],
) -> SideName | None:
    """Which of the two datasets this is, by the bytes at the places of the edits."""
    edited = [
        ((entry.code or "").encode(), carrier)
        for carrier, entry in zip(carriers, entries, strict=True)
        if carrier.edits
    ]
    if not edited:
        return None
    if all(_stand(code, invert_edits(carrier.edits)) for code, carrier in edited):
        return "marked"
    for code, carrier in edited:
        if not _stand(code, carrier.edits):
            raise _wrong(path, manifest, f"row {carrier.row} has neither the old nor the new code")
    return "original"


def _stand(code: bytes, edits: Sequence[Edit]) -> bool:
    """Whether each edit finds what it replaces, as a whole word: `key` is not in `key_of`."""
    return all(
        code[edit.start : edit.end] == edit.old
        and not _continue(edit.old[-1:], code[edit.end : edit.end + 1])
        and not _continue(code[max(0, edit.start - 1) : edit.start], edit.old[:1])
        for edit in edits
    )


def _continue(left: bytes, right: bytes) -> bool:
    return all(byte.isalnum() or byte == b"_" for byte in (left, right))


def _shown(
    watermark: Watermark, carrier: Carrier, entry: Entry, side: SideName | None
) -> Iterator[Shown]:
    undo = invert_edits(carrier.edits)
    code = (entry.code or "").encode()
    before = apply_edits(code, undo) if side == "marked" else code
    after = code if side == "marked" else apply_edits(code, carrier.edits)
    language = find(entry.language or "")
    assert language is not None, "the record was parsed when it was marked"
    tree = parse(Snippet(entry.id, after.decode(), language.name))
    for mark in carrier.marks:
        places = watermark.locate(tree, mark)
        earlier = [
            Place(_moved(place.start, undo), _moved(place.end, undo, is_end=True), place.role)
            for place in places
        ]
        yield Shown(
            carrier.row,
            carrier.id,
            language.name,
            mark,
            _side(before, [place for place in earlier if place.start < place.end]),
            _side(after, places),
        )


def _moved(offset: int, edits: Sequence[Edit], *, is_end: bool = False) -> int:
    """Where an offset is after the edits; one inside an edit goes to its start or its end."""
    shift = 0
    for edit in edits:
        if edit.end < offset or (edit.end == offset and (edit.old or is_end)):
            shift += len(edit.new) - len(edit.old)
        elif edit.start < offset:
            return edit.start + shift + (len(edit.new) if is_end else 0)
    return offset + shift


def _side(code: bytes, places: Sequence[Place]) -> Side:
    spans = (
        Span(len(code[: place.start].decode()), len(code[: place.end].decode()), place.role)
        for place in places
    )
    return Side(code.decode(), tuple(spans))


def _wrong(path: Location | str, manifest: Path | str, why: str) -> ManifestError:
    return ManifestError(
        f"{path}: neither the original nor the marked dataset of {manifest}: {why}; "
        "pass the dataset that this manifest was made with"
    )
