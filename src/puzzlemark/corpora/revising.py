"""What becomes of each changed record, and what could not be brought up to date."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from puzzlemark.corpora.derived import (
    KEPT,
    NOT_COMPUTED,
    OPAQUE,
    UNKNOWN,
    CellChange,
    Change,
    Derivations,
    TextEdits,
    computable,
    derive,
)
from puzzlemark.corpora.kinds import PLACERS, fitting_hashes, is_certain
from puzzlemark.corpora.records import Columns, Record
from puzzlemark.errors import CorpusError, EditMismatch
from puzzlemark.snippet import Edit

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

SHORTEST_LINE = 12  # a shorter line (`x = 1`) says nothing


Changes: TypeAlias = Mapping[int, tuple[Edit, ...]]  # row of the whole dataset -> its edits


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

    @classmethod
    def of(cls, records: int, revisions: Iterable[Revision], code: str) -> "Tally":
        """So many records, some of them revised; `code` names the column of the edits."""
        recomputed: Counter[str] = Counter()
        stale: Counter[tuple[str, str]] = Counter()
        for revision in revisions:
            recomputed.update(revision.cells.keys() - {code})
            stale.update(revision.stale.items())
        return cls(records, 0, recomputed, stale)

    @property
    def written(self) -> int:
        """All of them."""
        return self.records + self.added

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(
            self.records + other.records,
            self.added + other.added,
            self.recomputed + other.recomputed,
            self.stale + other.stale,
        )


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

    def __reduce__(self) -> tuple[type[dict[int, tuple[Edit, ...]]], tuple[Any]]:
        return dict, ({row: self._whole[row] for row in self._rows},)


@dataclass(frozen=True, slots=True)
class Reviser:
    """The edits of a dataset, or of one shard of it, by row of the whole dataset."""

    columns: Columns
    changes: Changes
    derivations: Derivations
    rows: list[int]  # of the changes, sorted

    @classmethod
    def of(cls, columns: Columns, changes: Changes, derivations: Derivations) -> "Reviser":
        """A reviser for these changes; a change without edits is none."""
        rows = sorted(row for row, edits in changes.items() if edits)
        return cls(columns, changes, derivations, rows)

    @property
    def changing(self) -> frozenset[str]:
        """The columns that may change, in whichever rows."""
        return frozenset({self.columns.code, *computable(self.derivations)})

    def rows_in(self, start: int, end: int) -> list[int]:
        """The rows to change from `start` up to, not including, `end`."""
        return self.rows[bisect_left(self.rows, start) : bisect_left(self.rows, end)]

    def part(self, rows: Sequence[int]) -> "Reviser":
        """The same for some of its rows; it can be sent to another process, and is small there."""
        return replace(self, changes=_Part(self.changes, rows), rows=list(rows))

    def revise(self, row: int, record: Record, where: str) -> Revision:
        """What to change in this record."""
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
        return self._derive(record, change, where)

    def _derive(self, record: Record, change: Change, where: str) -> Revision:
        cells: dict[str, CellChange] = {self.columns.code: TextEdits({0: change.edits})}
        settled = {self.columns.code}
        stale: dict[str, str] = {}
        for column, kind in self.derivations.items():
            cell = record.get(column)
            if cell is None or column == self.columns.code:
                continue
            try:
                outcome = derive(kind, cell, change) if kind not in NOT_COMPUTED else None
            except CorpusError as exc:
                raise CorpusError(f"{where}: column {column!r}: {exc}") from exc
            if outcome is None:
                if reason := _complaint(kind):
                    stale[column] = reason
                continue
            settled.add(column)
            if _has_effect(outcome):
                cells[column] = outcome
        rest = {name: cell for name, cell in record.items() if name not in settled | stale.keys()}
        return Revision(cells, stale | find_leftovers(rest, change))


def _complaint(kind: str) -> str | None:
    if kind in NOT_COMPUTED:
        return {KEPT: IS_THE_ID, UNKNOWN: CANNOT_RECOMPUTE, OPAQUE: IS_OPAQUE}[kind]
    # whether a text still shows the old code is seen in the text itself
    return None if kind in PLACERS and kind != "tokens" else DID_NOT_MATCH


def _has_effect(outcome: CellChange) -> bool:
    return bool(outcome.items) if isinstance(outcome, TextEdits) else outcome.old != outcome.new


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
