"""What a report says follows from the run, and from nothing else."""

import json
import stat
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner, Result

from puzzlemark.cli.__main__ import application
from puzzlemark.models.base import Answer, Failure
from puzzlemark.models.scripted import Scripted
from puzzlemark.pages.report import Example, Grid, report_page
from puzzlemark.syntax.naming import mentions
from puzzlemark.verification.checking import ProbesError
from puzzlemark.verification.front import quote_power
from puzzlemark.verification.report import build, find_hits, quote_p
from puzzlemark.verification.run import verify
from puzzlemark.verification.terms import Terms
from puzzlemark.watermarks.base import Arm, Probe
from tests.pages.runs import OWN, TARGET, learnt, probe, probe_set, run_of
from tests.verification.outcomes import made_of


def hits(example: Example) -> dict[str, bool | None]:
    return {scored.arm: scored.is_hit for panel in example.panels for scored in panel.scored}


def cells(grid: Grid) -> dict[str, tuple[int | str, ...]]:
    return {line.name: line.counts for line in grid.lines}


def mixed(number: int, armed: bool) -> Answer:
    """Mostly armed hits; probe 7 composes, 8 fails when armed, 9 hits in the control, 3 nowhere."""
    if armed and number == 8:
        return Failure("no luck")
    if armed:
        return {3: "x", 9: "y"}.get(number, f"({TARGET})")
    return {7: f"{OWN}\n", 9: TARGET}.get(number, "")


def test_numbers_of_the_page_are_those_of_the_verdict(tmp_path: Path) -> None:
    run = run_of(tmp_path / "run", mixed)
    report = build(run)
    told = run.verdict.to_json()
    assert (report.word, f"Detected in answers supplied by the owner: {report.sentence}") == (
        "detected",
        told["sentence"].replace(": with", ": With"),
    )
    placebo, control = report.tables
    # 40 probes, of which one failed; armed missed in 3 and 9
    assert (placebo.against, placebo.is_decisive, placebo.failed) == ("placebo", True, 1)
    assert placebo.by_arm.columns == ("hits", "misses", "answered")
    assert cells(placebo.by_arm) == {"armed": (37, 2, 39), "placebo": (1, 38, 39)}
    assert placebo.by_pair is not None
    assert placebo.by_pair.columns == ("placebo hit", "placebo missed")
    assert cells(placebo.by_pair) == {"armed hit": (1, 36), "armed missed": (0, 2)}
    assert control.by_pair is not None
    assert cells(control.by_pair) == {"armed hit": (0, 37), "armed missed": (1, 1)}
    assert [rate.about.split(":")[0] for rate in report.rates] == [
        "37 of 39",
        "1 of 39",
        "1 of 39",
    ]
    assert [rate.name for rate in report.rates] == ["armed", "placebo", "control"]
    # the e-process does not decide here, and is left out
    beside = [each for each in told["beside"] if each["test"] != "e-process"]
    assert len(report.tests) == 2 + len(beside) == len(told["beside"])
    assert [test.is_decisive for test in report.tests] == [True] * 2 + [False] * 6
    assert report.tests[0].statistic == "36 armed only, 0 placebo only"
    assert report.tests[0].p == "1.5 \N{MULTIPLICATION SIGN} 10⁻¹¹"  # 2 ** -36
    assert set(told["caveats"]) == set(report.caveats)


def test_examples_show_every_kind_of_outcome_and_the_earliest_of_each(tmp_path: Path) -> None:
    report = build(run_of(tmp_path / "run", mixed))
    assert [example.number for example in report.examples] == [0, 1, 3, 7, 8, 9]
    shown = {example.number: hits(example) for example in report.examples}
    assert shown[0] == {"armed": True, "control": False, "placebo": False}
    assert shown[3] == {"armed": False, "control": False, "placebo": False}
    assert shown[7] == {"armed": True, "control": False, "placebo": True}
    assert shown[8] == {"armed": None, "control": False, "placebo": False}
    assert shown[9] == {"armed": False, "control": True, "placebo": False}


@pytest.mark.parametrize("wanted", [0, 3, 100])
def test_there_are_as_many_examples_as_wanted_and_no_more_than_probes(
    tmp_path: Path, wanted: int
) -> None:
    numbers = [e.number for e in build(run_of(tmp_path / "run", mixed), examples=wanted).examples]
    assert len(numbers) == min(wanted, 40)
    assert numbers == sorted(set(numbers))


