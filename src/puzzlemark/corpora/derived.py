"""Columns that are derived from the code: found on a sample, recomputed when the code changes."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Protocol, TypeAlias

from puzzlemark.corpora.kinds import (
    NUMBERS,
    PLACERS,
    VALUES,
    Numeral,
    Text,
    Value,
    fitting_hashes,
    is_certain,
    looks_opaque,
    shorten,
)
from puzzlemark.corpora.nested import At
from puzzlemark.corpora.records import Columns, Record
from puzzlemark.errors import CorpusError
from puzzlemark.snippet import Edit, apply_edits, in_order, invert_edits

Derivations: TypeAlias = Mapping[str, str]  # column -> kind; plain JSON, for the manifest's header

SAMPLE = 512
KEPT = "kept as the id"  # computed from the code, but named by the user to identify records
UNKNOWN = "unknown"  # the name says that it is derived, but no kind fits
OPAQUE = "opaque"  # looks like a digest of something, but of nothing that we know
NOT_COMPUTED = frozenset({KEPT, UNKNOWN, OPAQUE})
# More cells than this share must fit. Cells that do not are met one by one, and stay as they are:
# they did not follow from the code before, and so tell nothing of it now.
MOST = 0.5
# Values that agree by accident are common among small numbers.
FEWEST_DISTINCT_NUMBERS = 3
ENOUGH = 64  # cells of which none is a digest: the others are none either

_SUGGESTIVE = re.compile(
    r"(?:^|_)(?:md5|sha1|sha224|sha256|sha384|sha512|blake2[bs]?|crc32|checksum|digest|hash|hexsha"
    r"|minhash|simhash|tokens?|ntokens|bpe|input_ids|embeddings?|ast|size|length|len|bytes|chars"
    r"|characters|char_count|lines|nlines|line_count|loc|nloc|sloc|avg_line_length|mean_line_length"
    r"|max_line_length|line_mean|line_max|alphanum_fraction|alpha_frac|alphanum_frac)(?:_|$)"
)
# About something else than the code, whatever they count or hash.
_ABOUT_OTHERS = re.compile(
    r"doc|comment|summary|nl(?:_|$)|url|repo|commit|path|licen|query|title|desc|test|issue|star|fork"
)


def computable(derivations: Derivations) -> set[str]:
    """The columns that are recomputed, not only warned of."""
    return {column for column, kind in derivations.items() if kind not in NOT_COMPUTED}


class Sampled(Protocol):
    """What `infer` needs of a corpus."""

    @property
    def columns(self) -> Columns:
        """The columns with a part in it."""
        ...

    def records(self) -> Iterator[Record]:
        """The records, in order."""
        ...


def infer(corpus: Sampled) -> Derivations:
    """The columns derived from the code, judged by the first records that have code."""
    columns = corpus.columns
    usable = (record for record in corpus.records() if _is_usable(text_with_code(record, columns)))
    sample = list(islice(usable, SAMPLE))
    others = dict.fromkeys(name for record in sample for name in record if name != columns.field)
    kinds = ((name, _infer_kind(name, _pairs(sample, columns, name))) for name in others)
    found = {name: kind for name, kind in kinds if kind is not None}
    if corpus.columns.id in computable(found):
        found[corpus.columns.id] = KEPT
    return found


@dataclass(frozen=True, slots=True)
class Change:
    """One record's code before and after its edits."""

    old: bytes
    new: bytes
    edits: tuple[Edit, ...]

    @classmethod
    def of(cls, code: bytes, edits: Iterable[Edit]) -> "Change":
        """The change that these edits make."""
        ordered = tuple(in_order(edits))
        return cls(code, apply_edits(code, ordered), ordered)

    def inverse(self) -> "Change":
        """The change that takes this one back."""
        return Change(self.new, self.old, invert_edits(self.edits))


@dataclass(frozen=True, slots=True)
class TextEdits:
    """What happens to a text cell (item 0) or to the items of a list of tokens."""

    items: Mapping[int, tuple[Edit, ...]]


@dataclass(frozen=True, slots=True)
class NewValue:
    """A computed cell, before and after."""

    old: Value
    new: Value


