import pytest
from hypothesis import given
from hypothesis import strategies as st

from puzzlemark.errors import EditMismatch, ManifestError
from puzzlemark.snippet import Edit, apply_edits, invert_edits


@st.composite
def sources_and_edits(draw: st.DrawFn) -> tuple[bytes, list[Edit]]:
    source = draw(st.binary(max_size=60))
    cuts = sorted(draw(st.lists(st.integers(0, len(source)), max_size=10, unique=True)))
    edits = [
        Edit(start, source[start:end], draw(st.binary(max_size=5)))
        for start, end in zip(cuts[::2], cuts[1::2], strict=False)
    ]
    return source, draw(st.permutations(edits))


@given(sources_and_edits())
def test_inverted_edits_give_the_source_back(case: tuple[bytes, list[Edit]]) -> None:
    source, edits = case
    assert apply_edits(apply_edits(source, edits), invert_edits(edits)) == source


@given(sources_and_edits())
def test_edits_inverted_twice_are_the_edits(case: tuple[bytes, list[Edit]]) -> None:
    _, edits = case
    assert invert_edits(invert_edits(edits)) == tuple(sorted(edits))


@given(sources_and_edits())
def test_edits_are_applied_as_if_from_the_end(case: tuple[bytes, list[Edit]]) -> None:
    source, edits = case
    expected = source
    for edit in sorted(edits, reverse=True):
        expected = expected[: edit.start] + edit.new + expected[edit.start + len(edit.old) :]
    assert apply_edits(source, edits) == expected


def test_no_edits_change_nothing() -> None:
    assert apply_edits(b"x = 1", ()) == b"x = 1"
    assert invert_edits(()) == ()


def test_an_insertion_replaces_nothing() -> None:
    assert apply_edits(b"ac", [Edit(1, b"", b"b")]) == b"abc"


def test_an_edit_ends_after_what_it_replaces() -> None:
    assert Edit(4, b"abc", b"x").end == 7


def test_other_bytes_than_planned_are_an_error_that_shows_both() -> None:
    with pytest.raises(EditMismatch, match=r"byte 4: expected 'abc', found 'xyz'") as caught:
        apply_edits(b"    xyz", [Edit(4, b"abc", b"d")])
    assert isinstance(caught.value, ManifestError)


@pytest.mark.parametrize("start", [5, 6, 100])
def test_an_edit_past_the_end_is_an_error(start: int) -> None:
    with pytest.raises(EditMismatch):
        apply_edits(b"abcde", [Edit(start, b"e", b"")])


def test_edits_that_overlap_are_an_error() -> None:
    with pytest.raises(EditMismatch):
        apply_edits(b"aaaa", [Edit(0, b"aa", b"x"), Edit(1, b"aa", b"y")])


def test_a_negative_offset_is_an_error() -> None:
    with pytest.raises(EditMismatch):
        apply_edits(b"abc", [Edit(-1, b"c", b"x")])


def test_deletions_side_by_side_come_back_in_their_order() -> None:
    edits = (Edit(1, b"b", b""), Edit(2, b"a", b""))
    marked = apply_edits(b"xbay", edits)
    assert marked == b"xy"
    assert apply_edits(marked, invert_edits(edits)) == b"xbay"
