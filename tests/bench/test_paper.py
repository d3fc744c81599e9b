import inspect
from collections.abc import Sequence
from pathlib import Path

import pytest
from typer.testing import CliRunner

from puzzlemark.bench import paper
from puzzlemark.bench.paper import Experiment, Inputs, in_order, marks_of, words_for
from puzzlemark.cli.__main__ import application
from puzzlemark.cli.bench.paper import experiments
from puzzlemark.errors import UsageError

PYTHON = {"python": Path("p.jsonl")}
EVERYTHING = Inputs(PYTHON, Path("model"), (Path("project.jsonl"),))
ALL = ("python", "java", "base", "output", "marks", "size", "records", "page")


def fake(name: str, *options: str, **scales: dict[str, str | None]) -> Experiment:
    return Experiment(name, dict.fromkeys(options or ALL), scales)


def succeed(words: Sequence[str], log: Path) -> int:
    log.write_text(" ".join(words) + "\n")
    return 0


def fail_rq2(words: Sequence[str], log: Path) -> int:
    log.write_text("much happened\nerror: no such thing\n\n")
    return 2 if words[1] == "rq2" else 0


def run(folder: Path, call: paper.Call, *names: str) -> list[paper.Outcome]:
    found = [fake(name) for name in names]
    inputs = Inputs(PYTHON, None)
    return paper.run(folder, found, inputs, "tiny", call, engine="serial", say=lambda _: None)


def test_experiments_come_in_the_papers_order_and_unknown_ones_last() -> None:
    names = ("zeta", "discussion", "rq5", "rq1", "alpha", "rq3", "motivation")
    ordered = [each.name for each in in_order([fake(name) for name in names])]
    assert ordered == ["motivation", "rq1", "rq3", "rq5", "discussion", "alpha", "zeta"]


def test_every_other_command_of_the_group_is_an_experiment() -> None:
    found = {each.name: each for each in experiments()}
    assert {"motivation", "rq1", "rq2", "rq4", "discussion"} <= set(found)
    assert "paper" not in found
    assert {"python", "output", "records", "page"} <= set(found["rq4"].options)


def test_a_command_gets_only_the_options_that_it_has() -> None:
    wants = fake("rq9", "python", "output", "budget", tiny={"budget": "least", "size": "3"})
    words = words_for(wants, Inputs(PYTHON, Path("model")), "tiny", Path("out"))
    assert words == [
        "bench", "rq9", "--python", "p.jsonl", "--budget", "least", "--output", "out/runs/rq9",
    ]  # fmt: skip


@pytest.mark.parametrize("scale", paper.SCALES)
def test_the_words_for_every_experiment_there_is_are_options_of_it(scale: str) -> None:
    for each in experiments():
        words = words_for(each, EVERYTHING, scale, Path("out"))
        assert words is not None
        known = {f"--{name.replace('_', '-')}" for name in each.options}
        assert {word for word in words if word.startswith("--")} <= known


def test_an_option_can_be_left_out_and_a_project_is_repeated() -> None:
    wants = fake("rq5", "base", "project", "budget", tiny={"base": None, "project": "needed"})
    inputs = Inputs({}, Path("model"), (Path("a.jsonl"), Path("b.jsonl")))
    words = words_for(wants, inputs, "tiny", Path("out"))
    assert words is not None
    assert words[2:] == ["--budget", "tiny", "--project", "a.jsonl", "--project", "b.jsonl"]
    assert words_for(wants, Inputs({}, None), "tiny", Path("out")) is None


def test_records_may_belong_to_another_experiments_page() -> None:
    (found,) = (each for each in experiments() if each.name == "hyperparameters")
    words = words_for(found, Inputs(PYTHON, Path("model")), "small", Path("out"))
    assert words is not None
    assert words[words.index("--records") + 1] == "out/results/rq4/hyperparam.json"
    assert "--page" not in words


def test_pages_are_written_again_when_all_records_are_there(tmp_path: Path) -> None:
    called: list[list[str]] = []

    def call(words: Sequence[str], log: Path) -> int:
        called.append(list(words))
        return succeed(words, log)

    run(tmp_path, call, "rq4", "rq2")
    assert [words[1] for words in called] == ["rq2", "rq4", "rq2", "rq4"]
    results = tmp_path / "results"
    assert called[-1][2:] == ["--records", f"{results}/rq4", "--page", f"{results}/rq4.md"]


def test_marks_without_a_dataset_of_their_language_are_left_out() -> None:
    assert marks_of("P1,P3,fixed_prefix:prefix=node,U2", PYTHON) == "P1,fixed_prefix:prefix=node"


def test_an_experiment_that_needs_a_model_is_left_out_without_one(tmp_path: Path) -> None:
    said: list[str] = []
    needs = fake("rq1", tiny={"base": "needed"})
    done = paper.run(tmp_path, [needs, fake("rq4")], Inputs(PYTHON, None), "tiny", succeed,
                     engine="serial", say=said.append)  # fmt: skip
    assert [each.name for each in done] == ["rq4"]
    assert said[0] == "rq1: left out: it needs a model or a project (--base, --project)"


def test_one_failure_does_not_stop_the_others_and_is_told(tmp_path: Path) -> None:
    outcomes = run(tmp_path, fail_rq2, "rq4", "rq2", "motivation")
    assert [(each.name, each.code) for each in outcomes] == [
        ("motivation", 0),
        ("rq2", 2),
        ("rq4", 0),
    ]
    text = (tmp_path / "README.md").read_text()
    assert "| rq2 | failed: error: no such thing |" in text
    assert "| rq4 | well |" in text  # no link to a page that was not written


def test_what_ended_well_is_not_run_again_and_what_failed_is(tmp_path: Path) -> None:
    called: list[str] = []

    def call(words: Sequence[str], log: Path) -> int:
        if "--output" in words:  # not the page alone
            called.append(words[1])
        return fail_rq2(words, log)

    run(tmp_path, call, "rq2", "rq4")
    run(tmp_path, call, "rq2", "rq4")
    assert called == ["rq2", "rq4", "rq2"]
    # another call: what it has of earlier ones is told as well
    run(tmp_path, succeed, "rq5")
    assert "| rq4 | well |" in (tmp_path / "README.md").read_text()


def test_a_wrong_scale_and_a_wrong_experiment_are_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no scale 'huge'; known: tiny, small, full"):
        paper.run(tmp_path, [], Inputs({}, None), "huge", succeed)
    for words, message in (
        (["--scale", "small"], "--scale small needs datasets"),
        (["--only", "rq99"], "no experiment 'rq99'"),
    ):
        done = CliRunner().invoke(application(), ["bench", "paper", "-o", str(tmp_path), *words])
        assert done.exit_code == 2
        assert message in done.stderr


def test_what_other_commands_take_from_the_scale_is_said_in_their_file() -> None:
    for each in experiments():
        for scale, options in each.scales.items():
            assert scale in paper.SCALES, f"{each.name}: {scale}"
            assert set(options) <= set(each.options), f"{each.name}: {options}"


def test_a_command_in_another_process_is_found_by_its_name() -> None:
    from puzzlemark.cli.bench.paper import call

    assert inspect.getmodule(call) is not None
    assert "<locals>" not in call.__qualname__  # an engine can pickle it
