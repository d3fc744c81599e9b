"""Figures are XML, always the same, and their shapes stand where the numbers say."""

import math
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import gaussian_kde

from puzzlemark.pages.figure import (
    Axis,
    Bars,
    Figure,
    Line,
    Panel,
    Violin,
    density,
    draw,
    quantile,
)

SVG = "{http://www.w3.org/2000/svg}"
UP = Axis(0, 100, (0, 50, 100))
LOG = Axis(1, 1000, (1, 10, 100, 1000), is_log=True)
COUNTS = st.lists(
    st.tuples(st.integers(1, 900).map(float), st.integers(1, 50)),
    min_size=1,
    max_size=20,
    unique_by=lambda pair: pair[0],
)


def parse(figure: Figure) -> ET.Element:
    return ET.fromstring(draw(figure))  # noqa: S314


def shapes(picture: ET.Element, kind: str, name: str) -> list[ET.Element]:
    return [e for e in picture.iter(SVG + kind) if name in e.attrib.get("class", "").split()]


def lines() -> Figure:
    line = Line(
        "seen", ((0.0, 0.0), (0.25, 50.0), (0.5, 100.0)), 1, spread=((0, 5), (40, 60), (90, 100))
    )
    return Figure("A & <b>", (Panel("P1", (line,)),), up=UP, up_name="%", columns=1,
                  across=Axis(0, 0.5, (0, 0.5)), across_name="tau")  # fmt: skip


def test_a_line_goes_through_its_points() -> None:
    (path,) = shapes(parse(lines()), "path", "line")[1:]  # the first is the legend's
    points = [tuple(map(float, pair.split())) for pair in path.attrib["d"][1:].split("L")]
    (left, bottom), (middle, half), (right, top) = points
    assert middle == pytest.approx((left + right) / 2)
    assert half == pytest.approx((bottom + top) / 2)
    assert bottom > top


def test_words_are_escaped_and_told_to_whoever_cannot_see() -> None:
    picture = parse(lines())
    assert picture.findtext(f"{SVG}title") == "A & <b>"
    assert picture.findtext(f"{SVG}desc") == "P1: seen from 0 at 0 to 100."


def test_bars_are_as_high_as_their_numbers_and_a_missing_one_is_not_drawn() -> None:
    bars = (Bars("bare", (100.0, None)), Bars("marked", (50.0, 25.0), 1, beside=(75.0, None)))
    figure = Figure("t", (Panel("p", bars, ("B1", "B2")),), up=UP, up_name="%", columns=1)
    picture = parse(figure)
    heights = [float(rect.attrib["height"]) for rect in shapes(picture, "rect", "bar")][2:]
    assert heights == [figure.height, figure.height / 2, figure.height / 4]
    (theirs,) = shapes(picture, "path", "beside")
    assert theirs.findtext(f"{SVG}title") == "B1, marked, paper: 75"


def test_a_panel_without_groups_is_empty() -> None:
    panel = Panel("p", (Bars("bare", ()),))
    picture = parse(Figure("t", (panel,), up=UP, up_name="%", columns=1))
    assert len(shapes(picture, "rect", "bar")) == 1  # of the legend


def test_the_same_figure_is_the_same_bytes_and_no_date_or_place_is_in_it() -> None:
    assert draw(lines()) == draw(lines())
    assert "date" not in draw(lines())
    assert "/" not in "".join(e.text or "" for e in parse(lines()).iter(f"{SVG}text"))


def test_every_colour_has_a_light_a_dark_and_a_printed_value() -> None:
    style = parse(lines()).findtext(f"{SVG}style") or ""
    for colour in ("--c0:", "--c1:", "--c2:", "--c3:", "--text:", "--paper:"):
        assert style.count(colour) == 3


def test_a_logarithmic_axis_has_its_middle_at_the_geometric_mean() -> None:
    assert LOG.share(1) == 0
    assert LOG.share(1000) == pytest.approx(1)
    assert LOG.share(math.sqrt(1000)) == pytest.approx(0.5)
    assert LOG.share(0) == 0  # what is beyond the axis is drawn at its end


@given(COUNTS, st.floats(0.01, 1))
def test_quantiles_are_numpys(counts: list[tuple[float, int]], share: float) -> None:
    numbers = np.repeat([n for n, _ in counts], [c for _, c in counts])
    expected = np.quantile(numbers, share, method="inverted_cdf")
    assert quantile(counts, share) == expected


def test_the_outline_of_a_violin_is_scipys_kernel_estimate() -> None:
    rng = np.random.default_rng(1)
    numbers, counts = np.unique(rng.lognormal(3, 0.8, 400).round().clip(1, 900), return_counts=True)
    pairs = list(zip(numbers.tolist(), counts.tolist(), strict=True))
    outline = density(pairs, LOG)
    places = [LOG.share(at) for at, _ in outline]
    spread = np.repeat([LOG.share(n) for n in numbers.tolist()], counts)
    # scipy's deviation has n - 1 below it, ours n: hence the factor
    kernel = gaussian_kde(spread, lambda k: k.scotts_factor() * math.sqrt(1 - 1 / k.n))
    expected = kernel(places)
    ours = np.array([dense for _, dense in outline])
    np.testing.assert_allclose(ours / ours.max(), expected / expected.max(), rtol=1e-6)


@pytest.mark.parametrize("counts", [((5.0, 1),), ((1.0, 3), (900.0, 1)), ()])
def test_any_numbers_can_be_a_violin(counts: tuple[tuple[float, int], ...]) -> None:
    panel = Panel("p", (Violin("ALL", counts),), ("ALL",))
    picture = parse(Figure("t", (panel,), up=LOG, up_name="lines", columns=1))
    assert len(shapes(picture, "path", "violin")) == (1 if counts else 0)
    assert len(shapes(picture, "path", "quarter")) == (3 if counts else 0)
    assert "nan" not in draw(Figure("t", (panel,), up=LOG, up_name="lines", columns=1))


def test_panels_stand_side_by_side_and_inside_the_picture() -> None:
    line = Line("x", ((0.0, 10.0), (0.5, 20.0)))
    panels = tuple(Panel(f"P{n}", (line,)) for n in range(5))
    picture = parse(Figure("t", panels, up=UP, up_name="%", across=Axis(0, 0.5, (0, 0.5))))
    titles = [e for e in picture.iter(f"{SVG}text") if e.attrib.get("class") == "panel"]
    assert len({e.attrib["x"] for e in titles}) == 2
    assert len({e.attrib["y"] for e in titles}) == 3
    height = float(picture.attrib["height"])
    assert all(0 < float(e.attrib.get("y", 1)) < height for e in picture.iter(f"{SVG}text"))
