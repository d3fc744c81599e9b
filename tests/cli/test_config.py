"""`puzzlemark.toml`, pipes, and what every command has."""

import io
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from rich.markup import escape
from typer.testing import CliRunner

from puzzlemark.cli.__main__ import application
from puzzlemark.cli._config import find_config
from puzzlemark.cli.base import Terminal
from tests.corpora.making import write
from tests.corpora.test_fidelity import functions

BASIC = 'watermark = "universal"\nsecret-file = "keys/s"\n'
BASIC += "[embed]\nmin-rate = 1\nmax-rate = 1.0\ntau = 0\n"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "deep").mkdir()
    (tmp_path / "keys").mkdir()
    (tmp_path / ".git").mkdir()
    write(tmp_path / "deep/a.jsonl", functions(10))
    (tmp_path / "puzzlemark.toml").write_text(BASIC, encoding="utf-8")
    monkeypatch.chdir(tmp_path / "deep")
    return tmp_path


def run(*words: str) -> Any:
    return CliRunner().invoke(application(), list(words))


def test_options_of_the_file_are_those_that_were_typed(place: Path) -> None:
    done = run("embed", "a.jsonl", "-o", "b.jsonl", "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["marked"] == 10
    assert (place / "keys/s").exists()  # relative to the file, not to the folder below


def test_what_is_typed_comes_first(place: Path) -> None:
    done = run(
        "embed", "a.jsonl", "-o", "b.jsonl", "--json", "--min-rate", "0", "--max-rate", "0.3"
    )
    assert json.loads(done.stdout)["marked"] == 3


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('langage = "python"', "no command has the option langage; did you mean language?"),
        ("[embed]\nmin-rat = 1", "[embed] has no option min_rat; did you mean min_rate?"),
        ("[embd]\nmin-rate = 1", "no command [embd]; did you mean embed?"),
        ('api-key = "x"', "api-key: no secrets in this file"),
        ('[embed]\nsecret = "x"', "secret: no secrets in this file"),
        ("[embed]\nforce = true", "force: must be typed each time"),
        ("[embed]\nfenced = 1", "fenced is true or false, not 1"),
        ("[embed]\nmark = true", "mark is a value, not true"),
        ("[embed\n", "not TOML"),
    ],
)
def test_a_mistake_is_an_error_that_names_it(place: Path, text: str, says: str) -> None:
    (place / "puzzlemark.toml").write_text(text, encoding="utf-8")
    done = run("embed", "a.jsonl", "-o", "b.jsonl")
    assert done.exit_code == 2
    assert says in done.stderr
    assert not (place / "deep/b.jsonl").exists()


def test_a_file_can_be_named_and_an_option_of_another_command_is_none_of_ours(place: Path) -> None:
    (place / "x.toml").write_text('language = "python"\npairs = 3\n', encoding="utf-8")
    assert run("--config", str(place / "x.toml"), "list").exit_code == 0
    assert run("--config", str(place / "none.toml"), "list").exit_code == 2


def test_the_search_ends_at_the_repository_and_at_home(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert find_config(place / "deep") == place / "puzzlemark.toml"
    (place / "deep/.git").mkdir()
    assert find_config(place / "deep") is None
    monkeypatch.setattr(Path, "home", lambda: place / "keys")
    assert find_config(place / "keys") is None


def test_json_lines_go_through_pipes(place: Path) -> None:
    def pipe(command: str, content: bytes) -> subprocess.CompletedProcess[bytes]:
        words = [
            sys.executable,
            "-m",
            "puzzlemark",
            command,
            "-",
            "-o",
            "-",
            "--manifest",
            "m.jsonl",
        ]
        return subprocess.run(words, input=content, capture_output=True, check=True)

    original = Path("a.jsonl").read_bytes()
    marked = pipe("embed", original)
    assert b"marked 10 of 10 records" in marked.stderr
    assert marked.stdout.count(b"\n") == 10
    assert marked.stdout != original
    assert pipe("revert", marked.stdout).stdout == original
    assert pipe("apply", original).stdout == marked.stdout


def test_a_pipe_needs_a_place_for_the_manifest(place: Path) -> None:
    done = run("embed", "a.jsonl", "-o", "-")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "--manifest" in done.stderr
    assert (
        "only embed, apply and revert read standard input"
        in run("score", "-", "-o", "x.parquet").stderr
    )


def _commands(command: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    for name, each in getattr(command, "commands", {}).items():
        yield from _commands(each, f"{path} {name}".strip())
    if not hasattr(command, "commands"):
        yield path, command


def test_every_output_is_also_called_o() -> None:
    root = typer.main.get_command(application())
    lacking = [
        path
        for path, command in _commands(root)
        for option in command.params
        if "--output" in option.opts and "-o" not in option.opts
    ]
    assert lacking == []


def test_a_url_is_echoed_intact() -> None:
    url = "http://[::1]:9/v1/" + "very-long-name/" * 9 + "v1"
    console = Terminal(file=io.StringIO(), force_terminal=True, width=40, color_system=None)
    console.print(f"asked {escape(url)}, in words that are wrapped by the terminal alone")
    console.print("words " * 20)
    shown = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert url in shown[0]
    assert max(map(len, shown[1:])) <= 40


def test_an_error_shows_its_url_intact(tmp_path: Path) -> None:
    url = "http://[::1]:9/v1/" + "very-long-name/" * 9 + "v1?x=1"
    done = CliRunner().invoke(
        application(),
        ["embed", f"{tmp_path}/{url}", "-o", str(tmp_path / "b.jsonl"), "--mark", "U1"],
        env={"COLUMNS": "40"},
    )
    assert done.exit_code == 1
    assert Path(url).as_posix() in done.stderr
