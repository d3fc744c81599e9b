"""What a check is, and what it may look at.

A file of this package offers `ABOUT`, a line in words, `VIEW`, and one of two functions:

- `look(pair, setting)` for a check of single records: it sees each record that differs between the
  two datasets, and says in words what is wrong with it, or None;
- `inspect(evidence)` for everything else: files, pages, times.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from puzzlemark.corpora.base import Corpus, Derivations, Shard
from puzzlemark.corpora.derived import change_cell, computable
from puzzlemark.corpora.records import Columns, Record
from puzzlemark.corpora.revising import Reviser
from puzzlemark.statistics.exact import fisher

# marked: somebody who has nothing but the marked dataset sees it. difference: with the original.
View: TypeAlias = Literal["marked", "difference"]
MOST_BOUNDARIES = 2000  # of one column; more are looked at in even steps


@dataclass(frozen=True, slots=True)
class Setting:
    """What is known before the first record is compared."""

    columns: Columns
    derivations: Derivations  # of the original
    edits: Mapping[int, Any] | None  # of the manifest, by record
    habits: frozenset[tuple[str, str]] | None  # how the original spells characters in JSON

    @property
    def following(self) -> set[str]:
        """The columns that may change: the code, and what is computed from it."""
        return {self.columns.field, *computable(self.derivations)}

    def expected(self, pair: "Pair") -> Any:
        """What the manifest makes of the column with the code; raises EditMismatch."""
        assert self.edits is not None
        reviser = Reviser(self.columns, self.edits, {}, [pair.row])
        change = reviser.revise(pair.row, pair.before, pair.where).cells[self.columns.field]
        return change_cell(pair.before[self.columns.field], change)


@dataclass(frozen=True, slots=True)
class Pair:
    """One record in both datasets; the lines are those of a JSON file."""

    row: int
    where: str
    before: Record
    after: Record
    line_before: bytes | None = None
    line_after: bytes | None = None

    def codes(self, columns: Columns) -> tuple[bytes, bytes] | None:
        """The code before and after, as UTF-8; None when either is no text.

        Where the code stands deeper, it is the first text with code that changed, or the first.
        """
        if columns.inner is None:
            texts = [(self.before.get(columns.code), self.after.get(columns.code))]
        else:
            cells = (columns.inner.cells(record) for record in (self.before, self.after))
            texts = [(a.value, b.value) for a, b in zip(*cells, strict=False)] or [(None, None)]
        changed = next(((a, b) for a, b in texts if a != b), texts[0])
        old, new = map(_encode, changed)
        return None if old is None or new is None else (old, new)


def _encode(cell: Any) -> bytes | None:
    if isinstance(cell, str):
        return cell.encode("utf-8", "surrogatepass")
    return cell if isinstance(cell, bytes) else None


@dataclass(frozen=True, slots=True)
class Tally:
    """What a check of records found: how many records, of them carriers, and one example."""

    problems: Counter[str] = field(default_factory=Counter)
    carriers: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Evidence:
    """Both datasets, which rows are carriers, and what the comparison of all records found."""

    original: Corpus
    marked: Corpus
    setting: Setting
    carriers: NDArray[np.bool_]
    starts: Sequence[int]  # the row at which each shard begins, and after the last one
    moved_lines: int  # records on another line than before
    compared: int  # records that differ in anything
    tallies: Mapping[str, Tally]

    @property
    def shards(self) -> Iterator[tuple[Shard, Shard]]:
        """Each file of the original with that of the marked dataset."""
        return zip(self.original.shards, self.marked.shards, strict=False)

    def carriers_of(self, shard: int) -> int:
        """How many carriers a shard holds."""
        return self.carriers_between(self.starts[shard], self.starts[shard + 1])

    def carriers_between(self, start: int, end: int) -> int:
        """How many carriers stand between two rows."""
        return int(np.count_nonzero(self.carriers[start:end]))

    @property
    def paths(self) -> Iterator[tuple[Path, Path]]:
        """The same as files: those of a store were fetched before."""
        for old, new in self.shards:
            assert isinstance(old.path, Path), "fetched"
            assert isinstance(new.path, Path), "fetched"
            yield old.path, new.path

    def only(self, *formats: str, packed: bool | None = None) -> list[tuple[int, Path, Path]]:
        """The shards of these formats: number, original, marked."""
        return [
            (at, *paths)
            for at, ((_, new), paths) in enumerate(zip(self.shards, self.paths, strict=True))
            if new.format in formats
            and (packed is None or (new.path.suffix.lower() == ".gz") is packed)
        ]


@dataclass(frozen=True, slots=True)
class Observation:
    """What a check saw. With `log10_p` the audit decides, over all checks together."""

    outcome: Literal["ok", "tells", "not applicable"]
    sentence: str
    numbers: Mapping[str, Any] = field(default_factory=dict)
    log10_p: float | None = None


class Check(Protocol):
    """What each file of this package offers, beside one of the two functions above."""

    ABOUT: str
    VIEW: View


def not_applicable(sentence: str) -> Observation:
    """There is nothing to look at."""
    return Observation("not applicable", sentence)


def compare_touching(
    evidence: Evidence, boundaries: Iterable[int], what: str, **numbers: Any
) -> Observation:
    """Whether rows on either side of some boundaries are carriers more often, or less, than others.

    A boundary is the number of the row that begins after it.
    """
    inner = sorted({at for at in boundaries if 0 < at < len(evidence.carriers)})
    if not inner:
        return not_applicable(f"there is no {what}")
    step = -(-len(inner) // MOST_BOUNDARIES)
    looked_at = inner[::step]
    rows = np.unique([row for at in looked_at for row in (at - 1, at)])
    touching, hits = len(rows), int(np.count_nonzero(evidence.carriers[rows]))
    total, carriers = len(evidence.carriers), int(np.count_nonzero(evidence.carriers))
    found = fisher(hits, carriers, touching - hits, total - carriers, two_sided=True)
    sentence = (
        f"{hits:,} of the {touching:,} records beside a {what} are carriers "
        f"({hits / touching:.1%}); of all records {carriers / total:.1%} are"
    )
    counted = {"boundaries": len(inner), "touching": touching, "carriers": hits, **numbers}
    return Observation("ok", sentence, counted, found.log10_p)


def compare_parts(
    values: Sequence[Hashable], carriers: Sequence[int], what: str, part: str
) -> Observation:
    """Whether something that files (or row groups) have tells those with carriers from the others.

    What all of them have alike tells nothing. One that only those with carriers have, all of them,
    tells; otherwise an exact test decides.
    """
    distinct = Counter(values)
    numbers = {"parts": len(values), "different": len(distinct)}
    if len(distinct) <= 1:
        return Observation("ok", f"{what}: the same for every {part} ({len(values):,})", numbers)
    usual = distinct.most_common(1)[0][0]
    unusual = [value != usual for value in values]
    marked = [count > 0 for count in carriers]
    both = sum(u and m for u, m in zip(unusual, marked, strict=True))
    sentence = (
        f"{what}: {sum(unusual):,} of {len(values):,} {part}s differ from the most; "
        f"{sum(marked):,} hold carriers, {both:,} of these differ"
    )
    if any(marked) and not all(marked) and unusual in (marked, [not m for m in marked]):
        return Observation("tells", sentence, numbers)
    found = fisher(
        both, sum(marked), sum(unusual) - both, len(marked) - sum(marked), two_sided=True
    )
    return Observation("ok", sentence, numbers, found.log10_p)
