import pytest
from hypothesis import given
from hypothesis import strategies as st

from puzzlemark.models._sampling import drop_space, take_space


@pytest.mark.parametrize(
    ("prompt", "sent"),
    [
        ("return ", "return"),
        ("if x:\n    ", "if x:\n   "),
        ("a(", "a("),
        ("a\t", "a\t"),
        ("", ""),
        (" ", " "),
    ],
)
def test_exactly_one_trailing_space_is_dropped(prompt: str, sent: str) -> None:
    assert drop_space(prompt) == (sent, sent != prompt)


@given(st.text(alphabet="a \n"), st.text(alphabet="a \n"))
def test_prompt_and_completion_join_to_the_same_text(prompt: str, completion: str) -> None:
    sent, dropped = drop_space(prompt)
    spaced = " " + completion if dropped else completion
    assert prompt + take_space(spaced, dropped) == sent + spaced
