"""What the answers say: hand-counted, against enumeration, and on panels that are simulated."""

import itertools
import json
import math
import random
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from puzzlemark.errors import UsageError
from puzzlemark.studying.design import Design
from puzzlemark.studying.key import Key, StudyError
from puzzlemark.studying.results import PAPER, results_page
from puzzlemark.studying.scoring import redraw_p, score_study
from tests.studying import studies


def test_rates_are_counted_by_hand(key: Key, tmp_path: Path) -> None:
    """p01 and p02 flag what is marked; p02 flags one bare snippet of the first watermark."""
    (first, mark), *_ = key.marks.items()
    bare = next(
        shown.snippet
        for shown in key.participants["p02"].shown.values()
        if not shown.is_marked and shown.snippet in mark.snippets
    )

    def decide(who: str, snippet: int, is_marked: bool) -> bool:
        return is_marked or (who == "p02" and snippet == bare)

    paths = []
    for who in ("p01", "p02"):
        paths.append(tmp_path / f"{who}.json")
        paths[-1].write_text(json.dumps(studies.answer(key, who, decide, rounds=[1])))
    score = score_study(paths, key, draws=99)
    found = next(each for each in score.marks if each.mark == first)
    assert (found.round, found.participants) == (1, 2)
    assert (found.suspicious.hits, found.suspicious.trials) == (2, 2)
    assert (found.false_flags.hits, found.false_flags.trials) == (1, 6)
    assert found.difference == pytest.approx(1 - 1 / 6)
    exact = stats.binomtest(1, 6).proportion_ci(method="exact")
    assert (found.false_flags.low, found.false_flags.high) == pytest.approx(exact, abs=1e-9)
    (group,) = score.groups
    assert (group.language, group.round, group.participants) == ("python", 1, 2)
    assert (group.suspicious.hits, group.suspicious.trials) == (4, 4)
    assert (group.false_flags.hits, group.false_flags.trials) == (1, 12)
    times = [1 + shown.snippet / 1000 for w in ("p01", "p02") for shown in
             key.participants[w].shown.values()]  # fmt: skip
    assert group.seconds == pytest.approx(tuple(np.quantile(times, [0.25, 0.5, 0.75])))
    assert score.answered == {"p01": (1,), "p02": (1,)}


def test_one_participants_p_is_fishers() -> None:
    """Five of twenty are marked: the draws are those of the hypergeometric distribution."""
    flagged = np.zeros((1, 20), np.bool_)
    flagged[0, :6] = True
    marked = np.zeros((1, 20), np.bool_)
    marked[0, 2:7] = True  # four of the five are flagged
    drawn = Design("balanced", 20, 5).assign(np.random.default_rng(1), 1, 40_000)
    exact = stats.hypergeom(20, 6, 5).sf(3)
    assert redraw_p(flagged, marked, drawn) == pytest.approx(exact, abs=0.004)


def test_several_participants_p_is_that_of_all_draws() -> None:
    """One of four marked for each of four people: all 24 ways, each as likely."""
    rng = np.random.default_rng(2)
    flagged = rng.random((4, 4)) < 0.4
    marked = np.eye(4, dtype=np.bool_)
    found = int((flagged & marked).sum())
    ways = [sum(flagged[p, s] for p, s in enumerate(w)) for w in itertools.permutations(range(4))]
    exact = sum(way >= found for way in ways) / 24
    drawn = Design("balanced", 4, 1).assign(np.random.default_rng(3), 4, 20_000)
    assert redraw_p(flagged, marked, drawn) == pytest.approx(exact, abs=0.015)


def test_p_is_never_zero() -> None:
    flagged = np.zeros((1, 20), np.bool_)
    flagged[0, :5] = True
    drawn = Design("paper", 20, 5).assign(np.random.default_rng(0), 1, 99)
    assert redraw_p(flagged, flagged, drawn) >= 1 / 100


def test_people_who_flag_at_random_are_accused_of_a_find_as_often_as_the_test_says() -> None:
    """People differ much in how readily they flag, and snippets in how odd they are."""
    design, people, runs = Design("balanced", 8, 2), 5, 600
    rng = np.random.default_rng(4)
    drawn = design.assign(rng, people, 499)
    below = 0
    for _ in range(runs):
        readiness, oddness = rng.normal(0, 2, (people, 1)), rng.normal(0, 2, (1, 8))
        flagged = rng.random((people, 8)) < 1 / (1 + np.exp(1 - readiness - oddness))
        below += redraw_p(flagged, design.assign(rng, people)[0], drawn) <= 0.05
    # at most 30 expected, with a standard deviation of 5.3
    assert below <= 30 + 3 * math.sqrt(runs * 0.05 * 0.95)


