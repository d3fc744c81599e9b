"""Edits that are kept in a file, and the one edit between two texts."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from puzzlemark.attacks._editing import exchange, spell_edits, store_edits
from puzzlemark.snippet import Edit, apply_edits

TEXTS = st.text(alphabet="aä€😀b\n", max_size=12)


@given(TEXTS, TEXTS)
def test_an_exchange_makes_one_of_the_other_and_cuts_no_character(old: str, new: str) -> None:
    edits = exchange(old.encode(), new.encode())
    assert apply_edits(old.encode(), edits) == new.encode()
    assert len(edits) == (old != new)
    for edit in edits:
        edit.old.decode()
        edit.new.decode()


def test_what_both_texts_share_is_not_exchanged() -> None:
    assert exchange(b"int a = 1;", b"int b = 1;") == (Edit(4, b"a", b"b"),)
    assert exchange(b"aa", b"aaa") == (Edit(2, b"", b"a"),)


def test_stored_edits_are_found_by_row(tmp_path: Path) -> None:
    edits = {3: (Edit(0, b"a", b"\xc3\xa4"),), 7: (Edit(1, b"x", b""), Edit(5, b"", b"y"))}
    stored = store_edits(tmp_path / "e", ((row, spell_edits(some)) for row, some in edits.items()))
    assert dict(stored) == edits
    assert (len(stored), list(stored)) == (2, [3, 7])
    for missing in (0, 5, 8):
        with pytest.raises(KeyError):
            stored[missing]
