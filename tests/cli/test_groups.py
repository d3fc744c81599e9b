"""A folder of commands is a group: `cli/model/fetch.py` is `puzzlemark model fetch`."""

from collections.abc import Iterator
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner, Result

from puzzlemark import plugins
from puzzlemark.cli.__main__ import application

GROUPS = plugins.subpackages("cli")
COMMANDS = [(group, name) for group in GROUPS for name in plugins.names(f"cli.{group}")]


def run(*words: str) -> Result:
    return CliRunner(env={"COLUMNS": "200"}).invoke(application(), words)


def test_a_folder_in_a_room_is_a_room_and_no_variant() -> None:
    assert plugins.subpackages("carriers") == ("projections",)
    assert "projections" not in plugins.names("carriers")
    assert "pretrained" in plugins.subpackages("models")
    assert "pretrained" not in plugins.names("models")
    assert plugins.names("models.pretrained") == ("smollm2",)
    assert plugins.subpackages("languages") == ()


def test_the_help_of_the_program_lists_groups_beside_commands() -> None:
    told = run("--help").output
    assert ("model", "fetch") in COMMANDS
    for name in (*GROUPS, *plugins.names("cli")):
        assert f" {name} " in told


@pytest.mark.parametrize("group", GROUPS)
def test_a_group_without_a_command_tells_its_commands(group: str) -> None:
    told = run(group).output
    assert all(name in told for name in plugins.names(f"cli.{group}"))
    assert run(group, "--help").exit_code == 0


@pytest.mark.parametrize(("group", "name"), COMMANDS)
def test_every_command_of_a_group_has_help_that_teaches(group: str, name: str) -> None:
    done = run(group, name, "--help")
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    examples = [line for line in lines if f"puzzlemark {group} {name} " in line]
    assert any("Usage:" not in line for line in examples), "an example is missing"


@pytest.mark.parametrize("group", GROUPS)
def test_an_unknown_command_of_a_group_is_a_usage_error(group: str) -> None:
    done = run(group, "nonsense")
    assert done.exit_code == 2
    assert "nonsense" in done.stderr


def test_an_error_in_a_group_is_one_sentence() -> None:
    done = run("model", "fetch", "nonsense")
    assert done.exit_code == 2
    assert done.stderr.startswith("error:")
    assert "known: smollm2" in done.stderr


def commands(command: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    inner = getattr(command, "commands", None)
    if inner is None:
        yield " ".join(words), command
        return
    for name, each in inner.items():
        yield from commands(each, (*words, name))


def test_every_output_has_the_short_spelling() -> None:
    found = dict(commands(get_command(application())))
    spelled = {
        name: option.opts
        for name, command in found.items()
        for option in command.params
        if "--output" in option.opts
    }
    assert {"embed", "report", "harvest", "verify", "quality measure", "bench rq1"} <= set(spelled)
    assert {name for name, opts in spelled.items() if "-o" not in opts} == set()
