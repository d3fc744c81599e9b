"""Algorithm 1's outer loops: who is marked, in which order, and how many."""

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import orjson
import pytest

from puzzlemark.carriers.selection import Selection, select
from puzzlemark.corpora.base import open_corpus
from puzzlemark.corpora.records import RECORD_BYTES
from puzzlemark.embedding.columns import Column, Lines
from puzzlemark.embedding.manifest import Carrier
from puzzlemark.embedding.marking import first_mark
from puzzlemark.embedding.plan import (
    BELOW_THRESHOLD,
    NOT_NEEDED,
    TOO_FEW_NAMES,
    Plan,
    Settings,
    budgets,
    plan,
)
from puzzlemark.embedding.survey import Wanted, survey
from puzzlemark.embedding.traces import Traces
from puzzlemark.engines.serial import Serial
from puzzlemark.errors import UsageError
from puzzlemark.features.measure import FeatureTable
from puzzlemark.snippet import Snippet
from puzzlemark.syntax.tree import parse
from puzzlemark.watermarks.base import Mark
from puzzlemark.watermarks.fixed_prefix import FixedPrefix
from puzzlemark.watermarks.universal import Universal

KEY = bytes(range(32))
WITH_KEY = "def f(key, first):\n    second = key + first\n    return second\n"
WITHOUT = "def f(one, two):\n    three = one + two\n    return three\n"


def run(path: Path, settings: Settings, key: bytes | None = KEY) -> Plan:
    return plan(open_corpus(path, language="python"), settings, Serial(), order_key=key)


def selection_of(path: Path, *, tau: float) -> Selection:
    seen = survey(open_corpus(path), Wanted(), Serial())
    return select(FeatureTable(seen.values[:], seen.measured), tau=tau)


@pytest.fixture
def write(tmp_path: Path) -> Callable[[Sequence[str | None]], Path]:
    def write(codes: Sequence[str | None]) -> Path:
        path = tmp_path / "codes.jsonl"
        lines = [orjson.dumps({"id": str(n), "code": code}) for n, code in enumerate(codes)]
        path.write_bytes(b"\n".join(lines))
        return path

    return write


@pytest.mark.parametrize(
    ("records", "rates", "expected"),
    [
        (100, (0.01, 0.05), (5, 1)),
        (20, (0.05, 0.05), (1, 1)),
        (119, (0.01, 0.05), (5, 2)),
        (10, (0.01, 0.05), (0, 0)),
        (7, (1.0, 1.0), (7, 7)),
        (0, (0.01, 0.05), (0, 0)),
    ],
)
def test_budgets_are_whole_numbers_within_the_rates(
    records: int, rates: tuple[float, float], expected: tuple[int, int]
) -> None:
    settings = Settings(Universal(), min_rate=rates[0], max_rate=rates[1])
    assert budgets(records, settings) == expected


def test_natural_carriers_go_first_up_to_the_maximum(
    write: Callable[[Sequence[str | None]], Path],
) -> None:
    path = write([WITHOUT] * 10 + [WITH_KEY] * 10)
    settings = Settings(FixedPrefix("key"), tau=0, min_rate=0.1, max_rate=0.3)
    planned = run(path, settings)
    assert planned.counts == {"marked": 6, "natural": 6}
    assert all(row >= 10 for row in planned.lines)
    assert planned.kept == {NOT_NEEDED: 14}


def test_others_are_marked_up_to_the_minimum_only(
    write: Callable[[Sequence[str | None]], Path],
) -> None:
    path = write([WITHOUT] * 18 + [WITH_KEY] * 2)
    settings = Settings(FixedPrefix("key"), "paper", tau=0, min_rate=0.2, max_rate=0.5)
    planned = run(path, settings)
    assert planned.counts == {"marked": 4, "natural": 2, "introduced": 2}


def test_every_record_is_marked_or_has_a_reason(
    write: Callable[[Sequence[str | None]], Path],
) -> None:
    codes = [WITH_KEY, None, "", "def f(:", "x = 1", WITHOUT, "def g(a):\n    return a"]
    settings = Settings(FixedPrefix("key"), "paper", tau=0, min_rate=1, max_rate=1)
    planned = run(write(codes), settings)
    assert len(planned.lines) == 2
    assert sum(planned.kept.values()) == 5
    assert {"syntax errors", "null code", "too few variables in the snippet"} <= set(planned.kept)


def test_dataset_order_marks_the_first_that_can(
    write: Callable[[Sequence[str | None]], Path],
) -> None:
    path = write(["def f(a):\n    pass", WITH_KEY, WITHOUT, WITH_KEY, WITH_KEY])
    settings = Settings(Universal(), order="dataset", tau=0, max_rate=0.4)
    assert list(run(path, settings, key=None).lines) == [1, 2]


def test_records_without_names_have_that_reason_only_where_the_walk_met_them(
    write: Callable[[Sequence[str | None]], Path],
) -> None:
    bare = "def f(a):\n    pass"
    path = write([bare, WITH_KEY, bare, bare])
    settings = Settings(Universal(), order="dataset", tau=0, max_rate=0.25)
    assert run(path, settings, key=None).kept == {TOO_FEW_NAMES: 1, NOT_NEEDED: 2}
    more = replace(settings, max_rate=0.5)
    assert run(path, more, key=None).kept == {TOO_FEW_NAMES: 3}


