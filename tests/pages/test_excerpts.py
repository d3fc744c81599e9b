"""What is shown of a text is there character by character; what is not is counted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from puzzlemark.pages.excerpts import (
    AROUND,
    FURTHER,
    HEAD_CHARACTERS,
    HEAD_LINES,
    Highlight,
    Piece,
    abridge,
    excerpt,
    legible,
)

TEXTS = st.lists(
    st.sampled_from(["a", "\n", "\r\n", "key", "é", "\u202e", " " * 70, "x" * 500, "\n" * 9])
).map("".join)


def restored(text: str, pieces: tuple[Piece, ...]) -> None:
    """Every shown stretch stands where the skipped characters before it say."""
    at = 0
    for piece in pieces:
        at += piece.skipped
        assert legible(text)[at : at + len(piece.text)] == piece.text
        at += len(piece.text)
    assert at == len(text)


@given(TEXTS)
def test_an_abridged_prompt_accounts_for_every_character(prompt: str) -> None:
    restored(prompt, abridge(prompt))


@given(TEXTS)
def test_an_abridged_prompt_keeps_what_stands_right_before_the_completion(prompt: str) -> None:
    last = legible(prompt).split("\n")[-1]
    assert abridge(prompt)[-1].text.endswith(last[-1000:])


def test_a_short_prompt_is_shown_whole() -> None:
    prompt = "\n".join(f"line {number}" for number in range(18))
    assert abridge(prompt) == (Piece(prompt),)


def test_a_long_prompt_keeps_four_lines_at_its_start_and_fourteen_at_its_end() -> None:
    lines = [f"line {number}" for number in range(30)]
    start, end = abridge("\n".join(lines))
    assert start.text == "\n".join(lines[:4])
    assert end.text == "\n".join(lines[-14:])
    assert end.skipped == len("\n".join(["", *lines[4:16], ""]))


def spans(text: str, word: str) -> list[Highlight]:
    starts = [n for n in range(len(text)) if text.startswith(word, n)]
    return [Highlight(start, start + len(word), "target") for start in starts]


@given(TEXTS)
def test_an_excerpt_accounts_for_every_character(text: str) -> None:
    restored(text, excerpt(text, spans(text, "key")))


@given(TEXTS)
def test_the_first_highlight_is_always_shown_whole(text: str) -> None:
    found = spans(text, "key")
    named = [piece.text for piece in excerpt(text, found) if piece.role]
    assert set(named) <= {"key"}
    assert bool(named) == bool(found)
    assert len(named) >= min(len(found), FURTHER)


def test_highlights_are_cut_out_at_their_places() -> None:
    pieces = excerpt("é key(key2)", [Highlight(2, 5, "target"), Highlight(6, 10, "own")])
    assert pieces == (
        Piece("é "),
        Piece("key", "target"),
        Piece("("),
        Piece("key2", "own"),
        Piece(")"),
    )


@pytest.mark.parametrize("filler", ["x" * 40_000, "\n" * 40_000])
def test_a_flood_is_cut_and_the_hit_behind_it_is_shown(filler: str) -> None:
    text = f"{filler} key {filler}"
    pieces = excerpt(text, spans(text, "key"))
    assert [piece.text for piece in pieces if piece.role] == ["key"]
    shown = "".join(piece.text for piece in pieces)
    assert len(shown) <= HEAD_CHARACTERS + 2 * AROUND + 3
    assert shown.count("\n") < HEAD_LINES + 2 * AROUND


def test_a_hit_across_the_end_of_the_head_is_not_torn() -> None:
    text = "x" * (HEAD_CHARACTERS - 1) + "key" + "y" * 999
    found = [Highlight(HEAD_CHARACTERS - 1, HEAD_CHARACTERS + 2, "target")]
    assert [piece.text for piece in excerpt(text, found) if piece.role] == ["key"]


def test_what_hides_is_made_visible() -> None:
    (piece,) = excerpt("a\u202eb\x1b\r\nc\u00ad", [])
    assert piece.text == "a\ufffdb\u241b \nc\ufffd"