@dataclass(frozen=True, slots=True)
class InnerEdits:
    """What happens to texts inside a cell of lists and structs, each found by its path."""

    texts: Mapping[At, tuple[Edit, ...]]


CellChange: TypeAlias = TextEdits | NewValue | InnerEdits


def derive(kind: str, cell: Any, change: Change) -> CellChange | None:
    """What the change of the code does to a cell; None when the cell did not follow from the code.

    Whatever is returned, deriving with the inverse change gives the old cell back. So a cell that
    by accident holds what follows from the *new* code gets what follows from the old one: it was
    wrong and stays wrong, and `revert` does not mistake it for one that was recomputed.
    """
    outcome = _follow(kind, cell, change)
    if kind in PLACERS and outcome is not None:
        return outcome  # `_follow` has moved the edits back already, and got the cell again
    outcome = outcome or _follow(kind, cell, change.inverse())
    after = cell if outcome is None else change_cell(cell, outcome)
    undone = _exchange(kind, after, change.inverse())
    if _is_same(after if undone is None else change_cell(after, undone), cell):
        return outcome
    raise CorpusError("its text could not be restored by revert; drop the column")


def _is_same(one: Any, other: Any) -> bool:
    """Whether two cells are spelled alike: where all are texts, a number is its digits."""
    if isinstance(one, Numeral) or isinstance(other, Numeral):
        return str(one) == str(other)
    return bool(one == other)


def _exchange(kind: str, cell: Any, change: Change) -> CellChange | None:
    return _follow(kind, cell, change) or _follow(kind, cell, change.inverse())


def _follow(kind: str, cell: Any, change: Change) -> CellChange | None:
    if kind not in PLACERS:
        old, new = (value_of(kind, code, cell) for code in (change.old, change.new))
        return NewValue(old, new) if old is not None and new is not None and old == cell else None
    text = text_of(cell)
    if text is None or (moved := _move(kind, text, change.old, change.edits)) is None:
        return None
    revised = edit_text(text, moved)
    back = _move(kind, revised, change.new, invert_edits(change.edits))
    if back is None or edit_text(revised, back) != text:
        return None
    return TextEdits(moved)


def change_cell(cell: Any, change: CellChange) -> Any:
    """The cell after its change, in its own type."""
    if isinstance(change, NewValue):
        return change.new
    if isinstance(change, InnerEdits):
        for at, edits in change.texts.items():
            cell = _change_inside(cell, at, edits)
        return cell
    text = text_of(cell)
    assert text is not None
    revised = edit_text(text, change.items)
    if isinstance(revised, list):
        return [_like(old, new) for old, new in zip(cell, revised, strict=True)]
    return _like(cell, revised)


def _change_inside(cell: Any, at: At, edits: tuple[Edit, ...]) -> Any:
    """A copy of the cell in which the text at a path is another."""
    if not at:
        return change_cell(cell, TextEdits({0: edits}))
    key, rest = at[0], at[1:]
    if isinstance(cell, Mapping):
        return {**cell, key: _change_inside(cell[key], rest, edits)}
    return [
        _change_inside(inner, rest, edits) if nth == key else inner
        for nth, inner in enumerate(cell)
    ]


def value_at(cell: Any, at: At) -> Any:
    """What stands at a path: `value_at({"a": [1, 2]}, ("a", 1)) -> 2`."""
    for key in at:
        cell = cell[key]
    return cell


def derive_all(kind: str, cell: Any, changes: Sequence[Change]) -> CellChange | None:
    """The same where several texts of a record changed, of which the cell may repeat some."""
    if len(changes) == 1:
        return derive(kind, cell, changes[0])
    follow = _merge if kind in PLACERS else _follow_first
    outcome = follow(kind, cell, changes)
    after = cell if outcome is None else change_cell(cell, outcome)
    undone = follow(kind, after, [change.inverse() for change in changes])
    if _is_same(after if undone is None else change_cell(after, undone), cell):
        return outcome
    raise CorpusError("its text could not be restored by revert; drop the column")