def test_a_failed_request_says_why_and_is_no_miss(tmp_path: Path) -> None:
    run = run_of(tmp_path / "run", mixed)
    (example,) = [e for e in build(run).examples if e.number == 8]
    armed, other = example.panels
    assert armed.failure == "no luck"
    assert other.failure is None
    assert other.is_empty
    assert "Not answered: no luck" in report_page(build(run))


def test_control_and_placebo_share_a_panel_where_they_share_the_answer(tmp_path: Path) -> None:
    (example,) = [e for e in build(run_of(tmp_path / "run", mixed)).examples if e.number == 7]
    assert [[s.arm for s in panel.scored] for panel in example.panels] == [
        ["armed"],
        ["control", "placebo"],
    ]
    assert [(p.text, p.role) for p in example.panels[1].completion] == [
        ("", None),
        (OWN, "own"),
        ("\n", None),
    ]


def test_a_placebo_with_a_prompt_of_its_own_is_refused(tmp_path: Path) -> None:
    probes = tuple(
        Probe({**probe(n).arms, "placebo": Arm(f"f{n}(name, unknown_token) = ", OWN)})
        for n in range(40)
    )
    asked = replace(probe_set(40), probes=probes)
    with pytest.raises(ProbesError, match="control and placebo do not have the same prompt"):
        verify(asked, Scripted("m", lambda _: TARGET), tmp_path / "run")


def test_the_universal_strategy_has_no_placebo_to_report(tmp_path: Path) -> None:
    report = build(run_of(tmp_path / "run", learnt, strategy="universal"))
    assert [table.against for table in report.tables] == ["control"]
    assert {test.against for test in report.tests} == {"control"}
    assert report.others == ("control",)
    assert [legend.role for legend in report.legends] == ["target"]
    assert "placebo hit" not in report_page(report)


def test_sequential_mode_reports_the_pairs_that_it_read(tmp_path: Path) -> None:
    terms = Terms(mode="sequential", alpha=0.001)
    report = build(run_of(tmp_path / "run", learnt, terms=terms), examples=100)
    assert report.pairs == 13  # unopposed hits that e needs to reach 1000
    assert [example.number for example in report.examples] == list(range(13))
    assert report.tests[0].statistic == "log10 e = 3.07 after 13 pairs"
    assert report.tests[0].result == "e reached 1 / alpha"


def test_a_significant_difference_in_the_wrong_direction_is_called_so(tmp_path: Path) -> None:
    def backwards(number: int, armed: bool) -> str:
        return "x" if armed else TARGET

    report = build(run_of(tmp_path / "run", backwards, terms=Terms(mode="paper")))
    assert report.word == "not detected"
    assert report.tests[0].result == "p below alpha, but the control hit more often"


def test_no_answer_at_all_is_reported(tmp_path: Path) -> None:
    def down(number: int, armed: bool) -> Failure:
        return Failure("down")

    report = build(run_of(tmp_path / "run", down))
    assert report.word == "inconclusive"
    assert (report.rates, report.tests, report.reach) == ((), (), None)
    assert "No pair was answered, so there is no rate" in report_page(report)


def test_integrity_holds_digests_settings_model_and_versions(tmp_path: Path) -> None:
    run = run_of(tmp_path / "my run", learnt)
    report = build(run)
    facts = {(g.name, f.name): f.value for g in report.integrity for f in g.facts}
    assert facts["Probes", "sha256"] == run.probes.digest
    assert facts["Probes", "seed"] == "11"
    assert facts["Answers", "digest"] == run.answers.digest
    assert (facts["Answers", "requests"], facts["Answers", "failed"]) == ("80", "0")
    assert facts["Model", "name"] == "acme/coder"
    assert facts["Settings of the run", "temperature"] == "0.2"
    assert facts["Versions", "puzzlemark"] == run.versions["puzzlemark"]
    commands = [command.value for command in report.commands]
    assert "puzzlemark verify --test-only --output 'my run'" in commands
    assert not any(str(tmp_path) in command for command in commands)


def test_the_same_run_gives_the_same_page(tmp_path: Path) -> None:
    pages = [report_page(build(run_of(tmp_path / n / "run", mixed))) for n in ("a", "b")]
    assert pages[0] == pages[1]


