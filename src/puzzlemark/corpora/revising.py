"""What becomes of each changed record, and what could not be brought up to date."""

from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from puzzlemark.corpora.derived import (
    KEPT,
    NOT_COMPUTED,
    OPAQUE,
    UNKNOWN,
    CellChange,
    Change,
    Derivations,
    InnerEdits,
    NewValue,
    TextEdits,
    change_cell,
    computable,
    derive_all,
    fits,
    value_at,
)
from puzzlemark.corpora.filing import Filed
from puzzlemark.corpora.kinds import PLACERS, fitting_hashes, is_certain
from puzzlemark.corpora.nested import At, Piece, named_around
from puzzlemark.corpora.records import Columns, Record, Rows, owners_of
from puzzlemark.errors import CorpusError, EditMismatch
from puzzlemark.snippet import Edit, apply_edits, invert_edits

CANNOT_RECOMPUTE = "its name says that it is derived from the code, but it cannot be recomputed"
IS_THE_ID = "is computed from the code, but kept as the id; pass another --id-column"
DID_NOT_MATCH = "did not match the code before, so it was left as it is"
IS_OPAQUE = (
    "looks like a digest of something we do not know; if it is computed from the code, it will "
    "tell the marks: compute it again or drop it"
)
IS_OLD_DIGEST = "is still a digest of the old code; compute it again or drop it"
HAS_OLD_CODE = "still contains the old code"
HAS_OLD_LINE = "still contains a line of the old code"
NAMES_OLD = "speaks of a variable by its old name"

SHORTEST_LINE = 12  # a shorter line (`x = 1`) says nothing


Changes: TypeAlias = Mapping[int, tuple[Edit, ...]]  # row of the whole dataset -> its edits


class Unrestorable(EditMismatch):
    """Edits that `revert` could not take out again: the text would then hold other snippets."""


@dataclass(frozen=True, slots=True)
class Stale:
    """A column that may give changed records away, with how many of them and why."""

    column: str
    reason: str
    records: int


@dataclass(frozen=True, slots=True)
class Revision:
    """The cells of one record that change, and the columns that should have."""

    cells: Mapping[str, CellChange]
    stale: Mapping[str, str]  # column -> reason

    def without(self, refused: Iterable[str]) -> "Revision":
        """The same when the cells of some columns had to stay as they are."""
        kept = dict.fromkeys(refused, DID_NOT_MATCH)
        cells = {column: change for column, change in self.cells.items() if column not in kept}
        return Revision(cells, {**self.stale, **kept})


@dataclass(frozen=True, slots=True)
class Tally:
    """What became of some records that were written; tallies add up."""

    records: int = 0  # of the dataset
    added: int = 0  # records after them
    recomputed: Counter[str] = field(default_factory=Counter)  # column -> cells that changed
    stale: Counter[tuple[str, str]] = field(default_factory=Counter)  # column and reason
    grown: int = 0  # bytes of text more than before

    @classmethod
    def of(cls, records: int, revisions: Iterable[Revision], code: str) -> "Tally":
        """So many records, some of them revised; `code` names the column of the edits."""
        recomputed: Counter[str] = Counter()
        stale: Counter[tuple[str, str]] = Counter()
        grown = 0
        for revision in revisions:
            grown += sum(map(_growth, revision.cells.values()))
            recomputed.update(revision.cells.keys() - {code})
            stale.update(revision.stale.items())
        return cls(records, 0, recomputed, stale, grown)

    @property
    def written(self) -> int:
        """All of them."""
        return self.records + self.added

    def to_json(self) -> dict[str, Any]:
        """To be kept by an interrupted run; what is added is not."""
        return {
            "records": self.records,
            "grown": self.grown,
            "recomputed": self.recomputed,
            "stale": [[*named, n] for named, n in self.stale.items()],
        }

    @classmethod
    def from_json(cls, facts: Mapping[str, Any]) -> "Tally":
        """The same again."""
        stale = Counter({(column, reason): n for column, reason, n in facts["stale"]})
        recomputed = Counter(facts["recomputed"])
        return cls(facts["records"], 0, recomputed, stale, facts["grown"])

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(
            self.records + other.records,
            self.added + other.added,
            self.recomputed + other.recomputed,
            self.stale + other.stale,
            self.grown + other.grown,
        )


def _growth(change: CellChange) -> int:
    """How many bytes of text a cell has more than before."""
    if isinstance(change, NewValue):
        old, new = change.old, change.new
        both = isinstance(old, str | bytes) and isinstance(new, str | bytes)
        return len(new) - len(old) if both else 0  # type: ignore[arg-type]
    texts = change.items if isinstance(change, TextEdits) else change.texts
    return sum(len(edit.new) - len(edit.old) for edits in texts.values() for edit in edits)


