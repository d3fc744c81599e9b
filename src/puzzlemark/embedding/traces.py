"""What still shows the old code of a marked record: a docstring that quotes an old line does."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from puzzlemark.corpora.base import Batch, Derivations
from puzzlemark.corpora.records import Record
from puzzlemark.corpora.revising import (
    HAS_OLD_CODE,
    HAS_OLD_LINE,
    IS_OLD_DIGEST,
    NAMES_OLD,
    Reviser,
    Unrestorable,
)
from puzzlemark.embedding.manifest import Carrier
from puzzlemark.errors import CorpusError
from puzzlemark.snippet import Edit

UNRESTORABLE = "unrestorable"
_TELLING = frozenset({HAS_OLD_CODE, HAS_OLD_LINE, IS_OLD_DIGEST})


@dataclass(frozen=True, slots=True)
class Traces:
    """The columns that would still show the old code, or what else speaks against a mark."""

    columns: frozenset[str]  # or NAMES_OLD, or UNRESTORABLE; none: another draw was looked at
    problem: str | None = None  # the dataset could not be written with this mark in it


def find_traces(
    batch: Batch,
    records: Sequence[Record],
    carriers: Mapping[int, Carrier],
    derived: Derivations,
) -> Iterator[tuple[int, Traces]]:
    """Those of the carriers at some places of a batch, of which these are the whole records."""
    if not carriers:
        return
    owners, numbers = batch.owners()
    for place, carrier in carriers.items():
        edits = _most_telling(carrier)
        if not edits:
            continue
        where = f"{batch.shard}: row {owners[place] - batch.start}"
        reviser = _reviser(batch, owners[place], numbers[place], edits, derived)
        found = _look(reviser, owners[place], numbers[place], records[place], where)
        if found is None and edits != carrier.edits:
            found = Traces(frozenset())
        if found is not None:
            yield place, found


def _most_telling(carrier: Carrier) -> tuple[Edit, ...]:
    """By what any draw would change, not by what this one does: else the key decides who carries.

    The edits of a carrier with draws, as if another symbol had been drawn for each.
    """
    if all(mark.draw is None for mark in carrier.marks):
        return carrier.edits
    marks = tuple(replace(mark, edits=mark.trial) for mark in carrier.marks)
    return replace(carrier, marks=marks).edits


def _reviser(
    batch: Batch, owner: int, number: int | None, edits: tuple[Edit, ...], derived: Derivations
) -> Reviser:
    changes: Mapping[int, object] = {owner: edits if number is None else {number: edits}}
    return Reviser(batch.columns, changes, derived, [owner])


def _look(
    reviser: Reviser, owner: int, number: int | None, record: Record, where: str
) -> Traces | None:
    try:
        stale = reviser.preview(owner, number, record, where).stale
    except Unrestorable:
        return Traces(frozenset({UNRESTORABLE}))
    except CorpusError as exc:
        return Traces(frozenset(), str(exc))
    columns = {column for column, reason in stale.items() if reason in _TELLING}
    if NAMES_OLD in stale.values():
        columns.add(NAMES_OLD)
    return Traces(frozenset(columns)) if columns else None
