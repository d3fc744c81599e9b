"""The picture is XML, and its bars add up."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from puzzlemark.pages.histogram import (
    BOTTOM,
    HEIGHT,
    LEFT,
    RIGHT,
    TOP,
    WIDTH,
    Labels,
    histogram,
    suitability_picture,
)

SVG = "{http://www.w3.org/2000/svg}"
LABELS = Labels("across", "up", "below", "above")


def drawn(values: list[float], threshold: float) -> ET.Element:
    return ET.fromstring(histogram(values, threshold, "title", LABELS))  # noqa: S314


def heights(picture: ET.Element, kind: str) -> list[float]:
    bars = picture.iterfind(f"{SVG}g/{SVG}rect")
    return [float(bar.attrib["height"]) for bar in bars if bar.attrib["class"] == kind]


def texts(picture: ET.Element) -> list[str]:
    return ["".join(each.itertext()) for each in picture.iter(f"{SVG}text")]


def test_bars_are_as_high_as_their_counts() -> None:
    # each value is alone in its bin; the axis goes to 4, its plot is `plot` high
    picture = drawn([0.11] * 4 + [0.51] * 2 + [0.91], 0.5)
    plot = HEIGHT - TOP - BOTTOM
    assert heights(picture, "out") == [plot]
    assert heights(picture, "in") == [plot / 2, plot / 4]


def test_a_bar_that_the_threshold_cuts_has_a_share_of_both() -> None:
    # bins are 0.02 wide
    picture = drawn([0, 0.501, 0.509, 0.511, 0.519, 1], 0.51)
    assert len(heights(picture, "out")) == len(heights(picture, "in")) == 2


def test_counts_on_both_sides_are_written_and_the_threshold_itself_is_above() -> None:
    written = texts(drawn([0.1, 0.2, 0.5, 0.9], 0.5))
    assert "2 below" in written
    assert "2 above" in written
    assert "threshold 0.500" in written


def test_what_was_not_measured_is_left_out() -> None:
    nan = float("nan")
    assert "1 above" in texts(drawn([nan, 0.9, nan], 0.5))


def test_without_a_threshold_none_is_drawn() -> None:
    picture = drawn([], float("nan"))
    assert not [line for line in picture.iter(f"{SVG}line") if line.attrib["class"] == "cut"]
    assert not [text for text in texts(picture) if "threshold" in text]


def test_words_are_escaped() -> None:
    text = histogram([0.5], 0.5, "<b>&", LABELS)
    assert ET.fromstring(text).findtext(f"{SVG}title") == "<b>&"  # noqa: S314


@pytest.mark.parametrize(
    ("values", "ticks"),
    [
        ([0.4512, 0.5488], ["0.46", "0.48", "0.50", "0.52", "0.54"]),
        ([-3.2, 41.0], ["0", "10", "20", "30", "40"]),
        ([0.0, 250_000.0], ["0", "50,000", "100,000", "150,000", "200,000", "250,000"]),
    ],
)
def test_the_axis_is_in_the_units_of_the_values_and_they_fill_it(
    values: list[float], ticks: list[str]
) -> None:
    picture = drawn(values, values[0])
    written = texts(picture)
    end = written.index("across")  # the name of the axis follows its ticks
    assert written[end - len(ticks) : end] == ticks
    bars = [bar for bar in picture.iterfind(f"{SVG}g/{SVG}rect") if bar.attrib["class"] == "in"]
    first, last = bars[0], bars[-1]
    assert float(first.attrib["x"]) == LEFT + 0.5
    assert float(last.attrib["x"]) + float(last.attrib["width"]) == WIDTH - RIGHT - 0.5


def test_equal_values_stand_in_the_middle() -> None:
    (bar,) = [
        each
        for each in drawn([7.0] * 5, 7.0).iterfind(f"{SVG}g/{SVG}rect")
        if "in" in each.attrib["class"]
    ]
    assert abs(float(bar.attrib["x"]) - (LEFT + WIDTH - RIGHT) / 2) < 20


@given(st.lists(st.floats(-1e9, 1e9)), st.floats(-1e9, 1e9))
def test_every_value_is_counted_once(values: list[float], threshold: float) -> None:
    written = texts(drawn(values, threshold))
    below = sum(value < threshold for value in values)
    above = len(values) - below
    counts = [text for text in written if text.endswith(("below", "above"))]
    assert counts == [f"{n} {side}" for n, side in ((below, "below"), (above, "above")) if n]


@pytest.mark.parametrize("highest", [1, 2, 3, 7, 10, 99, 4_000, 123_456])
def test_no_bar_is_higher_than_the_axis(highest: int) -> None:
    picture = drawn([0.5] * highest, 0.1)
    plot = HEIGHT - TOP - BOTTOM
    assert plot / 2 <= heights(picture, "in")[0] <= plot


def test_the_picture_of_suitability_names_tau() -> None:
    picture = suitability_picture(np.array([0.2, 0.6, np.nan]), 0.5, 0.35)
    assert "2 records measured, quantile tau 0.35" in picture
    assert ET.fromstring(suitability_picture(np.array([]), None, 0.35)) is not None  # noqa: S314
