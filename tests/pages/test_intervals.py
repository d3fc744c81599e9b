"""Dots and whiskers stand where their numbers say."""

import itertools

import pytest

from puzzlemark.pages.intervals import LEFT, RIGHT, WIDTH, Interval, Picture, picture

PLOT = WIDTH - LEFT - RIGHT


def drawn(*rates: tuple[float, float, float]) -> Picture:
    return picture([Interval("arm", "", rate, low, high) for low, rate, high in rates])


def test_a_share_of_one_half_is_in_the_middle() -> None:
    (row,) = drawn((0.25, 0.5, 1.0)).rows
    assert (row.low, row.rate, row.high) == (LEFT + PLOT / 4, LEFT + PLOT / 2, LEFT + PLOT)


@pytest.mark.parametrize(
    ("high", "last"), [(0.004, "1 %"), (0.02, "2 %"), (0.021, "5 %"), (0.3, "50 %"), (1.0, "100 %")]
)
def test_the_axis_is_as_long_as_the_widest_interval_needs(high: float, last: str) -> None:
    shown = drawn((0.0, 0.0, high))
    assert shown.ticks[0].text == "0 %"
    assert shown.ticks[-1].text == last
    assert shown.ticks[-1].x == WIDTH - RIGHT


def test_rows_do_not_touch_and_stay_above_the_axis() -> None:
    shown = drawn((0, 0, 0.1), (0, 0.05, 0.2), (0.1, 0.2, 0.3))
    places = [place for row in shown.rows for place in (row.text_y, row.y)]
    assert all(later - earlier >= 16 for earlier, later in itertools.pairwise(places))
    assert places[-1] < shown.bottom < shown.height
