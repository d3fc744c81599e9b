"""`puzzlemark`, and `python -m puzzlemark.cli`: every file of this folder is a command.

A folder in it is a group of commands: `model/fetch.py` is `puzzlemark model fetch`.
"""

import importlib
import inspect
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from puzzlemark import __version__, plugins
from puzzlemark.cli._help import Command, Group
from puzzlemark.cli.base import guarded, quiet_pipes, warnings_in_words

NAME = "puzzlemark.toml"
HELP = ["-h", "--help"]
ABOUT = """Watermark a code dataset, and prove later that a model was trained on it.

Start with: puzzlemark embed functions.jsonl.gz --output marked.jsonl.gz --manifest marks.jsonl.gz
"""


def main() -> None:
    """Run the command line."""
    # Arrow's own allocators keep what they freed; the system's gives a third of it back
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    with quiet_pipes():
        with warnings_in_words():  # of commands that other packages add
            app = application(_asked(sys.argv[1:]))
        if not _show_help(app, sys.argv[1:]):
            app()


def application(only: str | None = None) -> typer.Typer:
    """The commands, put together from their files; `only` one of them, to start sooner."""
    app = _group("cli", ABOUT, add_completion=True, only=only)
    app.callback(invoke_without_command=True)(guarded(_options))
    return app


def _asked(words: Sequence[str]) -> str | None:
    """The command that a call names; None where all must be known: to list, suggest, complete."""
    if not words or "_PUZZLEMARK_COMPLETE" in os.environ:
        return None
    known = {*plugins.names("cli"), *plugins.subpackages("cli")}
    return words[0] if words[0] in known else None


def _show_help(app: typer.Typer, words: Sequence[str]) -> bool:
    """Print the help of a command, the short way: pydantic, which checks values, is not loaded."""
    if len(words) < 2 or words[-1] not in HELP or _nearest_config() is not None:
        return False  # a file may change the defaults that the help shows
    command: Any = typer.main.get_command(app)
    settings = command.context_settings
    context = command.context_class(command, info_name="puzzlemark", **settings)
    for word in words[:-1]:
        command = getattr(command, "commands", {}).get(word)
        if command is None:
            return False
        context = command.context_class(
            command, info_name=word, parent=context, **command.context_settings
        )
    print(command.get_help(context))
    return True


def _group(
    package: str, about: str, *, add_completion: bool = False, only: str | None = None
) -> typer.Typer:
    """A package's files as commands, and each folder in it as a group of commands."""
    group = typer.Typer(
        cls=Group,
        help=about,
        no_args_is_help=True,
        add_completion=add_completion,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": HELP},
        rich_markup_mode=None,
    )
    for name, command in plugins.every(package, only):
        if callable(getattr(command, "run", None)):
            group.command(name, cls=Command)(guarded(command.run))
        else:
            owner = plugins.distribution(package, name)
            plugins.warn(f"command {name!r} of {owner} cannot be used: its module has no run")
    for name in plugins.subpackages(package):
        if only not in (None, name):
            continue
        inner = f"{package}.{name}"
        group.add_typer(_group(inner, _about(inner)), name=name)
    own = getattr(importlib.import_module(f"puzzlemark.{package}"), "run", None)
    if own is not None:  # `puzzlemark commit` does something beside its `puzzlemark commit stamp`
        group.callback(invoke_without_command=True)(guarded(own))
    return group


def _about(package: str) -> str:
    return inspect.getdoc(importlib.import_module(f"puzzlemark.{package}")) or ""


def _options(
    context: typer.Context,
    config: Annotated[
        Path | None,
        typer.Option(
            help="A file with options that are always the same. (default: the nearest "
            "puzzlemark.toml in this folder or above it)"
        ),
    ] = None,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", is_eager=True)
    ] = False,
) -> None:
    if version:
        print(f"puzzlemark {__version__}")
        raise typer.Exit
    _configure(context, config)


def _nearest_config() -> Path | None:
    """The nearest folder with a file of options, to know whether any has to be looked for."""
    return next((p for p in (Path.cwd(), *Path.cwd().parents) if (p / NAME).is_file()), None)


def _configure(context: typer.Context, named: Path | None) -> None:
    """Give the command that was called the defaults of a file, if there is one."""
    path = named or _nearest_config()
    if path is None or context.invoked_subcommand is None:
        return  # nothing is loaded for those who have no such file
    from puzzlemark.cli import _config

    found = named or _config.find_config(Path.cwd())
    group: Any = context.command
    command = group.get_command(context, context.invoked_subcommand)
    if found is None or command is None:
        return
    known = (*plugins.names("cli"), *plugins.subpackages("cli"))
    config = _config.read_config(found)
    defaults = _config.defaults_for(
        config, found, command, known, lambda: typer.main.get_command(application())
    )
    context.default_map = {context.invoked_subcommand: defaults}


if __name__ == "__main__":
    main()
