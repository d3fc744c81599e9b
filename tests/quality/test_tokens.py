import pytest
from hypothesis import given
from hypothesis import strategies as st

from puzzlemark.quality.tokens import names_in, tokenize

PIECES = st.sampled_from(
    ["x_1", "'", '"""', "# é", "\n\t", "0x1F", "1.5e3", "..", ">>>=", "->", "\\", "😀", "\r\n", " "]
)
TEXTS = st.text(max_size=40) | st.lists(PIECES, max_size=12).map("".join)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("x_1 += f('a b')", "x_1 += f ( ' a b ' )"),
        ("for (int i=0; i<10L; i++) {", "for ( int i = 0 ; i < 10L ; i ++ ) {"),
        ("a >>>= b >> 1.5e3 // 2", "a >>>= b >> 1.5e3 // 2"),
        ("x.y = items[1:]  # naïve", "x . y = items [ 1 : ] # naïve"),
        ("if (y := f()) is not None: ...", "if ( y := f ( ) ) is not None : ..."),
        ("'never closed\n\\", "' never closed \\"),
        ("", ""),
    ],
)
def test_code_is_split_as_counted_by_hand(text: str, tokens: str) -> None:
    assert tokenize(text) == tokens.split()


@given(TEXTS)
def test_no_character_but_white_space_is_lost(text: str) -> None:
    tokens = tokenize(text)
    assert "".join(tokens) == "".join(text.split())
    assert all(token and not any(map(str.isspace, token)) for token in tokens)


@given(TEXTS, TEXTS)
def test_lines_are_split_alone_as_together(before: str, after: str) -> None:
    assert tokenize(f"{before}\n{after}") == tokenize(before) + tokenize(after)


def test_names_are_whole_words_wherever_they_stand() -> None:
    assert names_in("key_map = '2nd value' # of Café9") == {"key_map", "nd", "value", "of", "Café9"}
