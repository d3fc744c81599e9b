"""The first page of a report: true in round numbers, and honest about who says what."""

import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from puzzlemark.verification.case import Case, CaseError, parse_case, read_case
from puzzlemark.verification.front import build_front, events, odds
from puzzlemark.verification.glossary import glossary
from puzzlemark.verification.report import build
from puzzlemark.verification.run import Run
from puzzlemark.verification.terms import terms_for
from tests.pages.runs import learnt, run_of

STANDING: dict[str, Any] = {
    "standing": "confirmatory",
    "deviations": [],
    "notes": ["The server was asked for 'a'; it says that 'b' answered."],
    "commitment": {
        "hash": "3f" * 32,
        "stamps": [{"time": "2026-03-01T10:00:00Z", "authority": "TSA", "verified": True}],
    },
    "run": {"number": 2, "of": 2, "sentence": "This is the second of two runs."},
    "chain": {
        "first": "2026-04-17T09:00:00.000Z", "last": "2026-04-17T10:12:00.000Z", "stamps": [],
    },
}  # fmt: skip
CASE = parse_case('title = "A against B"\n[published]\ndate = 2026-03-02\nwhere = "here"\n')


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return run_of(tmp_path_factory.mktemp("run") / "run", learnt)


@pytest.mark.parametrize(
    ("log10_p", "said"),
    [
        (-56.3, "1 in 10⁵⁶"),
        (-56.0, "1 in 10⁵⁵"),
        (-6.5, "1 in 10⁶"),
        (-600.3, "1 in 10⁶⁰⁰"),
        (-2.5, "1 in 310"),
        (math.log10(0.04), "1 in 24"),
        (-5.9, "1 in 790,000"),
    ],
)
def test_the_chance_in_round_numbers(log10_p: float, said: str) -> None:
    assert odds(log10_p) == said


@given(st.floats(-5.999, -0.5))
def test_less_than_is_true_and_not_by_far(log10_p: float) -> None:
    """Below one in a million it is written out: p is below it, by less than a fifth."""
    number = int(odds(log10_p).removeprefix("1 in ").replace(",", ""))
    assert 10**log10_p < 1 / number
    assert 10**log10_p > 1 / (1.21 * (number + 1))


@given(st.floats(-1e5, -6.001))
def test_powers_of_ten_are_true(log10_p: float) -> None:
    power = (
        odds(log10_p).removeprefix("1 in 10").translate(str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789"))
    )
    assert log10_p < -int(power) <= log10_p + 1.000001


def test_the_sentence_claims_what_was_tested_of_whoever_answered(run: Run, tmp_path: Path) -> None:
    front = build_front(run, None, None)
    assert front.lead.startswith("The answers that the owner supplied depend on the owner's marks")
    assert "less than 1 in 10" in front.lead
    assert "log10" not in front.lead + " ".join(front.more)
    paper = run_of(tmp_path / "paper", learnt, terms=terms_for(paper=True))
    assert build_front(paper, None, None).lead.startswith("By a test that accuses some innocent")
    nothing = run_of(tmp_path / "nothing", lambda _n, _a: "x = 1\n")
    assert "that does not mean" in build_front(nothing, None, None).lead
    few = run_of(tmp_path / "few", learnt, pairs=3)
    assert build_front(few, None, None).lead.startswith("The test came to no result")


def test_without_a_commitment_it_is_exploratory(run: Run) -> None:
    front = build_front(run, None, None)
    assert front.standing == "exploratory"
    assert "Nothing shows" in front.about_standing[0]
    assert [event.state for event in front.events] == ["missing"] * 5


def test_with_one_it_says_so_and_counts_the_runs(run: Run) -> None:
    front = build_front(run, STANDING, CASE, "2026-04-18T00:00:00Z")
    assert front.standing == "confirmatory"
    assert front.about_standing[-1] == "This is the second of two runs."
    assert [(event.name, event.state) for event in front.events] == [
        ("Committed", "known"), ("Stamped", "known"), ("Published", "stated"),
        ("Asked", "stated"), ("Judged", "stated"),
    ]  # fmt: skip
    assert front.title == "A against B"
    assert any(
        "it says that 'b' answered" in each for each in build(run, standing=STANDING).caveats
    )


def changed(**chain: Any) -> dict[str, Any]:
    return {**STANDING, "chain": {**STANDING["chain"], **chain}}


@pytest.mark.parametrize(
    ("standing", "published", "wrong"),
    [
        (STANDING, "2026-02-28", "Published"),  # before it was stamped
        (STANDING, "2026-05-01", "Published"),  # after the model was asked
        (changed(first="2026-02-01T00:00:00Z"), "2026-03-02", "Asked"),
        (changed(broken="it was cut"), "2026-03-02", "Asked"),
    ],
)
def test_what_does_not_fit_is_marked(standing: dict[str, Any], published: str, wrong: str) -> None:
    found = events(standing, Case(published=published))
    assert [event.name for event in found if event.state == "wrong"] == [wrong]


def test_a_signature_that_nobody_verified_vouches_for_nothing() -> None:
    stamp = {"time": "2026-03-01T10:00:00Z", "authority": None, "verified": False}
    unverified = {**STANDING, "commitment": {"hash": "00", "stamps": [stamp]}}
    assert [e.state for e in events(unverified)][:2] == ["stated", "stated"]


def test_the_glossary_has_the_words_of_this_verdict_only(run: Run, tmp_path: Path) -> None:
    assert {"Trigger, target", "Control, placebo"} <= {fact.name for fact in glossary(run.verdict)}
    assert not any("e-process" in fact.name for fact in glossary(run.verdict))
    sequential = run_of(
        tmp_path / "s", learnt, strategy="universal", terms=terms_for(sequential=True)
    )
    names = {fact.name for fact in glossary(sequential.verdict)}
    assert "Evidence e, e-process" in names
    assert "Control" in names


def test_the_e_process_is_reported_where_it_decides(run: Run, tmp_path: Path) -> None:
    assert not any("e-process" in test.name for test in build(run).tests)
    assert not any("e-process" in text for text in build(run).about_tests)
    sequential = build(run_of(tmp_path / "s", learnt, terms=terms_for(sequential=True)))
    assert [test.name for test in sequential.tests if test.is_decisive] == [
        "sequential e-process"
    ] * 2


def test_a_case_is_read_and_what_it_would_ignore_is_an_error(tmp_path: Path) -> None:
    assert CASE.published == "2026-03-02"
    assert CASE.facts == [("Published at", "here")]
    for text, reason in (
        ("colour = 1", "unknown: colour"),
        ("title = 1", "title: a text"),
        (f'title = "{"x" * 3000}"', "title: a text"),
        ("title = ", "TOML"),
        ("published = 1", "a table"),
        ('[published]\ndate = "soon"', "without quotes"),
    ):
        with pytest.raises(CaseError, match=reason):
            parse_case(text)
    with pytest.raises(CaseError, match="cannot be read"):
        read_case(tmp_path / "none.toml")
    (tmp_path / "large.toml").write_text("#" * 100_000)
    with pytest.raises(CaseError, match="a few lines"):
        read_case(tmp_path / "large.toml")