@pytest.mark.parametrize(
    ("log10_p", "quoted"),
    [
        (0.0, "1.0000"),
        (-1.5, "0.0316"),
        (-3.0, "1.0 \N{MULTIPLICATION SIGN} 10⁻³"),
        (-22.02, "9.5 \N{MULTIPLICATION SIGN} 10⁻²³"),
        (-600.3, "5.0 \N{MULTIPLICATION SIGN} 10⁻⁶⁰¹"),
        (-4.0001, "1.0 \N{MULTIPLICATION SIGN} 10⁻⁴"),
    ],
)
def test_p_is_quoted_from_its_logarithm(log10_p: float, quoted: str) -> None:
    assert quote_p(log10_p) == quoted


def test_a_large_number_is_quoted_in_the_same_way() -> None:
    assert quote_power(11.566) == "3.7 \N{MULTIPLICATION SIGN} 10¹¹"


NEIGHBOURS = st.sampled_from(
    [TARGET, "_", "2", "é", "x", " ", ".", "\n", "(", "\u0301", "$", "\ud800"]
)


@given(st.lists(NEIGHBOURS).map("".join))
def test_hits_are_found_where_a_target_is_mentioned_and_nowhere_else(completion: str) -> None:
    found = find_hits(completion, Arm("", TARGET))
    assert bool(found) == mentions(completion.encode("utf-8", "replace"), TARGET)
    assert all(completion[hit.start : hit.end] == TARGET for hit in found)
    for hit in found:  # each of them is a hit of its own
        around = completion[max(0, hit.start - 1) : hit.end + 1]
        assert mentions(around.encode("utf-8", "replace"), TARGET)


def test_hits_of_a_form_are_what_its_expression_finds() -> None:
    found = find_hits("a I.hi( x ); I . hi(x)", Arm("", "I.hi(x);", "code"))
    assert [(hit.start, hit.end) for hit in found] == [(2, 11), (13, 22)]


def test_a_target_that_is_no_name_is_told_with_its_pattern(tmp_path: Path) -> None:
    arm = Arm("x", "range(0, ...)", "range_start")
    probes = tuple(
        made_of(replace(arm, prompt=f"l = list() # {n}"), replace(arm, prompt=f"l = [] # {n}"))
        for n in range(40)
    )
    asked = probe_set(40, "trigger")
    model = Scripted("m", lambda r: "range(0, n)" if "list()" in r.prompt else "range(n)")
    run = verify(replace(asked, probes=probes), model, tmp_path / "run")
    told = build(run)
    assert told.word == "detected"
    assert told.patterns == (r"\A\s*range\(\s*0\s*,",)
    assert [table.against for table in told.tables] == ["control"]
    assert hits(told.examples[0]) == {"armed": True, "control": False}
    page = report_page(told)
    assert "regular expression" in page
    assert "placeholder" not in page
    assert any("ties the target to the trigger" in caveat for caveat in told.caveats)


def report(*arguments: str | Path) -> Result:
    return CliRunner().invoke(application(), ["report", *map(str, arguments)])


def test_the_command_writes_a_private_page_into_the_run(tmp_path: Path) -> None:
    run_of(tmp_path / "run", learnt)
    done = report(tmp_path / "run")
    assert done.exit_code == 0, done.output
    page = tmp_path / "run" / "report.html"
    assert stat.S_IMODE(page.stat().st_mode) == 0o600
    assert page.read_text().count("<article") == 6
    assert done.stdout.startswith("detected -> ")
    assert report(tmp_path / "run").exit_code == 2
    assert report(tmp_path / "run", "--force", "--examples", "2").exit_code == 0
    assert page.read_text().count("<article") == 2


def test_the_command_speaks_json(tmp_path: Path) -> None:
    run_of(tmp_path / "run", learnt)
    done = report(tmp_path / "run", "--output", tmp_path / "new" / "page.html", "--json")
    told = json.loads(done.stdout)
    assert (told["word"], told["examples"]) == ("detected", 6)
    assert told["sentence"].startswith(
        "Detected in answers supplied by the owner: with the trigger 40 of 40"
    )
    assert Path(told["output"]).exists()


def test_the_command_refuses_a_folder_that_is_no_run_and_a_verdict_that_was_changed(
    tmp_path: Path,
) -> None:
    assert "no verdict.json" in report(tmp_path).output.replace("\n", " ")
    run_of(tmp_path / "run", learnt)
    path = tmp_path / "run" / "verdict.json"
    path.write_text(path.read_text().replace('"armed_only": 40', '"armed_only": 39'))
    done = report(tmp_path / "run")
    assert done.exit_code == 1
    assert not (tmp_path / "run" / "report.html").exists()
