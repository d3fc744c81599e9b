"""`puzzlemark bench discussion`: CoProtector with carrier selection, and the cost of selection."""

from pathlib import Path
from typing import Annotated

import typer

from puzzlemark.cli.bench.base import (
    GOES_ON,
    Corpus,
    Given,
    Page,
    Processes,
    Records,
    Seed,
    Size,
    SomeMarks,
    given_corpora,
    make_variants,
)

WHEN_INTERRUPTED = GOES_ON


def run(
    context: typer.Context,
    python: Corpus = None,
    java: Corpus = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder for variants and what was found.")
    ] = Path("discussion"),
    marks: SomeMarks = None,
    size: Size = "all",
    seed: Seed = 0,
    side_by_side: Processes = 2,
    records: Records = None,
    page: Page = None,
) -> None:
    """Put CoProtector into selected carriers, and time selection and embedding; write the page.

    Goes on where it stopped. Without a dataset, only the page is written, from the records.

    [bold]Example[/]

    puzzlemark bench discussion --python python.jsonl.gz --size 30000 -o discussion
    """
    from puzzlemark.bench import discussion, discussion_page

    given = Given(given_corpora(python, java), output, None, records, page)
    make_variants(
        context,
        given,
        experiment=discussion,
        pages=discussion_page,
        marks=marks,
        size=size,
        seed=seed,
        side_by_side=side_by_side,
    )
