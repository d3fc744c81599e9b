"""`puzzlemark`, and `python -m puzzlemark.cli`: every file of this folder is a command."""

import os
from typing import Annotated

import typer

from puzzlemark import __version__, plugins
from puzzlemark.cli.base import guarded

ABOUT = """Watermark a code dataset, and prove later that a model was trained on it.

Start with: puzzlemark embed functions.jsonl.gz --output marked.jsonl.gz --manifest marks.jsonl.gz
"""


def main() -> None:
    """Run the command line."""
    # Arrow's own allocators keep what they freed; the system's gives a third of it back
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    application()()


def application() -> typer.Typer:
    """The commands, put together from their files."""
    app = typer.Typer(
        help=ABOUT,
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        rich_markup_mode="rich",
    )
    app.callback(invoke_without_command=True)(_options)
    for name in plugins.names("cli"):
        app.command(name)(guarded(plugins.load("cli", name).run))
    return app


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
