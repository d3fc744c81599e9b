"""The loss curve is XML, and its points are where they should be."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from puzzlemark.pages.curve import BOTTOM, HEIGHT, LEFT, POINTS, RIGHT, TOP, WIDTH, curve
from puzzlemark.pages.curve import running_mean as fast_mean

SVG = "{http://www.w3.org/2000/svg}"


def points(values: list[float], kind: str = "each") -> list[tuple[float, float]]:
    picture = ET.fromstring(curve(values, "title"))  # noqa: S314
    (line,) = [each for each in picture.iter(f"{SVG}polyline") if each.attrib["class"] == kind]
    pairs = (pair.split(",") for pair in line.attrib["points"].split())
    return [(float(x), float(y)) for x, y in pairs]


def test_points_go_from_the_first_step_to_the_last_and_stand_on_zero() -> None:
    # the axis goes to 4 in steps of 1
    found = points([4.0, 2.0, 0.0])
    assert [x for x, _ in found] == [LEFT, (LEFT + WIDTH - RIGHT) / 2, WIDTH - RIGHT]
    assert [y for _, y in found] == [TOP, (TOP + HEIGHT - BOTTOM) / 2, HEIGHT - BOTTOM]


def test_a_long_training_has_a_bounded_picture_that_ends_with_the_last_step() -> None:
    found = points(np.linspace(3, 1, 10_007).tolist())
    assert POINTS / 2 < len(found) <= POINTS
    assert found[-1][0] == WIDTH - RIGHT


@pytest.mark.parametrize("values", [[], [1.0], [float("nan"), 2.0], [0.0, 0.0], [float("inf")]])
def test_whatever_was_measured_can_be_drawn(values: list[float]) -> None:
    assert len(points(values)) == sum(np.isfinite(values))


def test_words_are_escaped_and_the_ends_are_told() -> None:
    picture = ET.fromstring(curve([3.0] * 40 + [1.5] * 40, "<b>&"))  # noqa: S314
    assert picture.findtext(f"{SVG}title") == "<b>&"
    assert "3.00 at first, 1.50 at last" in str(picture.findtext(f"{SVG}desc"))


@given(st.lists(st.floats(0, 20), max_size=40), st.integers(1, 9))
def test_the_running_mean_is_that_of_each_value_and_those_before_it(
    values: list[float], window: int
) -> None:
    slow = [np.mean(values[max(0, n + 1 - window) : n + 1]) for n in range(len(values))]
    assert fast_mean(np.array(values), window).tolist() == pytest.approx(slow, abs=1e-9)