class _Part(Mapping[int, tuple[Edit, ...]]):
    """The changes of some rows: a view here, and those changes alone where it is sent to."""

    def __init__(self, whole: Changes, rows: Sequence[int]) -> None:
        self._whole = whole
        self._rows = rows

    def __getitem__(self, row: int) -> tuple[Edit, ...]:
        return self._whole[row]

    def __iter__(self) -> Iterator[int]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __reduce__(self) -> tuple[Any, ...]:
        if isinstance(self._whole, Filed):
            return self._whole.part(self._rows).__reduce__()
        return dict, ({row: self._whole[row] for row in self._rows},)


class _Grouped(Mapping[int, Mapping[int, tuple[Edit, ...]]]):
    """Changes of snippets by record, and by their number in it."""

    def __init__(self, changes: Changes, rows: Sequence[int], firsts: Rows) -> None:
        self._changes, self._firsts = changes, firsts
        self._rows: dict[int, list[int]] = {}
        owners = owners_of(firsts, np.asarray(rows, dtype=np.int64)).tolist()
        for row, owner in zip(rows, owners, strict=True):
            self._rows.setdefault(owner, []).append(row)

    def __getitem__(self, record: int) -> Mapping[int, tuple[Edit, ...]]:
        first = int(self._firsts[record])
        return {row - first: self._changes[row] for row in self._rows[record]}

    def __iter__(self) -> Iterator[int]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)


