"""`puzzlemark`, and `python -m puzzlemark.cli`: every file of this folder is a command.

A folder in it is a group of commands: `model/fetch.py` is `puzzlemark model fetch`.
"""

import importlib
import inspect
import os
from typing import Annotated

import typer

from puzzlemark import __version__, plugins
from puzzlemark.cli.base import guarded, quiet_pipes, warnings_in_words

ABOUT = """Watermark a code dataset, and prove later that a model was trained on it.

Start with: puzzlemark embed functions.jsonl.gz --output marked.jsonl.gz --manifest marks.jsonl.gz
"""


def main() -> None:
    """Run the command line."""
    # Arrow's own allocators keep what they freed; the system's gives a third of it back
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    with quiet_pipes():
        with warnings_in_words():  # of commands that other packages add
            app = application()
        app()


def application() -> typer.Typer:
    """The commands, put together from their files."""
    app = _group("cli", ABOUT, add_completion=True)
    app.callback(invoke_without_command=True)(_options)
    return app


def _group(package: str, about: str, *, add_completion: bool = False) -> typer.Typer:
    """A package's files as commands, and each folder in it as a group of commands."""
    group = typer.Typer(
        help=about,
        no_args_is_help=True,
        add_completion=add_completion,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        rich_markup_mode="rich",
    )
    for name, command in plugins.every(package):
        if callable(getattr(command, "run", None)):
            group.command(name)(guarded(command.run))
        else:
            owner = plugins.distribution(package, name)
            plugins.warn(f"command {name!r} of {owner} cannot be used: its module has no run")
    for name in plugins.subpackages(package):
        inner = f"{package}.{name}"
        group.add_typer(_group(inner, _about(inner)), name=name)
    own = getattr(importlib.import_module(f"puzzlemark.{package}"), "run", None)
    if own is not None:  # `puzzlemark commit` does something beside its `puzzlemark commit stamp`
        group.callback(invoke_without_command=True)(guarded(own))
    return group


def _about(package: str) -> str:
    return inspect.getdoc(importlib.import_module(f"puzzlemark.{package}")) or ""


def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", is_eager=True)
    ] = False,
) -> None:
    if version:
        print(f"puzzlemark {__version__}")
        raise typer.Exit


if __name__ == "__main__":
    main()
