"""What a shell offers for the value of an option, asked in bash itself."""

import os
import pty
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from puzzlemark import plugins
from puzzlemark.cli import _completing as completing
from puzzlemark.cli.__main__ import application

NAMED = (
    "mark marks watermark model reference attack method methods engine language projection recipe"
)
BASH = shutil.which("bash")
needs_bash = pytest.mark.skipif(BASH is None, reason="no bash here")
# typed words, and what must be offered for the last one
ASKED = {
    "embed x --mark P": ["P1", "P2", "P3", "P4"],
    "embed x --watermark ": plugins.names("watermarks"),
    "verify --model ": plugins.names("models"),
    "attack x --attack ": plugins.names("attacks"),
    "detect x -m de": ["decoma"],
    "model fetch ": ["smollm2"],
    "bench rq1 --marks P1,U": ["P1,U1", "P1,U2"],
}


@pytest.fixture
def shell(tmp_path: Path) -> dict[str, str]:
    """The environment of a shell that finds `puzzlemark`, as a user's does."""
    program = tmp_path / "puzzlemark"
    program.write_text(
        f"#!{sys.executable}\nfrom puzzlemark.cli.__main__ import main\n\nmain()\n",
        encoding="utf-8",
    )
    program.chmod(0o755)
    return {
        **os.environ,
        "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join(sys.path),
        "HOME": str(tmp_path),
        "TERM": "dumb",
        "PS1": "$ ",
    }


@needs_bash
def test_bash_offers_the_values_of_options(shell: dict[str, str]) -> None:
    asked = "\n".join(f"ask {' '.join(typed.split(' '))}".rstrip() + last(typed) for typed in ASKED)
    script = f"""eval "$(puzzlemark --show-completion)"
ask() {{
    COMP_WORDS=(puzzlemark "$@") COMP_CWORD=$# COMPREPLY=()
    _puzzlemark_completion puzzlemark
    local IFS=,
    printf '%s\\n' "${{COMPREPLY[*]}}"
}}
{asked}
"""
    done = subprocess.run(
        ["bash", "--norc", "-c", script], env=shell, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == [",".join(offered) for offered in ASKED.values()]


def last(typed: str) -> str:
    """An empty last word has to be said in a script."""
    return ' ""' if typed.endswith(" ") else ""


@needs_bash
def test_the_tabulator_key_completes_a_value(shell: dict[str, str]) -> None:
    terminal, end = pty.openpty()
    with subprocess.Popen(
        ["bash", "--norc", "--noprofile", "-i"],
        env=shell,
        stdin=end,
        stdout=end,
        stderr=end,
        start_new_session=True,
    ) as bash:
        os.close(end)
        os.write(terminal, b'eval "$(puzzlemark --show-completion)"; echo re""ady\n')
        read_until(terminal, "\nready")
        os.write(terminal, b"puzzlemark attack x --attack canon\t")
        read_until(terminal, "--attack canonicalise")
        bash.kill()
    os.close(terminal)


def read_until(terminal: int, wanted: str) -> None:
    shown = ""
    deadline = time.monotonic() + 60
    while wanted not in shown.replace("\r", ""):
        assert select.select([terminal], [], [], deadline - time.monotonic())[0], shown
        shown += os.read(terminal, 4096).decode(errors="replace")


def commands(command: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield words, command
    for name, each in getattr(command, "commands", {}).items():
        yield from commands(each, (*words, name))


def test_every_option_that_takes_a_name_offers_the_names() -> None:
    found = {
        f"{' '.join(words)} --{param.name}": param
        for words, command in commands(get_command(application()))
        for param in command.params
        if param.name in NAMED.split()
    }
    assert len(found) > 30
    silent = [name for name, param in found.items() if not param.shell_complete(None, "")]
    assert silent == []


def test_a_list_with_commas_goes_on_at_its_last_name() -> None:
    complete = completing.with_commas(completing.one_of("concat", "decoma"))
    assert complete("") == ["concat", "decoma"]
    assert complete("decoma,c") == ["decoma,concat"]
    assert complete("nothing,x") == []


def test_features_are_offered_by_their_names() -> None:
    assert completing.features("d") == ["dvc", "dec"]
