"""Lines, names and hunks."""

import unicodedata
from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from puzzlemark.pages.diff import Piece, Role, Row, diff, hunks, make_visible


@dataclass(frozen=True)
class Span:
    start: int
    end: int
    role: Role


@dataclass(frozen=True)
class Side:
    code: str
    spans: tuple[Span, ...] = field(default=())


def test_names_are_cut_out_at_their_exact_places() -> None:
    before = Side("é = key\nx = 1", (Span(4, 7, "prefix"), Span(8, 9, "target")))
    after = Side("é = key\nkey_é = 1", (Span(4, 7, "prefix"), Span(8, 13, "target")))
    first, second = diff(before, after)
    assert not first.is_changed
    assert first.before is not None
    assert first.before.pieces == (Piece("é = "), Piece("key", "prefix"))
    assert second.is_changed
    assert second.before is not None
    assert second.after is not None
    assert second.before.pieces == (Piece("x", "target"), Piece(" = 1"))
    assert second.after.pieces == (Piece("key_é", "target"), Piece(" = 1"))
    assert (second.before.number, second.after.number) == (2, 2)


def test_an_inserted_line_stands_beside_nothing() -> None:
    rows = diff(Side("a\nb"), Side("a\nnew\nb"))
    assert [(row.before is None, row.is_changed) for row in rows] == [
        (False, False),
        (True, True),
        (False, False),
    ]


def test_windows_line_endings_are_not_shown_and_move_nothing() -> None:
    (_, row) = diff(Side("a\r\nkey", (Span(3, 6, "prefix"),)), Side("a\r\nkey"))
    assert row.before is not None
    assert row.before.pieces == (Piece("key", "prefix"),)


def rows_of(changed: list[bool]) -> list[Row]:
    return [Row(None, None, each) for each in changed]


def test_hunks_keep_the_first_line_and_some_around_a_change() -> None:
    rows = rows_of([False] * 10 + [True] + [False] * 10)
    assert [(hunk.skipped, len(hunk.rows)) for hunk in hunks(rows, context=2)] == [(0, 1), (7, 5)]


@given(st.lists(st.booleans()), st.integers(0, 3))
def test_hunks_show_every_change_once_and_count_what_they_skip(
    changed: list[bool], context: int
) -> None:
    rows = rows_of(changed)
    at = 0
    shown: list[int] = []
    for hunk in hunks(rows, context=context):
        at += hunk.skipped
        assert hunk.rows == tuple(rows[at : at + len(hunk.rows)])
        shown += range(at, at + len(hunk.rows))
        at += len(hunk.rows)
    assert shown == sorted(set(shown))
    near = {
        place
        for place in range(len(rows))
        if any(changed[max(0, place - context) : place + context + 1])
    }
    assert set(shown) == near | ({0} if rows else set())


def test_what_could_fool_a_reader_becomes_visible() -> None:
    assert make_visible("a\x1b[2J\u202eb\tc\x7f\n") == "a\u241b[2J\ufffdb\tc\u2421\n"


@given(st.text())
def test_making_visible_moves_no_character(text: str) -> None:
    assert len(make_visible(text)) == len(text)


def test_no_character_that_formats_or_hides_is_left() -> None:
    hiding = [
        character
        for character in map(chr, range(0x110000))
        if unicodedata.category(character) in {"Cc", "Cs", "Zl", "Zp"}
        or unicodedata.bidirectional(character) in {"BN", "LRE", "RLO", "LRI", "FSI", "PDI", "PDF"}
    ]
    assert {each for each in hiding if make_visible(each) == each} == {"\t", "\n"}
