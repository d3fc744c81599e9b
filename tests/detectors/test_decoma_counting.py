"""Counting part by part: however a dataset is cut, merged counts are those of one pass."""

import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from puzzlemark.detectors._decoma_abstraction import Abstraction
from puzzlemark.detectors._decoma_channels import Channel, Coded, Shelf
from puzzlemark.detectors._decoma_counting import (
    KINDS,
    Kind,
    Limits,
    Outliers,
    Sizes,
    Sums,
    Terms,
    _score,
    count_pairs,
    find_outliers,
)
from puzzlemark.detectors._decoma_tally import Run, Tally, merge
from puzzlemark.detectors.decoma import code_of
from puzzlemark.engines.base import Engine, make
from puzzlemark.engines.serial import Serial
from puzzlemark.errors import CorpusError
from tests.detectors import slow_decoma
from tests.engines.made_up import Shuffled

Z = 1.2  # low, so that small datasets have outliers
TERMS = st.lists(st.sampled_from("abcdefghijklmnop"), unique=True, max_size=7)
FUNCTIONS = st.lists(st.tuples(TERMS, TERMS), min_size=1, max_size=60)
SIZES = st.builds(Sizes, st.integers(1, 400), st.integers(1, 40), st.integers(1, 60))
SERIAL = Serial()
Function = tuple[list[str], list[str]]  # variables, expressions


def code(functions: Sequence[Function]) -> Coded:
    return Coded(
        Channel.of([[code_of(name) for name in v] for v, _ in functions]),
        Channel.of([[code_of(text) for text in e] for _, e in functions]),
    )


def cut(functions: Sequence[Function], places: Sequence[int]) -> list[Coded]:
    """Parts of any size, empty ones among them."""
    bounds = [0, *sorted(place % (len(functions) + 1) for place in places), len(functions)]
    return [code(functions[a:b]) for a, b in pairwise(bounds)]


def find(
    parts: Sequence[Coded], min_scale: float, sizes: Sizes | None = None, engine: Engine = SERIAL
) -> dict[Kind, Outliers]:
    with tempfile.TemporaryDirectory() as folder:
        limits = Limits(Z, min_scale)
        return find_outliers(parts, limits, engine=engine, folder=Path(folder), sizes=sizes)


def spell(found: dict[Kind, Outliers]) -> dict[Kind, list[bytes]]:
    """Every bit of it."""
    return {
        kind: [a.tobytes() for a in (o.triggers, o.targets, o.counts, o.strengths, o.expected)]
        for kind, o in found.items()
    }


@settings(max_examples=60)
@given(FUNCTIONS, st.sampled_from([0.0004, 0.04, 0.1]), SIZES, st.lists(st.integers(0, 99)))
def test_outlier_pairs_are_those_of_the_slow_version(
    drawn: list[Function], min_scale: float, sizes: Sizes, places: list[int]
) -> None:
    functions = [Abstraction(("dropped", *e), tuple(v)) for v, e in drawn]
    found = find(cut(drawn, places), min_scale, sizes)
    for kind in KINDS:
        wanted = slow_decoma.outliers(functions, kind, min_scale, Z)
        triggers, targets = found[kind].triggers.tolist(), found[kind].targets.tolist()
        pairs = set(zip(triggers, targets, strict=True))
        assert pairs == {(code_of(a), code_of(b)) for a, b in wanted}
        assert (found[kind].strengths > Z).all()


@settings(max_examples=60)
@given(FUNCTIONS, st.sampled_from([0.0004, 0.04]), SIZES, st.lists(st.integers(0, 99)))
def test_any_cut_in_any_pieces_gives_the_same_bits_as_one_part(
    drawn: list[Function], min_scale: float, sizes: Sizes, places: list[int]
) -> None:
    parts = cut(drawn, places)
    whole = spell(find([code(drawn)], min_scale))
    assert spell(find(parts, min_scale, sizes)) == whole
    assert spell(find(parts[::-1], min_scale, sizes)) == whole, "nor does their order matter"


@settings(max_examples=60)
@given(FUNCTIONS, st.integers(1, 40))
def test_the_pairs_of_a_part_are_those_of_its_description(
    drawn: list[Function], chunk: int
) -> None:
    every = np.unique(np.array([code_of(term) for term in "abcdefghijklmnop"], np.uint64))
    number = {term: int(np.searchsorted(every, code_of(term))) for term in "abcdefghijklmnop"}
    functions, runs = count_pairs([code(drawn)], terms=Terms(every, every), chunk=chunk)
    assert functions == len(drawn)
    for kind in KINDS:
        wanted = Counter(
            number[a] * 16 + number[b]
            for v, e in drawn
            for a, b in slow_decoma.pairs_of(Abstraction(("dropped", *e), tuple(v)), kind)
        )
        run = runs[kind]
        assert dict(zip(run.keys.tolist(), run.counts.tolist(), strict=True)) == wanted
        assert run.keys.tolist() == sorted(wanted)


KEYS = st.lists(st.integers(0, 8 * 1000 - 1), max_size=300)


