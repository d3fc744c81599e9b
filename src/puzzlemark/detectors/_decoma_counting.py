"""DeCoMa's pairs: how often two terms stand in one function, and which pairs are outliers.

Each part of a dataset is counted by itself, and the counts are merged: first those of single terms,
then those of pairs of frequent ones. No process ever holds all pairs. Rows are looked at a piece at
a time; of the columns only whole numbers stay, which add up piece by piece.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from puzzlemark.detectors._decoma_channels import Channel, Coded, Shelf
from puzzlemark.detectors._decoma_tally import EMPTY, PIECE, Codes, Numbers, Run, Tally, merge
from puzzlemark.detectors._keeping import Arrays, Stages, numbered, pack_arrays, unpack_arrays
from puzzlemark.engines.base import Engine
from puzzlemark.progress import Progress, no_progress
from puzzlemark.resuming import Work

Kind = Literal["V->E", "E->V", "V->V", "E->E"]  # trigger -> target; V: variables, E: expressions
KINDS: tuple[Kind, ...] = ("V->E", "E->V", "V->V", "E->E")
TASK = 1 << 22  # pairs that a worker counts for one answer, as they come
CHUNK = 1 << 20  # and of these, so many are sorted at once
NEAR = 1e-6  # closer to the threshold than this, a z-score is compared in exact arithmetic
# what is kept of each stage, in the order in which they come
CODED, FREQUENT, COUNTED, MERGED, COMPARED = "coded", "frequent", "counted", "merged", "compared"
OUTLIERS = "outliers"
_TOP = 1 << 16  # rows of codes: by their first 16 bits
_SAFE = float(1 << 62)  # whole numbers below it fit into 64 bits, whatever floats say of them

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Outliers:
    """Pairs that stand together far more often than their row and their column do."""

    triggers: Codes
    targets: Codes
    counts: Numbers
    strengths: Floats  # the smaller of the two z-scores
    expected: Floats  # the larger of the two means

    @property
    def arrays(self) -> Arrays:
        """All of it, to be kept."""
        return (self.triggers, self.targets, self.counts, self.strengths, self.expected)


@dataclass(frozen=True, slots=True)
class Limits:
    """When a count is an outlier; `min_scale` and `max_scale` are shares of the functions."""

    z: float = 3.0
    min_scale: float = 0.0004
    max_scale: float = 1.0

    def smallest(self, functions: int) -> int:
        """m: a row or column needs a count above it."""
        return int((functions - 1) * self.min_scale)

    def largest(self, functions: int) -> int:
        """M: counts from here on say nothing."""
        return int((functions - 1) * self.max_scale)


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is looked at together: what comes out is the same for any."""

    task: int = TASK
    chunk: int = CHUNK
    piece: int = PIECE


@dataclass(frozen=True, slots=True)
class Terms:
    """The codes of the terms that are counted, ascending."""

    variables: Codes
    expressions: Codes

    def sides(self, kind: Kind) -> tuple[Codes, Codes]:
        """Those that may be triggers, and those that may be targets."""
        channel = {"V": self.variables, "E": self.expressions}
        return channel[kind[0]], channel[kind[-1]]


def find_outliers(
    coded: Iterable[Coded],
    limits: Limits,
    *,
    engine: Engine,
    folder: Path,
    progress: Progress = no_progress,
    sizes: Sizes | None = None,
) -> dict[Kind, Outliers]:
    """The outliers of each kind; what does not fit into memory waits in files in `folder`.

    What an interrupted run kept there is not computed again. In the end only the outliers stay.
    """
    stages = Stages(Work(folder))
    known = {kind: _find_kept(stages, kind) for kind in KINDS}
    if all(known.values()):
        return {kind: found for kind, found in known.items() if found is not None}
    work = _Work(limits, engine, folder, sizes or Sizes(), stages)
    with Shelf(folder) as shelf:
        terms = _find_terms(coded, shelf, work)
        with ExitStack() as stack:
            tallies = {kind: stack.enter_context(_tally(kind, terms, folder)) for kind in KINDS}
            count = partial(count_pairs, terms=terms, chunk=work.sizes.chunk)
            groups = numbered(shelf.groups(work.sizes.task))
            done = 0
            for functions, runs in stages.map(
                COUNTED, count, groups, engine, pack=_pack_counted, unpack=_unpack_counted
            ):
                for kind, run in runs.items():
                    tallies[kind].add(run)
                progress("counting", done := done + functions, shelf.functions)
            found: dict[Kind, Outliers] = {}
            for kind, tally in tallies.items():
                judged = known[kind] or _judge(kind, tally, terms, shelf.functions, work)
                found[kind] = judged
                stages.work.keep(f"{OUTLIERS}/{_file(kind)}", pack_arrays(judged.arrays))
                stages.forget(f"{MERGED}/{_file(kind)}", f"{COMPARED}/{_file(kind)}")
                progress("comparing", len(found), len(KINDS))
    stages.forget(CODED, FREQUENT, COUNTED, MERGED, COMPARED)  # with --cache they would stay
    return found


