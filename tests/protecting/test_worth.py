import pytest

from puzzlemark.protecting.worth import Worth, judge_worth
from puzzlemark.verification.power import power_of
from puzzlemark.watermarks.fixed_prefix import FixedPrefix
from puzzlemark.watermarks.universal import Universal


def worth_of(marks: int) -> Worth:
    return judge_worth(
        FixedPrefix("key").design,
        functions=1000,
        files=10,
        able=marks,
        marks=marks,
        training_set=400_000,
    )


@pytest.mark.parametrize(
    ("marks", "word", "said"),
    [
        (19, "none", "Not worth it"),
        (20, "small", "Hardly worth it"),
        (99, "small", "Hardly worth it"),
        (100, "doubtful", "Doubtful"),
        (399, "doubtful", "Doubtful"),
        (400, "fair", "Worth it"),
    ],
)
def test_it_says_plainly_what_so_many_marks_are_good_for(marks: int, word: str, said: str) -> None:
    worth = worth_of(marks)
    assert worth.word == word
    assert list(worth.sentences())[-1].startswith(said)


def test_capacity_and_share_come_first() -> None:
    first, second, *_ = worth_of(96).sentences()
    assert first == "1,000 functions in 10 files can carry 96 marks; after this run there are 96."
    assert "a training set of 400,000 functions that is 0.024%" in second


def test_the_smallest_rate_is_where_the_test_has_its_power() -> None:
    worth = worth_of(96)
    assert worth.smallest_rate is not None
    assert power_of("mcnemar", 96, hit_rate=worth.smallest_rate) >= 0.8
    assert power_of("mcnemar", 96, hit_rate=worth.smallest_rate - 0.01) < 0.8


def test_a_watermark_with_a_null_ratio_needs_more() -> None:
    plain, universal = (
        judge_worth(design, functions=1, files=1, able=96, marks=96, training_set=1).smallest_rate
        for design in (FixedPrefix("key").design, Universal().design)
    )
    assert plain is not None
    assert universal is not None
    assert plain < universal
