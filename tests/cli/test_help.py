"""What `--help` prints: narrow enough, wrapped once, in words."""

import re
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from puzzlemark import plugins
from puzzlemark.cli.__main__ import _show_help, application

WIDTH = 80


def walk(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    yield path
    for name, inner in getattr(command, "commands", {}).items():
        yield from walk(inner, (*path, name))


COMMANDS = sorted(walk(get_command(application())))


def help_of(words: tuple[str, ...], columns: int = WIDTH) -> str:
    app = application(words[0] if words else None)
    done = CliRunner().invoke(
        app, [*words, "--help"], prog_name="puzzlemark", env={"COLUMNS": str(columns)}
    )
    assert done.exit_code == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_help_fits_80_columns_and_is_wrapped_once(words: tuple[str, ...]) -> None:
    shown = help_of(words)
    assert not re.search(r"<bool>|<list|range>|x>=|\[/?bold|\{", shown)
    lines = shown.splitlines()
    assert max(map(len, lines)) <= WIDTH
    for line, following in pairwise(lines):
        is_prose = re.match(r" +(?=[^ ])", following) and line.startswith("  ")
        if is_prose and indent(line) == indent(following) and is_text(line) and is_text(following):
            room = WIDTH - 2 - len(line) - 1
            is_row = re.match(r"  (-|\S+  )", following) or re.match(r"  (-|\S+ .*  |\S+  )", line)
            if not is_row:
                assert len(following.split()[0]) > room, (line, following)


def is_text(line: str) -> bool:
    """Neither an example nor the rest of one."""
    return "puzzlemark " not in line and not re.match(r" +-", line) and not line.endswith("\\")


def indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def test_a_text_that_is_wrapped_twice_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("puzzlemark.cli._help._apart", str.splitlines)
    with pytest.raises(AssertionError):
        test_help_fits_80_columns_and_is_wrapped_once(("embed",))


def test_an_example_can_be_pasted() -> None:
    shown = help_of(("embed",))
    assert (
        "  puzzlemark embed shards/ -o marked/ --manifest m.jsonl.gz \\\n"
        "      --mark fixed_prefix:prefix=node\n"
    ) in shown


def test_options_are_spelled_in_words() -> None:
    shown = help_of(("embed",))
    assert "Usage: puzzlemark embed [OPTIONS] INPUT\n" in shown
    assert "  --force                   Replace what stands at the output path.\n" in shown
    assert "  -o, --output <path>       Where the marked dataset goes. [required]\n" in shown
    assert "[default: 1; at least 1]" in " ".join(shown.split())
    assert "Usage: puzzlemark study make [OPTIONS] INPUT...\n" in help_of(("study", "make"))
    assert "Usage: puzzlemark verify [OPTIONS] [INPUT]\n" in help_of(("verify",))


def test_the_list_of_commands_shows_whole_sentences() -> None:
    shown = " ".join(help_of(()).split())
    assert "..." not in shown.partition("Commands:")[2]
    for name in plugins.names("cli"):
        about = (plugins.find("cli", name).run.__doc__ or "").strip().split("\n\n")[0]
        assert f"{name} {' '.join(about.split())}" in shown


def test_only_the_command_that_is_asked_for_is_put_together() -> None:
    command: Any = get_command(application("study"))
    assert list(command.commands) == ["study"]
    assert set(command.commands["study"].commands) == {"make", "score", "serve"}


@pytest.mark.parametrize(
    ("typed", "offered"),
    [("em", "embed"), ("embed --mar", "--mark"), ("embed --policy ", "safe"), ("study ", "make")],
)
def test_a_shell_is_told_how_a_word_may_go_on(typed: str, offered: str) -> None:
    words = f"puzzlemark {typed}"
    done = CliRunner().invoke(
        application(),
        [],
        prog_name="puzzlemark",
        env={
            "_PUZZLEMARK_COMPLETE": "complete_bash",
            "COMP_WORDS": words,
            "COMP_CWORD": str(len(words.split(" ")) - 1),
        },
    )
    assert offered in done.stdout.split()


HELPED = [("embed",), ("study",), ("study", "make"), ("commit",), ("commit", "stamp"), ("check",)]


@pytest.mark.parametrize("words", HELPED)
def test_help_the_short_way_is_the_same(
    words: tuple[str, ...],
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    app = application(words[0])
    assert _show_help(app, [*words, "--help"])
    shown = capsys.readouterr().out
    with pytest.raises(SystemExit):
        app([*words, "--help"], prog_name="puzzlemark")
    assert shown == capsys.readouterr().out


def test_help_does_not_load_what_checks_values(tmp_path: Path) -> None:
    script = (
        "import sys; sys.argv = ['puzzlemark', 'embed', '--help']\n"
        "from puzzlemark.cli.__main__ import main; main()\n"
        "assert not {'pydantic', 'numpy', 'pyarrow'} & set(sys.modules), 'loaded for a help'"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()


def test_help_shows_the_defaults_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "puzzlemark.toml").write_text('[embed]\npolicy = "paper"\n', encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "puzzlemark", "embed", "--help"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=True,
    )
    assert "[default: paper]" in done.stdout
