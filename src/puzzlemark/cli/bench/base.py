"""What the experiments' commands share: datasets in, records and a page out."""

from pathlib import Path
from typing import Annotated

import typer

from puzzlemark.cli.base import errors_console, output_console
from puzzlemark.errors import UsageError

GOES_ON = "what is finished is kept; the same command goes on"

Corpus = Annotated[Path | None, typer.Option(help="Dataset with functions of this language.")]
Records = Annotated[
    Path | None, typer.Option(help="Folder for what others need to make the page again.")
]
Page = Annotated[Path | None, typer.Option(help="Write the page here, from the records.")]


def given_corpora(
    python: Path | None, java: Path | None, records: Path | None, page: Path | None
) -> dict[str, Path]:
    """The datasets by language; none is fine where a page is made from records."""
    corpora = {"python": python, "java": java}
    given = {language: path for language, path in corpora.items() if path is not None}
    if not given and (page is None or records is None):
        raise UsageError("pass a dataset (--python, --java), or --records and --page")
    return given


def say(text: str) -> None:
    """A line about what is finished."""
    errors_console().print(text, markup=False)


def write_page(path: Path, text: str) -> None:
    """Write the page, and say where it is."""
    from puzzlemark.pages.files import write_text

    write_text(path, text)
    output_console().print(f"page      {path}", markup=False)