def _follow_first(kind: str, cell: Any, changes: Sequence[Change]) -> CellChange | None:
    """A value is computed from one of the texts: the first that it follows from."""
    outcomes = (_exchange(kind, cell, change) for change in changes)
    return next((outcome for outcome in outcomes if outcome is not None), None)


def _merge(kind: str, cell: Any, changes: Sequence[Change]) -> TextEdits | None:
    items: dict[int, tuple[Edit, ...]] = {}
    for change in changes:
        outcome = _exchange(kind, cell, change)
        if isinstance(outcome, TextEdits):
            for item, edits in outcome.items.items():
                items[item] = (*items.get(item, ()), *edits)
    return TextEdits(items) if items else None


def _like(old: Any, new: bytes) -> str | bytes:
    return new if isinstance(old, bytes) else new.decode("utf-8", "surrogatepass")


def text_of(cell: Any) -> Text | None:
    """A text cell or a list of tokens as UTF-8; None for anything else."""
    if not isinstance(cell, list):
        return _encode(cell)
    items = [_encode(item) for item in cell if isinstance(item, str | bytes)]
    return [item for item in items if item is not None] if len(items) == len(cell) else None


def edit_text(text: Text, items: Mapping[int, tuple[Edit, ...]]) -> Text:
    """The cell after its edits."""
    if isinstance(text, bytes):
        return apply_edits(text, items.get(0, ()))
    revised = list(text)
    for at, edits in items.items():
        revised[at] = apply_edits(text[at], edits)
    return revised


def _move(
    kind: str, text: Text, code: bytes, edits: Iterable[Edit]
) -> dict[int, tuple[Edit, ...]] | None:
    placed = PLACERS[kind](code, text)
    if placed is None:
        return None
    moved: dict[int, list[Edit]] = {}
    for edit in edits:
        nth = bisect_right(placed.starts, edit.start)
        start, end = -1, -1
        if nth:
            start = placed.starts[nth - 1]
            end = start + placed.lengths[nth - 1]
        if edit.end <= end:
            at = edit.start - start + placed.ats[nth - 1]
            moved.setdefault(placed.items[nth - 1], []).append(Edit(at, edit.old, edit.new))
        elif edit.start < end:
            return None  # the edit runs over the end of what the cell repeats
        elif nth < len(placed.starts) and placed.starts[nth] < edit.end:
            return None  # or over its start
    return {item: tuple(edits) for item, edits in moved.items()}


def _infer_kind(name: str, pairs: Sequence[tuple[bytes, Any]]) -> str | None:
    if not pairs:
        return None
    if (placer := _infer_placer(pairs)) is not None:
        return placer
    suggestive = suggests_derivation(name)
    spelled = _as_texts(pairs)
    found = _infer_hash(spelled) or _infer_number(
        pairs, 1 if suggestive else FEWEST_DISTINCT_NUMBERS
    )
    if found is not None:
        return found
    if suggestive:
        return UNKNOWN
    return OPAQUE if looks_opaque(spelled) else None


def _infer_placer(pairs: Sequence[tuple[bytes, Any]]) -> str | None:
    """The way in which most cells repeat the code; of equal ones the first."""
    best, most = None, MOST * len(pairs)
    for kind in PLACERS:
        misses = 0
        for code, cell in pairs:
            misses += not fits(kind, cell, code)
            if len(pairs) - misses <= most:  # too many do not fit already
                break
        else:
            best, most = kind, len(pairs) - misses
    return best


def _infer_hash(pairs: Sequence[tuple[bytes, Any]]) -> str | None:
    """The digest that most cells are; or any, when they are too long to agree by accident."""
    fitting: Counter[str] = Counter()
    certain: set[str] = set()
    for nth, (code, cell) in enumerate(_unshared(pairs)):
        if nth == ENOUGH and not fitting:
            break  # a digest in some later record is met there: see `find_leftovers`
        kinds = [*fitting_hashes(code.decode(), cell)]
        fitting.update(kinds)
        if kinds and is_certain(cell):
            certain.update(kinds)
    for kind, count in fitting.most_common(1):
        if count > MOST * len(pairs) or kind in certain:
            return kind
    return None


