"""How large a study must be."""

from pathlib import Path

import numpy as np
import pytest

from benchmarks.study_power import paper_table
from puzzlemark.errors import UsageError
from puzzlemark.studying.design import Design
from puzzlemark.studying.power import redraw_ps, study_power
from puzzlemark.studying.scoring import redraw_p


def test_many_studies_at_once_have_the_p_of_each() -> None:
    rng = np.random.default_rng(0)
    design = Design("balanced", 6, 2)
    flagged = rng.random((20, 3, 6)) < 0.4
    marked, drawn = design.assign(rng, 3, 20), design.assign(rng, 3, 200)
    slow = [redraw_p(one, two, drawn) for one, two in zip(flagged, marked, strict=True)]
    assert redraw_ps(flagged, marked, drawn).tolist() == slow


def test_without_a_difference_the_share_is_at_most_alpha() -> None:
    share = study_power(0.2, 0.2, participants=5, runs=1_500, draws=499)
    assert share <= 0.05 + 3 * (0.05 * 0.95 / 1_500) ** 0.5


def test_more_people_and_a_larger_difference_see_more() -> None:
    few, many, clear = (
        study_power(rate, 0.1, participants=people, runs=600, draws=499)
        for rate, people in ((0.3, 3), (0.3, 12), (0.7, 3))
    )
    assert few < 0.75 < 0.9 < many
    assert few < clear


@pytest.mark.parametrize("design", ["balanced", "paper"])
def test_both_designs_can_be_asked(design: str) -> None:
    made = Design("paper" if design == "paper" else "balanced", 8, 2)
    assert study_power(0.9, 0.1, participants=4, design=made, runs=200, draws=199) > 0.7


def test_the_page_of_results_shows_these_numbers() -> None:
    page = (Path(__file__).parents[2] / "docs" / "results" / "human-study.md").read_text()
    assert paper_table() in page
    share = study_power(0.3, 0.1, participants=5)
    assert f"| 0.30 | {share:.0%} |" in page.partition("alpha 0.05 ")[2].partition("alpha")[0]


def test_a_rate_that_is_none_is_refused() -> None:
    with pytest.raises(UsageError, match="suspicious: 0"):
        study_power(0, 0.1, participants=5)
