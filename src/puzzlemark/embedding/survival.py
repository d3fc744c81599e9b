"""Which marks are still there after somebody changed the dataset: records are aligned by id.

Rows may have been dropped, moved, added or edited. The manifest says what each mark put where, but
not the code around it. So a mark that no longer stands where it stood is looked for by its own
texts, and counts as broken when these are too plain to be known again (the `0, ` of `range(0, n)`).
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from puzzlemark.corpora.base import Corpus, Entry
from puzzlemark.corpora.records import RECORD_BYTES, Rows, corpus_digest, record_digest
from puzzlemark.embedding.manifest import Carrier, Manifest
from puzzlemark.errors import CorpusError
from puzzlemark.snippet import Edit, invert_edits
from puzzlemark.watermarks.base import Mark

# broken: its record is there, but not all of the mark; dropped: no record has its id
Fate: TypeAlias = Literal["survived", "broken", "dropped"]

_NAME = re.compile(rb"[A-Za-z_\x80-\xff][\w\x80-\xff]*")
_PART_OF_NAME = rb"[\w\x80-\xff]"


@dataclass(frozen=True, slots=True)
class Survival:
    """What became of the marks of a manifest."""

    fates: tuple[tuple[int, Fate], ...]  # of each mark, beside its row in the marked dataset
    records: int  # of the changed dataset
    is_unchanged: bool  # it has the ids and codes of the marked one, in the same order

    @property
    def survived(self) -> int:
        """Marks that are still there, where they were or elsewhere in their record."""
        return self._count("survived")

    @property
    def broken(self) -> int:
        """Marks of which a part is gone, while their record is there."""
        return self._count("broken")

    @property
    def dropped(self) -> int:
        """Marks whose record is gone."""
        return self._count("dropped")

    def _count(self, fate: Fate) -> int:
        return sum(each == fate for _, each in self.fates)


def survey_marks(manifest: Manifest, changed: Corpus, *, rows: Rows | None = None) -> Survival:
    """Count the marks that survived in a changed dataset: one pass over it.

    A record is found by its id, wherever it stands. Where ids are missing or repeat they tell
    nothing; then only the marked dataset as it was written is accepted, whose rows are known. Who
    made the change may say by `rows` which record of the marked dataset each of the first ones is.
    """
    by_id: dict[str, list[int]] = {}
    for carrier in manifest:
        by_id.setdefault(carrier.id, []).append(carrier.row)
    doubt = _doubt(manifest, by_id, changed) if rows is None else None
    found: dict[int, list[Fate]] = {}
    digests = bytearray()
    for entry in changed.entries():
        digests += record_digest(entry.id, entry.code)
        for row in by_id.get(entry.id, ()) if rows is None else _row_at(rows, entry.row, manifest):
            if row in found and doubt is None:
                doubt = f"the id {entry.id!r} stands in several records"
            found[row] = _judge(Carrier.from_line(manifest.lines[row]), entry)
    is_unchanged = corpus_digest(bytes(digests)) == manifest.header.output.digest
    if doubt is not None and not is_unchanged:
        raise CorpusError(
            f"{changed.path}: {doubt}, so marks cannot be found by id; nor by row, as this is not "
            "the dataset as it was marked; give each record an id of its own before embedding"
        )
    fates = _all_there(manifest) if is_unchanged else _as_found(manifest, found)
    return Survival(tuple(fates), len(digests) // RECORD_BYTES, is_unchanged)


def _row_at(rows: Rows, place: int, manifest: Manifest) -> tuple[int, ...]:
    """The marked row that now stands at a place, if one does; records added come after all."""
    row = int(rows[place]) if place < len(rows) else -1
    return (row,) if row in manifest.lines else ()


def judge_mark(mark: Mark, written: Sequence[Edit], code: bytes) -> Fate:
    """The fate of one mark in its record's code; `written` are the edits that would undo it."""
    names = [text for part in mark.parts if _NAME.fullmatch(text := part.text.encode())]
    if not all(_occurrences(name, code) for name in names):
        return "broken"
    if all(code[edit.start : edit.end] == edit.old for edit in written):
        return "survived"
    wanted = Counter(edit.old for edit in written)
    has_moved = all(
        _NAME.search(text) is not None and _occurrences(text, code) >= count
        for text, count in wanted.items()
    )
    return "survived" if has_moved else "broken"


def _doubt(manifest: Manifest, rows: Mapping[str, list[int]], changed: Corpus) -> str | None:
    """Why ids might not tell the carriers, as far as it is known before the dataset is read."""
    column = manifest.header.columns["id"]
    if column is None or changed.columns.id is None:
        return "no column holds ids"
    if changed.columns.id != column:
        return f"its ids are read from column {changed.columns.id!r}, not {column!r}"
    for name, those in rows.items():
        if len(those) > 1:
            return f"the id {name!r} stands in several marked records"
        if re.fullmatch(rf"row:{those[0]}|row:\d+#\d+", name):
            return f"the marked record of row {those[0]} has no id"
    return None


def _judge(carrier: Carrier, entry: Entry) -> list[Fate]:
    """The fate of each mark of a carrier whose record is this one."""
    if entry.code is None:
        return ["broken"] * len(carrier.marks)
    code = entry.code.encode("utf-8", "surrogatepass")
    # offsets count from the original code; each mark of a record moves those after it
    undoing = dict(zip(carrier.edits, invert_edits(carrier.edits), strict=True))
    return [
        judge_mark(mark, [undoing[edit] for edit in mark.edits], code) for mark in carrier.marks
    ]


def _all_there(manifest: Manifest) -> Iterator[tuple[int, Fate]]:
    return ((carrier.row, "survived") for carrier in manifest for _ in carrier.marks)


def _as_found(manifest: Manifest, found: Mapping[int, list[Fate]]) -> Iterator[tuple[int, Fate]]:
    for carrier in manifest:
        gone: list[Fate] = ["dropped"] * len(carrier.marks)
        yield from ((carrier.row, fate) for fate in found.get(carrier.row, gone))


def _occurrences(text: bytes, code: bytes) -> int:
    """How often a text stands in the code, not as a part of a longer name."""
    before = b"(?<!%b)" % _PART_OF_NAME if re.match(_PART_OF_NAME, text) else b""
    after = b"(?!%b)" % _PART_OF_NAME if re.match(_PART_OF_NAME, text[-1:]) else b""
    return len(re.findall(before + re.escape(text) + after, code))