@given(st.lists(KEYS, max_size=12), st.integers(1, 500))
def test_a_tally_holds_what_a_dictionary_would(parts: list[list[int]], entries: int) -> None:
    wanted = Counter(key for part in parts for key in part)
    with tempfile.TemporaryDirectory() as folder, Tally(Path(folder), 8, 1000) as tally:
        for part in parts:
            tally.add(Run.of(np.array(part, np.uint64)))
        pieces = [merge(piece) for piece in tally.pieces(entries)]
        as_added = list(tally.runs())
    keys = [key for piece in pieces for key in piece.keys.tolist()]
    counts = [count for piece in pieces for count in piece.counts.tolist()]
    assert dict(zip(keys, counts, strict=True)) == wanted
    assert keys == sorted(wanted), "each key once, ascending over all pieces"
    rows = [set((piece.keys // 1000).tolist()) for piece in pieces]
    assert sum(map(len, rows)) == len(set().union(*rows)), "no row is in two pieces"
    assert [len(run) for run in as_added] == [len(set(part)) for part in parts if part]


def test_pieces_are_small_and_reach_the_last_key_of_all() -> None:
    rng = np.random.default_rng(3)
    keys = rng.integers(0, 2**64 - 1, 200_000, np.uint64, endpoint=True)
    keys[:2] = (0, 2**64 - 1)
    with tempfile.TemporaryDirectory() as folder:
        with Tally(Path(folder), 1 << 16, 1 << 48) as tally:
            for some in np.array_split(keys, 7):
                tally.add(Run.of(some))
            pieces = [merge(piece) for piece in tally.pieces(10_000)]
        assert not list(Path(folder).iterdir()), "it leaves nothing"
    assert max(map(len, pieces)) <= 10_000
    assert len(pieces) < 25
    assert np.array_equal(np.concatenate([piece.keys for piece in pieces]), np.unique(keys))


class Full:
    """A file on a disk without room."""

    def seek(self, *_: int) -> int:
        return 0

    def write(self, _: object) -> int:
        raise OSError(28, "No space left on device")


@pytest.mark.parametrize(
    ("keeper", "added"),
    [(partial(Tally, rows=1, width=10), Run.of(np.array([3], np.uint64))), (Shelf, code([]))],
)
def test_a_disk_that_is_full_is_said(
    keeper: Callable[[Path], Any], added: Run | Coded, tmp_path: Path
) -> None:
    with keeper(tmp_path) as kept:
        file, kept._file = kept._file, Full()
        with pytest.raises(CorpusError, match=r"No space left on device; choose another --cache"):
            kept.add(added)
        kept._file = file


@given(FUNCTIONS, st.lists(st.integers(0, 99)), st.integers(1, 300))
def test_a_shelf_gives_back_what_was_put_on_it(
    drawn: list[Function], places: list[int], pairs: int
) -> None:
    parts = cut(drawn, places)
    with tempfile.TemporaryDirectory() as folder, Shelf(Path(folder)) as shelf:
        for part in parts:
            shelf.add(part)
        groups = list(shelf.groups(pairs))
        assert shelf.functions == len(drawn)
        assert len(list(shelf.groups(pairs))) == len(groups), "it can be read again"
    back = Coded.joined([part for group in groups for part in group])
    whole = code(drawn)
    assert np.array_equal(back.variables.codes, whole.variables.codes)
    assert np.array_equal(back.expressions.offsets, whole.expressions.offsets)
    for group in groups:
        assert len(group) == 1 or sum(part.pairs for part in group) <= pairs


@pytest.fixture(scope="module", params=["processes", "made up"])
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    made = Shuffled() if request.param == "made up" else make(2, request.param)
    yield made
    made.close()


def test_every_engine_gives_the_same_bits(engine: Engine) -> None:
    rng = np.random.default_rng(8)
    letters = list("abcdefghijklmnopqrstuvwxyz")
    functions = [
        (rng.choice(letters, 4, replace=False).tolist(), rng.choice(letters, 6).tolist())
        for _ in range(300)
    ]
    drawn = [(v, list(dict.fromkeys(e))) for v, e in functions]
    parts = cut(drawn, list(range(0, 300, 40)))
    sizes = Sizes(2000, 500, 100)
    found = spell(find(parts, 0.01, sizes))
    assert any(any(bits) for bits in found.values())
    assert spell(find(parts, 0.01, sizes, engine)) == found


def _z_scores(rows: list[int], counts: list[int], threshold: float) -> tuple[list[float], ...]:
    keys, numbers = np.array(rows), np.array(counts)
    sums = Sums.of(keys, numbers)
    found = _score(numbers, sums.at(np.searchsorted(sums.places, keys)), threshold)
    return tuple(each.tolist() for each in found)


def test_a_row_of_ten_can_hold_no_outlier_and_a_row_of_eleven_can() -> None:
    for size in range(2, 300):
        ten, eleven = [1] * 9 + [size], [1] * 10 + [size]
        assert not any(_z_scores([0] * 10, ten, 3.0)[2])  # exactly 3, never above
        assert _z_scores([0] * 11, eleven, 3.0)[2] == [False] * 10 + [True]


def test_equal_counts_have_no_outlier() -> None:
    z, mean, above = _z_scores([0, 1, 0, 1], [5, 2, 5, 2], 3.0)
    assert z == [0, 0, 0, 0]
    assert mean == [5, 2, 5, 2]
    assert not any(above)


@given(st.lists(st.integers(1, 2**31), min_size=12, max_size=40), st.integers(1, 50_000))
def test_large_counts_do_not_overflow(counts: list[int], times: int) -> None:
    """As if each count stood in so many columns: n times the squares is beyond 64 bits."""
    n, total = len(counts) * times, sum(counts) * times
    squares = sum(count**2 for count in counts) * times
    if squares >= 1 << 63:
        return
    one = np.ones(len(counts), np.int64)
    sums = Sums(np.arange(len(counts)), one * n, one * total, one * squares)
    z, _, above = _score(np.array(counts), sums, Z)
    spread = n * squares - total**2
    for at, count in enumerate(counts):
        away = n * count - total
        assert bool(above[at]) == (away > 0 and spread > 0 and
                                   Fraction(away) ** 2 > Fraction(Z) ** 2 * spread)  # fmt: skip
        if spread:
            assert z[at] == pytest.approx(away / spread**0.5, rel=1e-9, abs=1e-9)