def _unshared(pairs: Sequence[tuple[bytes, Any]]) -> list[tuple[bytes, Any]]:
    """The pairs whose cell no other code has: a digest of the code is shared by no two."""
    owners: dict[Any, bytes] = {}
    shared: set[Any] = set()
    texts = [pair for pair in pairs if isinstance(pair[1], str | bytes)]
    for code, cell in texts:
        if owners.setdefault(cell, code) != code:
            shared.add(cell)
    return [pair for pair in texts if pair[1] not in shared]


def _infer_number(pairs: Sequence[tuple[bytes, Any]], fewest_distinct: int) -> str | None:
    """The number that most cells are, if they are no few numbers that agree by accident."""
    if not any(type(cell) in (int, float, Numeral) for _, cell in pairs):
        return None
    fitting: dict[str, list[Any]] = {kind: [] for kind in NUMBERS}
    for nth, (code, cell) in enumerate(pairs):
        for kind in list(fitting):
            if fits(kind, cell, code):
                fitting[kind].append(cell)
            elif nth + 1 - len(fitting[kind]) >= (1 - MOST) * len(pairs):
                del fitting[kind]  # too many do not fit already
    enough = {k: len(cells) for k, cells in fitting.items() if len(set(cells)) >= fewest_distinct}
    return max(enough, key=lambda kind: enough[kind], default=None)


def suggests_derivation(name: str) -> bool:
    """Whether a column's name says that it is made from the code: `code_tokens`, not `sha`."""
    lower = name.lower()
    return bool(_SUGGESTIVE.search(lower)) and not _ABOUT_OTHERS.search(lower)


def fits(kind: str, cell: Any, code: bytes) -> bool:
    """Whether a cell follows from the code in this way."""
    if kind in PLACERS:
        text = text_of(cell)
        return text is not None and PLACERS[kind](code, text) is not None
    value = value_of(kind, code, cell)
    return value is not None and bool(value == cell)


def value_of(kind: str, code: bytes, cell: Any) -> Value | None:
    """What the cell should be, in its own type and length; None when it cannot hold that."""
    if type(cell) is Numeral and kind not in NUMBERS:
        spelled = value_of(kind, code, str(cell))
        return Numeral.of(spelled) if isinstance(spelled, str) else None
    if type(cell) not in ((int, float, Numeral) if kind in NUMBERS else (str, bytes)):
        return None
    value = VALUES[kind](code.decode())
    if isinstance(value, str | bytes):
        return shorten(value, cell)
    if isinstance(cell, float):
        return float(value)  # counts become floats where a table once had a gap
    return int(value) if value == int(value) else None


def text_with_code(record: Record, columns: Columns) -> Any:
    """The code; where it stands deeper or between fences, the first text with code in it."""
    if columns.inner is None:
        return record[columns.code]
    first = columns.inner.pieces(record)[0]
    return None if first.code is None else value_at(record, first.at)


def _pairs(sample: Sequence[Record], columns: Columns, name: str) -> list[tuple[bytes, Any]]:
    """Code and cell of each record of the sample where the cell is not null."""
    found = ((_encode(text_with_code(record, columns)), record.get(name)) for record in sample)
    return [(text, cell) for text, cell in found if text is not None and cell is not None]


def _as_texts(pairs: Sequence[tuple[bytes, Any]]) -> Sequence[tuple[bytes, Any]]:
    """The same where a column of texts has numbers in it, which are digests without letters."""
    if not any(isinstance(cell, str) for _, cell in pairs):
        return pairs
    return [(text, str(cell) if isinstance(cell, Numeral) else cell) for text, cell in pairs]


def _is_usable(code: Any) -> bool:
    try:
        text = code.encode() if isinstance(code, str) else code
        return isinstance(text, bytes) and bool(text.decode().strip())
    except UnicodeError:
        return False


def _encode(cell: Any) -> bytes | None:
    if isinstance(cell, bytes):
        return cell
    if not isinstance(cell, str):
        return None
    # a cell around the code may hold a lone surrogate, which JSON can spell
    return cell.encode("utf-8", "surrogatepass")
