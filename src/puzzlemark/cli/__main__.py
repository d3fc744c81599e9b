"""`puzzlemark`, and `python -m puzzlemark.cli`: every file of this folder is a command."""

import typer

from puzzlemark import __version__, plugins
from puzzlemark.cli.base import guarded

ABOUT = """Watermark a code dataset, and prove later that a model was trained on it.

Start with: puzzlemark embed functions.jsonl.gz --output marked.jsonl.gz --manifest marks.jsonl.gz
"""


def main() -> None:
    """Run the command line."""
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
    app.callback()(_options)
    for name in plugins.names("cli"):
        app.command(name)(guarded(plugins.load("cli", name).run))
    return app


def _options(
    version: bool = typer.Option(False, "--version", help="Print the version and exit."),
) -> None:
    if version:
        print(f"puzzlemark {__version__}")
        raise typer.Exit


if __name__ == "__main__":
    main()