@dataclass(frozen=True, slots=True)
class Reviser:
    """The edits of a dataset, or of one shard of it, by record of the whole dataset."""

    columns: Columns
    changes: Mapping[int, Any]  # a record's edits; of several snippets, those of each number
    derivations: Derivations
    rows: Sequence[int]  # of the records to change, sorted
    searched: Sequence[int] = ()  # sorted: of those in which nothing is left of the old code

    @classmethod
    def of(
        cls,
        columns: Columns,
        changes: Changes,
        derivations: Derivations,
        firsts: Rows | None = None,
        searched: Rows | None = None,
    ) -> "Reviser":
        """A reviser for these changes; a change without edits is none.

        `firsts` says where each record's first snippet stands, where records hold several. Rows
        that were `searched` are known to show nothing of the old code beside the code itself.
        """
        # eight bytes each, where Python's own numbers have forty
        rows = array("q", (row for row, edits in changes.items() if edits))
        if any(later < row for row, later in pairwise(rows)):
            rows = array("q", sorted(rows))
        if columns.inner is None:
            known = () if searched is None else array("q", searched.astype(np.int64).tobytes())
            return cls(columns, changes, derivations, rows, known)
        assert firsts is not None
        if rows and not 0 <= rows[0] <= rows[-1] < firsts[-1]:
            raise EditMismatch(
                f"no snippet {rows[-1]:,} among {firsts[-1]:,}; not the dataset of the edits"
            )
        grouped = _Grouped(changes, rows, firsts)
        return cls(columns, grouped, derivations, list(grouped))

    @property
    def changing(self) -> frozenset[str]:
        """The columns that may change, in whichever rows."""
        return frozenset({self.columns.field, *computable(self.derivations)})

    def rows_in(self, start: int, end: int) -> list[int]:
        """The rows to change from `start` up to, not including, `end`."""
        return list(_between(self.rows, start, end))

    def filed(self, path: Path) -> "Reviser":
        """The same with its edits in a file, which whoever gets a part of it reads."""
        if self.columns.inner is not None:  # edits within edits, which are few
            return self
        return replace(self, changes=Filed.write(path, self.changes, self.rows))

    def part(self, rows: Sequence[int]) -> "Reviser":
        """The same for some of its rows; it can be sent to another process, and is small there."""
        chosen = array("q", rows)
        ends = (rows[0], rows[-1] + 1) if len(rows) else (0, 0)
        known = _between(self.searched, *ends)
        return replace(self, changes=_Part(self.changes, chosen), rows=chosen, searched=known)

    def preview(self, row: int, number: int | None, record: Record, where: str) -> Revision:
        """What would change if this snippet of the record alone did; Unrestorable if for good."""
        if number is None:
            return self.revise(row, record, where)
        alone = replace(self, changes={row: {number: self.changes[row][number]}})
        revision = alone.revise(row, record, where)
        alone.require_restorable(row, record, where)
        return revision

    def revise(self, row: int, record: Record, where: str) -> Revision:
        """What to change in this record."""
        if self.columns.inner is not None:
            try:
                return self._revise_inside(row, record, where)
            except UnicodeError as exc:
                raise EditMismatch(f"{where}: the code to change is not valid Unicode") from exc
            except EditMismatch as exc:
                raise EditMismatch(f"{where}: {exc}; this is not the dataset of the edits") from exc
        code = record[self.columns.code]
        if not isinstance(code, str | bytes):
            raise EditMismatch(f"{where}: no code to change; this is not the dataset of the edits")
        try:
            source = code.encode() if isinstance(code, str) else code.decode().encode()
            change = Change.of(source, self.changes[row])
        except UnicodeError as exc:
            raise EditMismatch(f"{where}: the code to change is not valid Unicode") from exc
        except EditMismatch as exc:
            raise EditMismatch(f"{where}: {exc}; this is not the dataset of the edits") from exc
        is_searched = bool(_between(self.searched, row, row + 1))
        edited = TextEdits({0: change.edits})
        return self._derive(record, edited, [change], where, is_searched=is_searched)

    def _revise_inside(self, row: int, record: Record, where: str) -> Revision:
        """The edits of each snippet as edits of the text that it stands in."""
        inner = self.columns.inner
        assert inner is not None
        parts: Mapping[int, tuple[Edit, ...]] = self.changes[row]
        pieces = inner.pieces(record)
        changes = _changes_of_texts(record, pieces, parts)
        edited = self._edit_of_column(changes)
        done = self._derive(record, edited, list(changes.values()), where)
        around = self._look_around(record, changes, [pieces[number].code for number in parts])
        names = {edit.old.decode() for edits in parts.values() for edit in edits}
        if inner.fenced and named_around(_texts(record[inner.column]), names):
            around[inner.column] = NAMES_OLD
        return Revision(done.cells, {**done.stale, **around})

    def _edit_of_column(self, changes: Mapping[At, Change]) -> CellChange:
        edited = {at[1:]: change.edits for at, change in changes.items()}
        return TextEdits({0: edited[()]}) if () in edited else InnerEdits(edited)

    def require_restorable(self, row: int, record: Record, where: str) -> None:
        """Raise unless the same snippets are found again, as edited, and can be undone exactly."""
        inner = self.columns.inner
        assert inner is not None
        parts: Mapping[int, tuple[Edit, ...]] = self.changes[row]
        before = inner.pieces(record)
        changes = _changes_of_texts(record, before, parts)
        cell = change_cell(record[inner.column], self._edit_of_column(changes))
        edited = {**record, inner.column: cell}
        after = inner.pieces(edited)
        expected = [
            apply_edits(_utf8(piece.code), parts[nth]) if nth in parts else piece.code
            for nth, piece in enumerate(before)
        ]
        if expected == [
            _utf8(each.code) if nth in parts else each.code for nth, each in enumerate(after)
        ]:
            undo = {nth: invert_edits(edits) for nth, edits in parts.items()}
            undone = _changes_of_texts(edited, after, undo)
            if all(undone[at].new == change.old for at, change in changes.items()):
                return
        raise Unrestorable(f"{where}: the text around the code would not come back as it was")

    def _look_around(
        self, record: Record, changes: Mapping[At, Change], codes: Sequence[Any]
    ) -> dict[str, str]:
        """What still shows the old code beside it: other texts of its column, digests of it."""
        column = self.columns.field
        others = record[column]
        for at in changes if self.columns.inner and self.columns.inner.steps else ():
            others = change_cell(others, InnerEdits({at[1:]: (_emptying(record, at),)}))
        found: dict[str, str] = {}
        if self.columns.inner and self.columns.inner.steps:
            for change in changes.values():
                found |= find_leftovers({column: others}, change)
        digests = {
            name: IS_OLD_DIGEST
            for name, cell in record.items()
            if name not in self.derivations
            and any(isinstance(code, str) and is_digest(code, cell) for code in codes)
        }
        return found | digests

    def _derive(
        self,
        record: Record,
        edited: CellChange,
        changes: Sequence[Change],
        where: str,
        *,
        is_searched: bool = False,
    ) -> Revision:
        field = self.columns.field
        cells: dict[str, CellChange] = {field: edited}
        settled = {field}
        stale: dict[str, str] = {}
        for column, kind in self.derivations.items():
            cell = record.get(column)
            if cell is None or column == field:
                continue
            try:
                outcome = derive_all(kind, cell, changes) if kind not in NOT_COMPUTED else None
            except CorpusError as exc:
                raise CorpusError(f"{where}: column {column!r}: {exc}") from exc
            if outcome is None:
                if (reason := _complaint(kind)) and not self._follows_another(kind, cell, record):
                    stale[column] = reason
                continue
            settled.add(column)
            if _has_effect(outcome):
                cells[column] = outcome
        if is_searched:
            return Revision(cells, stale)
        rest = {name: cell for name, cell in record.items() if name not in settled | stale.keys()}
        for change in changes:
            stale |= find_leftovers(rest, change)
        return Revision(cells, stale)

    def _follows_another(self, kind: str, cell: Any, record: Record) -> bool:
        """Whether a cell is computed from a text with code that stays as it is."""
        if self.columns.inner is None or kind in NOT_COMPUTED:
            return False
        texts = (text.value for text in self.columns.inner.cells(record))
        return any(
            isinstance(t, str) and fits(kind, cell, t.encode(errors="replace")) for t in texts
        )