def _find_kept(stages: Stages, kind: Kind) -> Outliers | None:
    content = stages.work.find(f"{OUTLIERS}/{_file(kind)}")
    return None if content is None else Outliers(*unpack_arrays(content))


def _file(kind: Kind) -> str:
    return kind.replace("->", "-")


@dataclass(frozen=True, slots=True)
class _Work:
    """How and where it is done."""

    limits: Limits
    engine: Engine
    folder: Path
    sizes: Sizes
    stages: Stages


def _find_terms(coded: Iterable[Coded], shelf: Shelf, work: _Work) -> Terms:
    """The terms of more than m functions; meanwhile what is counted is put on the shelf.

    A term in m functions or fewer has no count above m, so neither its row nor its column stays.
    """
    new = partial(Tally, work.folder, _TOP, (1 << 64) // _TOP)
    with new() as variables, new() as expressions:
        for part in coded:
            shelf.add(part)
            variables.add(Run.of(part.variables.codes))
            expressions.add(Run.of(part.expressions.codes))
        frequent = partial(_above, m=work.limits.smallest(shelf.functions))
        none = np.zeros(0, np.uint64)
        found: list[Codes] = []
        for channel, tally in (("V", variables), ("E", expressions)):
            pieces = numbered(tally.pieces(work.sizes.piece))
            codes = work.stages.map(
                f"{FREQUENT}/{channel}", frequent, pieces, work.engine,
                pack=lambda codes: pack_arrays([codes]),
                unpack=lambda content: unpack_arrays(content)[0],
            )  # fmt: skip
            found.append(np.concatenate([none, *codes]))
        return Terms(*found)


def _above(runs: Sequence[Run], m: int) -> Codes:
    merged = merge(runs)
    return merged.keys[merged.counts > m]


def _tally(kind: Kind, terms: Terms, folder: Path) -> Tally:
    triggers, targets = terms.sides(kind)
    return Tally(folder, len(triggers), max(1, len(targets)))


def count_pairs(
    parts: Sequence[Coded], *, terms: Terms, chunk: int = CHUNK
) -> tuple[int, dict[Kind, Run]]:
    """The worker's share of counting: of how many functions, and the pairs of each kind.

    The key of a pair is `place of its trigger * number of targets + place of its target`.
    """
    coded = Coded.joined(parts)
    later = coded.expressions.without_first()  # as published: the first is never a target of V->E
    v = coded.variables.numbered(terms.variables)
    e = coded.expressions.numbered(terms.expressions)
    sides = {"V->E": (v, later.numbered(terms.expressions)), "E->V": (e, v), "V->V": (v, v)}
    runs: dict[Kind, Run] = {}
    for kind in KINDS:
        left, right = sides.get(kind, (e, e))
        width = np.uint64(max(1, len(terms.sides(kind)[1])))
        places = _expand(left, right, chunk, ordered=kind[0] == kind[-1])
        runs[kind] = merge(
            [Run.of(left.codes[one] * width + right.codes[other]) for one, other in places]
        )
    return len(coded), runs


def _expand(
    left: Channel, right: Channel, chunk: int, *, ordered: bool
) -> Iterator[tuple[Numbers, Numbers]]:
    """The pairs as two arrays of places in the channels, about a chunk at a time.

    Each term on the left is paired with all on the right of its function; within one channel, with
    those that come later.
    """
    owners = left.owners
    starts, stops = right.offsets[owners], right.offsets[owners + 1]
    if ordered:
        starts = np.arange(len(left.codes)) + 1
    sizes = stops - starts
    ends = np.cumsum(sizes)
    at = 0
    while at < len(ends):
        done = int(ends[at - 1]) if at else 0
        until = max(at + 1, int(np.searchsorted(ends, done + chunk, side="right")))
        some = sizes[at:until]
        lefts = np.repeat(np.arange(at, until), some)
        shift = np.repeat(starts[at:until] - (ends[at:until] - some - done), some)
        yield lefts, np.arange(len(lefts)) + shift
        at = until


def _judge(kind: Kind, tally: Tally, terms: Terms, functions: int, work: _Work) -> Outliers:
    """Merge the counts of one kind, drop what is rare, and compare rows and columns."""
    triggers, targets = terms.sides(kind)
    width = max(1, len(targets))
    limits, engine, stages = work.limits, work.engine, work.stages
    m, largest = limits.smallest(functions), limits.largest(functions)
    columns = np.zeros(width, np.bool_)  # those with a count above m
    with Tally(work.folder, len(triggers), width) as merged:
        rows_of = partial(merge_rows, width=width, m=m, largest=largest)
        pieces = numbered(tally.pieces(work.sizes.piece))
        for run, good in stages.map(
            f"{MERGED}/{_file(kind)}", rows_of, pieces, engine,
            pack=_pack_merged, unpack=_unpack_merged,
        ):  # fmt: skip
            merged.add(run)
            columns[good] = True
        sums = Sums.none(width)
        judged = [_Compared.none()]
        compare = partial(compare_rows, columns=columns, width=width, z=limits.z)
        for compared, some in stages.map(
            f"{COMPARED}/{_file(kind)}", compare, numbered(merged.runs()), engine,
            pack=_pack_compared, unpack=_unpack_compared,
        ):  # fmt: skip
            judged.append(compared)
            sums.add(some)
    found = _Compared.joined(judged)
    z, mean, above = _score(found.counts, sums.at(found.columns), limits.z)
    return Outliers(
        triggers[found.rows[above]],
        targets[found.columns[above]],
        found.counts[above],
        np.minimum(found.z, z)[above],
        np.maximum(found.mean, mean)[above],
    )


def _pack_counted(counted: tuple[int, dict[Kind, Run]]) -> bytes:
    functions, runs = counted
    every = (array for kind in KINDS for array in (runs[kind].keys, runs[kind].counts))
    return pack_arrays([np.array(functions), *every])


def _unpack_counted(content: bytes) -> tuple[int, dict[Kind, Run]]:
    functions, *every = unpack_arrays(content)
    runs = map(Run, every[::2], every[1::2])
    return int(functions), dict(zip(KINDS, runs, strict=True))


def _pack_merged(merged: tuple[Run, Numbers]) -> bytes:
    run, good = merged
    return pack_arrays([run.keys, run.counts, good])


def _unpack_merged(content: bytes) -> tuple[Run, Numbers]:
    keys, counts, good = unpack_arrays(content)
    return Run(keys, counts), good


def _pack_compared(compared: tuple["_Compared", "Sums"]) -> bytes:
    found, sums = compared
    of_columns = (sums.places, sums.sizes, sums.totals, sums.squares)
    return pack_arrays([*found.arrays, *of_columns])


def _unpack_compared(content: bytes) -> tuple["_Compared", "Sums"]:
    arrays = unpack_arrays(content)
    return _Compared(*arrays[:5]), Sums(*arrays[5:])


def merge_rows(runs: Sequence[Run], *, width: int, m: int, largest: int) -> tuple[Run, Numbers]:
    """Whole rows, merged: those with a count above m. And the columns of such counts.

    Counts from the largest on are left out. The published order (targets below m, then triggers,
    then targets) ends at the same: a count above m keeps both its row and its column, and nothing
    else keeps either. The small counts of what is kept stay and are averaged.
    """
    merged = merge(runs)
    merged = merged.keep(merged.counts < largest)
    rows, columns = _split(merged.keys, width)
    above = merged.counts > m
    if not above.any():
        return EMPTY, np.zeros(0, np.int64)
    good = np.zeros(rows[-1] - rows[0] + 1, np.bool_)
    good[rows[above] - rows[0]] = True
    return merged.keep(good[rows - rows[0]]), np.unique(columns[above])


@dataclass(slots=True)
class Sums:
    """Of rows or columns: how many counts, their sum and that of their squares."""

    places: Numbers  # which rows or columns these are
    sizes: Numbers
    totals: Numbers
    squares: Numbers

    @staticmethod
    def of(places: Numbers, counts: Numbers) -> "Sums":
        """Of counts by their row or column."""
        order = np.argsort(places, kind="stable")
        distinct, starts, sizes = np.unique(places[order], return_index=True, return_counts=True)
        if not len(distinct):
            return Sums(distinct, sizes, sizes, sizes)
        ordered = counts[order]
        totals = np.add.reduceat(ordered, starts)
        return Sums(distinct, sizes, totals, np.add.reduceat(ordered**2, starts))

    @staticmethod
    def none(length: int) -> "Sums":
        """For all of so many, nothing yet."""
        return Sums(np.arange(length), *(np.zeros(length, np.int64) for _ in range(3)))

    def add(self, some: "Sums") -> None:
        """Add those of some to all of them."""
        self.sizes[some.places] += some.sizes
        self.totals[some.places] += some.totals
        self.squares[some.places] += some.squares

    def at(self, places: Numbers) -> "Sums":
        """Those of some places, which may repeat; here they are found by their number."""
        return Sums(places, self.sizes[places], self.totals[places], self.squares[places])


@dataclass(frozen=True, slots=True)
class _Compared:
    """Counts that are outliers in their row."""

    rows: Numbers
    columns: Numbers
    counts: Numbers
    z: Floats
    mean: Floats

    @property
    def arrays(self) -> Arrays:
        return (self.rows, self.columns, self.counts, self.z, self.mean)

    @staticmethod
    def none() -> "_Compared":
        whole, real = np.zeros(0, np.int64), np.zeros(0)
        return _Compared(whole, whole, whole, real, real)

    @staticmethod
    def joined(parts: Sequence["_Compared"]) -> "_Compared":
        every = (part.arrays for part in parts)
        return _Compared(*map(np.concatenate, zip(*every, strict=True)))


def compare_rows(run: Run, *, columns: Bools, width: int, z: float) -> tuple[_Compared, Sums]:
    """The outliers of whole rows, without the columns that are not kept; and the columns' sums."""
    at = _split(run.keys, width)[1]
    run, at = run.keep(columns[at]), at[columns[at]]
    rows, counts = _split(run.keys, width)[0], run.counts.astype(np.int64)
    by_row = Sums.of(rows, counts)
    score, mean, above = _score(counts, by_row.at(np.searchsorted(by_row.places, rows)), z)
    found = _Compared(rows[above], at[above], counts[above], score[above], mean[above])
    return found, Sums.of(at, counts)


def _split(keys: Codes, width: int) -> tuple[Numbers, Numbers]:
    rows, columns = np.divmod(keys, np.uint64(width))
    return rows.astype(np.int64), columns.astype(np.int64)


def _score(counts: Numbers, sums: Sums, threshold: float) -> tuple[Floats, Floats, Bools]:
    """Of each count within its row (or column): z-score, the row's mean, whether it is above."""
    if not len(counts):
        return np.empty(0), np.empty(0), np.empty(0, np.bool_)
    n, total = sums.sizes, sums.totals
    away = (n * counts - total).astype(np.float64)
    wide = _spread(sums)
    z = np.zeros(len(n))
    np.divide(away, np.sqrt(wide.astype(np.float64)), out=z, where=(wide > 0).astype(np.bool_))
    above = z > threshold
    for at in np.flatnonzero(np.abs(z - threshold) < NEAR).tolist():
        above[at] = _is_above(int(away[at]), int(wide[at]), threshold)
    return z, total / n, above


def _spread(sums: Sums) -> NDArray[np.int64] | NDArray[np.object_]:
    """n^2 times the variance, in whole numbers: 0 is exactly 0."""
    n, total, squares = sums.sizes, sums.totals, sums.squares
    if float(n.max()) * float(squares.max()) >= _SAFE:  # Python's own whole numbers have no end
        n, total, squares = (each.astype(object) for each in (n, total, squares))
    return n * squares - total**2


def _is_above(away: int, wide: int, threshold: float) -> bool:
    """`away / sqrt(wide) > threshold` without rounding."""
    return wide > 0 and away > 0 and Fraction(away) ** 2 > Fraction(threshold) ** 2 * wide
