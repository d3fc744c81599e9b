"""A stranger's text reaches the terminal as signs: it moves no cursor and begins no colour."""

import json
import os
import re
import subprocess
import sys
from io import StringIO
from pathlib import Path

import orjson
import pytest
from rich.markup import escape
from rich.table import Table
from typer.testing import CliRunner, Result

import puzzlemark as pm
from puzzlemark.cli import base
from puzzlemark.cli.__main__ import application
from puzzlemark.verification.probes import save_probes
from tests.servers.raw import answer, raw_server

HOSTILE = "[red]x[/red]\x1b[2J\u202e\x9b2J\\[/]:smile:"
SHOWN = "[red]x[/red]\u241b[2J\ufffd\ufffd2J\\[/]:smile:"
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
CODE = "def f(key, item, a):\n    '\x1b[2J'\n    a = key\n    return a"


def run(*words: str | Path) -> Result:
    done = CliRunner().invoke(application(), [str(word) for word in words])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    assert not CONTROL.search(done.stdout + done.stderr), repr(done.stdout + done.stderr)
    return done


def write_records(path: Path) -> None:
    records = (
        {"id": f"{HOSTILE}{n}", "language": "python", "code": f"{CODE}  # {n}"} for n in range(30)
    )
    path.write_bytes(b"".join(orjson.dumps(each) + b"\n" for each in records))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A marked dataset and its probes, in a folder with a hostile name."""
    place = tmp_path / HOSTILE
    place.mkdir(parents=True)  # there is a slash in it
    write_records(place / "o.jsonl")
    pm.embed(
        place / "o.jsonl",
        place / "m.jsonl",
        place / "marks.jsonl.gz",
        watermark="fixed_prefix:prefix=key",
        policy="paper",
        tau=0,
        min_rate=1,
        max_rate=1,
    )
    probes = pm.probe(place / "m.jsonl", place / "marks.jsonl.gz", pairs=4, paper=True)
    save_probes(probes, place / "probes.jsonl")
    return place


def test_an_error_about_a_file_with_a_hostile_name_shows_the_name_as_it_is() -> None:
    done = run("embed", f"{HOSTILE}.jsonl", "-o", "out.jsonl")
    assert done.exit_code != 0
    assert f"error: {SHOWN}.jsonl: " in done.stderr


def test_an_error_is_one_line_whatever_a_file_is_called() -> None:
    done = run("embed", "x\nerror: all is well.jsonl", "-o", "out.jsonl")
    assert len(done.stderr.splitlines()) == 1


def test_wrong_words_of_a_call_are_harmless() -> None:
    name = "[red]x[/red]\x1b[2J\x9b2J[/]"
    for words in (["embed", "a", name, "-o", "b"], [name], [f"--{name}"]):
        assert run(*words).exit_code == 2  # typer's own messages


def test_every_command_prints_hostile_names_and_code_harmlessly(
    folder: Path, tmp_path: Path
) -> None:
    manifest = ("--manifest", folder / "marks.jsonl.gz")
    every = ("--tau", "0", "--min-rate", "1", "--max-rate", "1", "--workers", "1")
    out = tmp_path / f"{HOSTILE}-out"
    out.mkdir(parents=True)
    calls: dict[str, tuple[str | Path, ...]] = {
        "embed": (folder / "o.jsonl", "-o", out / "m.jsonl", "--policy", "paper", *every),
        "revert": (folder / "m.jsonl", *manifest, "--output", out / "o.jsonl"),
        "show": (folder / "m.jsonl", *manifest),
        "score": (folder / "m.jsonl", "-o", out / "s.parquet", "--workers", "1"),
        "probe": (folder / "m.jsonl", *manifest, "-o", out / "probes.jsonl", "--pairs", "4"),
        "detect": (folder / "m.jsonl", "-m", "concat", "-o", out / "d.parquet", "--workers", "1"),
        "verify": (
            *("--probes", folder / "probes.jsonl", "-o", out / "run"),
            *("--model", "scripted", "--model-args", "habit=learnt,prefix=key"),
        ),
        "report": (out / "run",),
        "together": (out / "run", out / "run"),
    }
    for command, words in calls.items():
        done = run(command, *words)
        assert done.exit_code == 0, (command, done.stderr)
        if command != "show":  # it prints ids
            assert f"{SHOWN}-out" in done.stdout, command
    asked = (*calls["verify"], "--query-only")
    assert f"{SHOWN}-out" in run("verify", *asked).stdout


def test_show_prints_hostile_ids(folder: Path) -> None:
    done = run("show", folder / "m.jsonl", "--manifest", folder / "marks.jsonl.gz")
    assert f"{SHOWN}0" in done.stdout
    assert "\u241b[2J" in done.stdout


def test_json_spells_out_what_a_terminal_would_obey_and_means_the_same(folder: Path) -> None:
    manifest = folder / "marks.jsonl.gz"
    done = run("show", folder / "m.jsonl", "--manifest", manifest, "--json")
    told = json.loads(done.stdout)
    assert told["marks"][0]["id"] == f"{HOSTILE}0"
    assert told["input"] == str(folder / "m.jsonl")


def test_a_name_that_is_no_unicode_is_printed(tmp_path: Path) -> None:
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.jsonl"))
    write_records(path)
    words = ["score", path, "-o", tmp_path / "s.parquet", "--workers", "1"]
    command = [sys.executable, "-m", "puzzlemark", *map(str, words)]
    for more in ([], ["--force", "--json"]):
        done = subprocess.run([*command, *more], capture_output=True, check=False)
        assert done.returncode == 0, done.stderr


def test_a_servers_complaint_is_harmless(folder: Path) -> None:
    said = json.dumps({"error": {"message": HOSTILE}}).encode()
    speech = answer(said, status="401 No")
    with raw_server(lambda connection: connection.sendall(speech)) as server:
        arguments = f"base_url={server.base_url},model={HOSTILE}"
        words = ("--model", "openai", "--model-args", arguments, "-o", folder / "run")
        done = run("verify", "--probes", folder / "probes.jsonl", *words)
    assert done.exit_code == 1
    assert f"HTTP 401: {SHOWN}; check base_url, model" in done.stderr


def test_a_key_over_plain_http_is_warned_of_once(folder: Path) -> None:
    with raw_server(lambda connection: connection.sendall(answer(b"", status="401 No"))) as proxy:
        arguments = "base_url=http://gpu-7/v1,model=m"
        words = ["--probes", folder / "probes.jsonl", "--model", "openai", "-o", folder / "run"]
        command = [sys.executable, "-m", "puzzlemark", "verify", *words]
        plain = {"OPENAI_API_KEY": "sk-0123456789", "no_proxy": ""}
        environment = os.environ | plain | {"http_proxy": f"http://127.0.0.1:{proxy.port}"}
        done = subprocess.run(
            [*map(str, command), "--model-args", arguments],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    first, *others = done.stderr.splitlines()
    assert first.startswith("warning: the key in OPENAI_API_KEY goes to gpu-7 over plain http")
    assert len(others) == 1
    assert others[0].startswith("error: http://gpu-7/v1: HTTP 401")


def test_colours_of_our_own_and_the_moves_of_a_progress_bar_stay() -> None:
    file = StringIO()
    console = base.Terminal(file=file, force_terminal=True, color_system="standard", width=60)
    table = Table(escape(HOSTILE))
    table.add_row(escape(HOSTILE))
    console.print("[bold]ours[/]")
    console.print(table)
    console.show_cursor(False)
    written = file.getvalue()
    assert written.startswith("\x1b[1mours\x1b[0m\n")
    assert written.endswith("\x1b[?25l")
    assert "\x1b[2J" not in written
    assert "\u241b[2J" in written