def test_how_many_are_tried_at_a_time_changes_nothing(
    corpus_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings(Universal(), "paper", max_rate=0.1)
    once = run(corpus_path, settings)
    monkeypatch.setattr("puzzlemark.embedding.plan.MARGIN", 0.2)
    monkeypatch.setattr("puzzlemark.embedding.plan.SPARE", 1)
    again = run(corpus_path, settings)
    assert dict(again.lines) == dict(once.lines)
    assert list(again.kept.items()) == list(once.kept.items())
    assert list(again.counts.items()) == list(once.counts.items())


def test_keyed_order_depends_on_the_secret_and_the_id(
    write: Callable[[Sequence[str | None]], Path],
) -> None:
    path = write([WITH_KEY] * 100)
    settings = Settings(Universal(), tau=0, max_rate=0.2)
    once, again = run(path, settings), run(path, settings)
    other = run(path, settings, key=bytes(32))
    assert list(once.lines) == list(again.lines)
    assert list(once.lines) != list(other.lines)
    assert list(once.lines) != list(range(20))


def test_the_least_suitable_carry_nothing(corpus_path: Path) -> None:
    settings = Settings(Universal(), tau=0.35, min_rate=0, max_rate=1)
    planned = run(corpus_path, settings)
    selection = selection_of(corpus_path, tau=0.35)
    marked = list(planned.lines)
    assert selection.scores[marked].min() >= selection.threshold
    assert planned.suitability["threshold"] == selection.threshold
    assert planned.kept[BELOW_THRESHOLD] == np.count_nonzero(~selection.is_candidate)
    assert planned.kept[BELOW_THRESHOLD] == pytest.approx(0.35 * len(selection.scores), abs=2)


def test_the_plan_is_that_of_the_slow_obvious_loops(corpus_path: Path) -> None:
    """Algorithm 1, lines 18 to 40, one snippet after the other."""
    watermark = FixedPrefix("name")
    settings = Settings(watermark, "paper", "dataset", tau=0.2, min_rate=0.05, max_rate=0.06)
    planned = run(corpus_path, settings, key=None)
    entries = list(open_corpus(corpus_path).entries())
    most, least = budgets(len(entries), settings)
    candidates = selection_of(corpus_path, tau=0.2).is_candidate
    expected: dict[int, tuple[Mark, ...]] = {}
    for budget, natural in ((most, True), (least, False)):
        for entry in entries:
            if len(expected) >= budget or not candidates[entry.row]:
                continue
            assert entry.code is not None
            if watermark.may_occur(entry.code.encode()) is not natural:
                continue
            tree = parse(Snippet(entry.id, entry.code, "python"))
            rng = random.Random(0)
            outcome = first_mark(watermark, tree, "paper", rng, introduce=not natural)
            if isinstance(outcome, Mark):
                expected[entry.row] = (outcome,)
    found = {row: Carrier.from_line(line).marks for row, line in planned.lines.items()}
    assert found == expected
    assert 0 < planned.counts["natural"] < planned.counts["marked"]


def test_policy_safe_is_the_default(write: Callable[[Sequence[str | None]], Path]) -> None:
    assert Settings(Universal()).policy == "safe"
    path = write(["def f(one, two, three):\n    return one + two + three\n"] * 4)
    assert not run(path, Settings(Universal(), tau=0, max_rate=1)).lines
    assert len(run(path, Settings(Universal(), "paper", tau=0, max_rate=1)).lines) == 4


@pytest.mark.parametrize(
    "wrong",
    [
        {"tau": 1.5},
        {"min_rate": 0.2, "max_rate": 0.1},
        {"max_rate": 2},
        {"policy": "bold"},
        {"order": "random"},
    ],
)
def test_settings_that_make_no_sense_are_usage_errors(wrong: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        Settings(Universal(), **wrong)  # type: ignore[arg-type]


def test_where_nothing_tells_of_a_mark_the_dataset_is_not_searched_again(tmp_path: Path) -> None:
    path = tmp_path / "codes.jsonl"
    quoted = [WITHOUT, "", "see: three = one + two", ""] * 5
    lines = [
        orjson.dumps({"id": str(n), "code": WITHOUT, "text": text}) for n, text in enumerate(quoted)
    ]
    path.write_bytes(b"\n".join(lines))
    corpus = open_corpus(path, language="python")
    settings = Settings(Universal(), policy="paper", tau=0, max_rate=1)
    planned = plan(corpus, settings, Serial(), order_key=KEY, derived={})
    assert len(planned.lines) == 20
    assert planned.searched.tolist() == list(range(1, 20, 2))


def test_what_another_draw_would_tell_says_nothing_of_this_one() -> None:
    planned = Plan(Column(f"V{RECORD_BYTES}"), {}, lines=Lines.of([(2, b"a"), (5, b"b")]))
    planned.traces[Traces(frozenset())] = np.array([5])
    assert planned.searched.tolist() == [2]
