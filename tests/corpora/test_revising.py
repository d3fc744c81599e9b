import pickle
from collections import Counter
from typing import Any

import numpy as np
import pytest

from puzzlemark.corpora.derived import Change, TextEdits
from puzzlemark.corpora.records import Columns
from puzzlemark.corpora.revising import (
    CANNOT_RECOMPUTE,
    DID_NOT_MATCH,
    HAS_OLD_CODE,
    HAS_OLD_LINE,
    Reviser,
    Revision,
    Tally,
    find_leftovers,
    refuse_rows_beyond,
)
from puzzlemark.errors import CorpusError, EditMismatch
from puzzlemark.snippet import Edit
from tests.corpora.making import rename

CODE = "def f(count):\n    total = count + 1\n    return total\n"


def revise(record: dict[str, Any], derivations: dict[str, str]) -> Revision:
    reviser = Reviser.of(Columns("code"), {0: rename(CODE, "total", "key_total")}, derivations)
    return reviser.revise(0, {"code": CODE, **record}, "a.jsonl:1")


@pytest.mark.parametrize(
    ("cell", "reason"),
    [
        (f"before {CODE} after", HAS_OLD_CODE),
        (CODE.strip(), HAS_OLD_CODE),
        (["x", CODE], HAS_OLD_CODE),
        ({"inner": [{"deep": f"{CODE}!"}]}, HAS_OLD_CODE),
        ("see total = count + 1 for it", HAS_OLD_LINE),
        (["return total"], HAS_OLD_LINE),
        (b"return total", HAS_OLD_LINE),
        ("def f(count):", None),  # this line is not edited
        ("total", None),
        (7, None),
        (None, None),
    ],
)
def test_text_that_still_shows_the_old_code_is_named(cell: Any, reason: str | None) -> None:
    revision = revise({"other": cell}, {})
    assert revision.stale.get("other") == reason
    assert set(revision.cells) == {"code"}


def test_a_short_edited_line_is_no_sign() -> None:
    reviser = Reviser.of(Columns("code"), {0: (Edit(0, b"a", b"b"),)}, {})
    assert reviser.revise(0, {"code": "a = 1", "other": "a = 1 is an assignment"}, "x").stale == {}


def test_columns_that_cannot_be_recomputed_are_named() -> None:
    derivations = {"emb": "unknown", "size": "characters", "code_tokens": "tokens"}
    revision = revise({"emb": [0.1], "size": 3, "code_tokens": ["x"]}, derivations)
    assert revision.stale == {
        "emb": CANNOT_RECOMPUTE,
        "size": DID_NOT_MATCH,
        "code_tokens": DID_NOT_MATCH,
    }


def test_null_and_missing_cells_are_never_stale() -> None:
    assert revise({"size": None}, {"size": "characters", "emb": "unknown"}).stale == {}


def test_a_text_column_whose_cell_is_something_else_is_not_stale() -> None:
    assert revise({"original": "unrelated"}, {"original": "copy"}).stale == {}
    assert revise({"original": f"{CODE}#"}, {"original": "copy"}).stale == {
        "original": HAS_OLD_CODE
    }


def test_recomputed_columns_are_counted_when_they_change() -> None:
    changes = {0: rename(CODE, "total", "key_total"), 1: rename(CODE, "total", "sum_x")}
    derivations = {"again": "copy", "n": "lines", "size": "characters"}
    reviser = Reviser.of(Columns("code"), changes, derivations)
    revisions = [
        reviser.revise(row, {"code": CODE, "again": CODE, "n": 3, "size": size}, "x")
        for row, size in ((0, len(CODE)), (1, 2))
    ]
    tally = Tally.of(2, revisions, "code")
    assert tally.recomputed == {"again": 2, "size": 1}
    assert tally.stale == {("size", DID_NOT_MATCH): 1}


def test_tallies_add_up() -> None:
    one = Tally(2, 1, Counter(a=1), Counter({("a", "old"): 1}))
    two = Tally(3, 0, Counter(a=2, b=1), Counter({("a", "old"): 1, ("b", "old"): 4}))
    assert one + two == Tally(5, 1, Counter(a=3, b=1), Counter({("a", "old"): 2, ("b", "old"): 4}))
    assert (one + two).written == 6


def test_a_part_of_the_changes_is_sent_without_the_others() -> None:
    changes = {row: (Edit(row, b"a", b"b" * 1000),) for row in range(100)}
    part = Reviser.of(Columns("code"), changes, {}).part([7, 9])
    sent = pickle.dumps(part)
    assert len(sent) < 4000
    arrived = pickle.loads(sent)  # noqa: S301 - our own
    assert dict(arrived.changes) == {row: changes[row] for row in (7, 9)} == dict(part.changes)
    assert arrived.rows_in(0, 9) == [7]


def test_a_refused_cell_counts_as_stale() -> None:
    revision = Revision({"code": TextEdits({}), "mean": TextEdits({})}, {}).without(["mean"])
    tally = Tally.of(1, [revision], "code")
    assert tally.recomputed == {}
    assert tally.stale == {("mean", DID_NOT_MATCH): 1}


@pytest.mark.parametrize("code", ["def g(): pass", None, 5, "\ud800def f"])
def test_edits_for_another_dataset_are_refused_with_the_place(code: Any) -> None:
    reviser = Reviser.of(Columns("code"), {0: rename(CODE, "total", "x")}, {})
    with pytest.raises(EditMismatch, match=r"^a\.jsonl:7: "):
        reviser.revise(0, {"code": code}, "a.jsonl:7")


def test_rows_are_found_by_range_and_empty_changes_are_none() -> None:
    edit = (Edit(0, b"a", b"b"),)
    reviser = Reviser.of(Columns("code"), {9: edit, 2: edit, 4: (), 5: edit}, {})
    assert reviser.rows_in(0, 5) == [2]
    assert reviser.rows_in(5, 100) == [5, 9]


def test_a_row_beyond_the_dataset_is_an_error() -> None:
    reviser = Reviser.of(Columns("code"), {9: (Edit(0, b"a", b"b"),)}, {})
    refuse_rows_beyond(reviser, 10, "a.jsonl")
    with pytest.raises(CorpusError, match=r"a\.jsonl: no row 9 among its 9 records"):
        refuse_rows_beyond(reviser, 9, "a.jsonl")


def test_a_deeply_nested_field_of_a_changed_record_is_read_to_its_end() -> None:
    code = "total = first + second"
    cell: list[object] = [code]
    for _ in range(5_000):
        cell = [cell]
    change = Change.of(code.encode(), rename(code, "total", "key_total"))
    assert find_leftovers({"deep": cell}, change) == {"deep": HAS_OLD_CODE}


def test_a_record_that_was_searched_is_not_searched_again() -> None:
    changes = {row: rename(CODE, "total", "key_total") for row in (3, 4, 9)}
    reviser = Reviser.of(Columns("code"), changes, {}, searched=np.array([3, 9]))
    record = {"code": CODE, "other": CODE.strip()}
    assert [row for row in changes if reviser.revise(row, record, "x").stale] == [4]
    part = pickle.loads(pickle.dumps(reviser.part([4, 9])))  # noqa: S301
    assert [row for row in (4, 9) if part.revise(row, record, "x").stale] == [4]
    assert list(part.searched) == [9]
