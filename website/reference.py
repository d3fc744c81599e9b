"""Pages made from the program itself: one for each command, one for each room's Python names."""

import importlib
import inspect
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from typer.main import get_command
from typer.testing import CliRunner

import puzzlemark
from puzzlemark.cli.__main__ import application
from puzzlemark.cli._help import first_paragraph

DOCS = Path(__file__).parents[1] / "docs"
COMMANDS = "\n| command | what it does |\n|---|---|\n"
API = "\n| name | what it is |\n|---|---|\n"


def command_pages() -> Iterator[tuple[str, str]]:
    """`("commands/embed.md", its help)` for each command, and a list of all."""
    tree: Any = get_command(application())
    rows = []
    for name in sorted(tree.commands):
        paths = list(_paths(tree.commands[name], (name,)))
        text = "".join(_section(path, level) for level, path in paths)
        yield f"commands/{name}.md", text
        rows += [f"| [`{' '.join(path)}`]({name}.md#{'-'.join(path)}) | {_about(tree, path)} |"
                 for _, path in paths]  # fmt: skip
    yield "commands/README.md", _with_table("commands", COMMANDS, rows)


def _paths(command: Any, path: tuple[str, ...]) -> Iterator[tuple[int, tuple[str, ...]]]:
    yield len(path), path
    for name, inner in sorted(getattr(command, "commands", {}).items()):
        yield from _paths(inner, (*path, name))


def _section(path: tuple[str, ...], level: int) -> str:
    words = [*path, "--help"]
    done = CliRunner().invoke(
        application(path[0]), words, prog_name="puzzlemark", env={"COLUMNS": "80"}
    )
    assert done.exit_code == 0, (path, done.output)
    return f"{'#' * level} {' '.join(path)}\n\n```text\n{done.stdout.rstrip()}\n```\n\n"


def _about(tree: Any, path: tuple[str, ...]) -> str:
    for name in path:
        tree = tree.commands[name]
    return _cell(first_paragraph(tree))


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def api_pages() -> Iterator[tuple[str, str]]:
    """A page for each room that public names come from, and a table of all names."""
    rooms: dict[str, list[str]] = defaultdict(list)
    for name in puzzlemark.__all__:
        rooms[puzzlemark._HOMES[name].split(".")[0].split(":")[0]].append(name)
    rows = []
    for room, names in sorted(rooms.items()):
        sections = []
        for name in sorted(names, key=str.lower):
            module, _, inner = puzzlemark._HOMES[name].partition(":")
            path = f"puzzlemark.{module}.{inner or name}"
            shown = "" if not inner or inner == name else f"\n`pm.{name}`:\n"
            sections.append(f"{shown}\n::: {path}\n")
            about = (inspect.getdoc(getattr(puzzlemark, name)) or "").split("\n\n")[0]
            rows.append(f"| [`{name}`]({room}.md#{path}) | {_cell(about)} |")
        about = inspect.getdoc(importlib.import_module(f"puzzlemark.{room}")) or ""
        heading = about.split("\n\n")[0]
        yield f"api/{room}.md", f"# {room}\n\n{heading}\n{''.join(sections)}"
    yield "api/README.md", _with_table("api", API, sorted(rows, key=str.lower))


def _with_table(folder: str, heading: str, rows: list[str]) -> str:
    """The page of the repository, and below it the table."""
    page = (DOCS / folder / "README.md").read_text(encoding="utf-8")
    return page + heading + "\n".join(rows) + "\n"