def _between(rows: Sequence[int], start: int, end: int) -> Sequence[int]:
    """The sorted rows from `start` up to, not including, `end`."""
    return rows[bisect_left(rows, start) : bisect_left(rows, end)]


def _utf8(cell: Any) -> bytes:
    if not isinstance(cell, str | bytes):
        raise EditMismatch("no code to change")
    return cell.encode() if isinstance(cell, str) else cell.decode().encode()


def _emptying(record: Record, at: At) -> Edit:
    return Edit(0, _utf8(value_at(record, at)), b"")


def _changes_of_texts(
    record: Record, pieces: Sequence[Piece], parts: Mapping[int, tuple[Edit, ...]]
) -> dict[At, Change]:
    """What the edits of some snippets do to the texts that they stand in."""
    texts: dict[At, list[Edit]] = {}
    for number, edits in sorted(parts.items()):
        if number >= len(pieces) or pieces[number].code is None:
            raise EditMismatch(f"no snippet number {number}")
        piece = pieces[number]
        cell = _utf8(value_at(record, piece.at))
        texts.setdefault(piece.at, []).extend(piece.in_cell(cell, edits))
    return {at: Change.of(_utf8(value_at(record, at)), edits) for at, edits in texts.items()}


def _complaint(kind: str) -> str | None:
    if kind in NOT_COMPUTED:
        return {KEPT: IS_THE_ID, UNKNOWN: CANNOT_RECOMPUTE, OPAQUE: IS_OPAQUE}[kind]
    # whether a text still shows the old code is seen in the text itself
    return None if kind in PLACERS and kind != "tokens" else DID_NOT_MATCH


def _has_effect(outcome: CellChange) -> bool:
    if isinstance(outcome, TextEdits):
        return bool(outcome.items)
    return isinstance(outcome, InnerEdits) or outcome.old != outcome.new


def find_leftovers(cells: Mapping[str, Any], change: Change) -> dict[str, str]:
    """The columns in whose texts, at any depth, the old code can still be read."""
    old, new = (text.decode("utf-8", "replace") for text in (change.old, change.new))
    whole = old.strip()
    kept = {line.strip() for line in new.split("\n")}
    lines = {line.strip() for line in old.split("\n")} - kept
    telling = [line for line in sorted(lines) if len(line) >= SHORTEST_LINE]
    # a line that can also be read in the new code tells nothing
    telling = [line for line in telling if not _has_words(new, line)]
    found: dict[str, str] = {}
    for name, cell in cells.items():
        texts = list(_texts(cell))
        if len(whole) >= SHORTEST_LINE and any(whole in text for text in texts):
            found[name] = HAS_OLD_CODE
        elif any(_has_words(text, line) for text in texts for line in telling):
            found[name] = HAS_OLD_LINE
        elif is_digest(old, cell):
            found[name] = IS_OLD_DIGEST
    return found


def _has_words(text: str, words: str) -> bool:
    """Whether a text has these words in it: `total = 1` is not in `key_total = 1`."""
    at = text.find(words)
    while at >= 0:
        before, after = text[at - 1 : at], text[at + len(words) : at + len(words) + 1]
        if not _goes_on(before, words[0]) and not _goes_on(words[-1], after):
            return True
        at = text.find(words, at + 1)
    return False


def _goes_on(left: str, right: str) -> bool:
    """Whether two neighbours are of one word."""
    return (left + right).replace("_", "a").isalnum() and bool(left) and bool(right)


def is_digest(code: str, cell: Any) -> bool:
    """Whether a cell is certainly a digest of the code."""
    return isinstance(cell, str | bytes) and is_certain(cell) and any(fitting_hashes(code, cell))


def _texts(cell: Any) -> Iterator[str]:
    waiting = [cell]  # no recursion: a record may be nested as deep as Python's stack
    while waiting:
        inner = waiting.pop()
        if isinstance(inner, str):
            yield inner
        elif isinstance(inner, bytes):
            yield inner.decode("utf-8", "replace")
        elif isinstance(inner, Mapping):
            waiting.extend(inner.values())
        elif isinstance(inner, list | tuple):
            waiting.extend(inner)


def refuse_rows_beyond(reviser: Reviser, records: int, where: str) -> None:
    """Raise when a change is meant for a row that the dataset does not have."""
    if reviser.rows and (reviser.rows[-1] >= records or reviser.rows[0] < 0):
        row = reviser.rows[-1] if reviser.rows[-1] >= records else reviser.rows[0]
        raise CorpusError(
            f"{where}: no row {row} among its {records} records; not the dataset of the edits"
        )