def test_a_panel_that_sees_a_mark_is_told_from_one_that_flags_much(
    key: Key, tmp_path: Path
) -> None:
    rng = random.Random(0)
    seen = [name for name, mark in key.marks.items() if mark.scheme == "universal"]
    watermark = key.mark_of()

    def decide(who: str, snippet: int, is_marked: bool) -> bool:
        return is_marked if watermark[snippet] in seen else rng.random() < 0.6

    paths = studies.write_panel(tmp_path / "answers", key, decide)
    score = score_study(paths, key, draws=999)
    for each in score.marks:
        if each.mark in seen:
            # all four find it: one of 24 draws does by chance
            assert each.p == pytest.approx(1 / 24, abs=0.03)
            assert each.difference == 1
        else:
            assert each.suspicious.rate > 0.2  # the paper's number alone would accuse the mark
        assert each.p_adjusted >= each.p


def test_the_same_files_and_seed_give_the_same_score(key: Key, tmp_path: Path) -> None:
    rng = random.Random(1)
    paths = studies.write_panel(tmp_path, key, lambda *_: rng.random() < 0.5)
    one, two = (score_study(paths, key, draws=199).to_json() for _ in range(2))
    assert one == two
    json.dumps(one, default=str)


def test_nothing_to_count_is_an_error_that_names_the_files(key: Key, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("{}")
    with pytest.raises(StudyError, match=r"no finished round to count: .*a\.json: unreadable"):
        score_study([tmp_path / "a.json"], key)
    with pytest.raises(StudyError, match="no file was passed"):
        score_study([], key)


@pytest.mark.parametrize("options", [{"draws": 0}, {"draws": 98}, {"seed": -1}])
def test_a_test_without_draws_is_refused(key: Key, options: dict[str, int]) -> None:
    with pytest.raises(UsageError, match="99 draws or more, and a seed of 0 or more"):
        score_study([], key, **options)


def test_agreement_compares_people_who_saw_the_same_form(key: Key, tmp_path: Path) -> None:
    def by_form(who: str, snippet: int, is_marked: bool) -> bool:
        return is_marked

    score = score_study(studies.write_panel(tmp_path, key, by_form), key, draws=99)
    # each marked form has one reader, and all bare ones are answered alike: nothing to compare
    assert {group.alpha for group in score.groups} == {None}

    def by_snippet(who: str, snippet: int, is_marked: bool) -> bool:
        return snippet % 2 == 0

    score = score_study(studies.write_panel(tmp_path, key, by_snippet), key, draws=99)
    assert {group.alpha for group in score.groups} == {1.0}


def test_the_page_has_the_papers_table_beside_and_names_what_is_left_out(
    key: Key, tmp_path: Path
) -> None:
    renamed = dict(zip(key.marks, ("P1", "U1", "P3", "U2"), strict=True))
    named = key.model_copy(update={"marks": {renamed[n]: m for n, m in key.marks.items()}})
    paths = studies.write_panel(tmp_path, named, lambda _who, _snippet, marked: marked)
    (tmp_path / "odd.json").write_text("odd")
    page = results_page(score_study([*paths, tmp_path / "odd.json"], named, draws=99))
    rows = [line.split(" | ") for line in page.splitlines() if line.startswith("| P1 ")]
    assert [row[1] for row in rows] == ["1", "2"]
    assert [row[-1].strip(" |") for row in rows] == ["0.12", "0.32"]
    assert "4/4 = 1.00 (0.40-1.00)" in rows[0][3]
    assert "odd.json: unreadable" in page
    assert "8 of 8 participants" in page


def test_the_papers_averages_follow_from_its_rounds() -> None:
    """The paper's own sums: +0.14 for Python and +0.03 for Java, and multiples of 1/25."""
    assert len(PAPER) == 14
    for one, two in PAPER.values():
        assert (25 * one) == pytest.approx(round(25 * one))
        assert (25 * two) == pytest.approx(round(25 * two))
    python, java = ([PAPER[n] for n in names.split()] for names in
                    ("W1 S1 B1 B2 P1 P2 U1", "W2 S2 B3 B4 P3 P4 U2"))  # fmt: skip
    for rows, told in ((python, 0.14), (java, 0.03)):
        assert sum(b - a for a, b in rows) / 7 == pytest.approx(told, abs=0.005)
