"""`puzzlemark bench rq4`: carrier selection under other thresholds, projections, features."""

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
SCALES = {"tiny": {"marks": "P1,P3"}}  # for `bench paper`


def run(
    context: typer.Context,
    python: Corpus = None,
    java: Corpus = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder for variants and what was found.")
    ] = Path("rq4"),
    marks: SomeMarks = None,
    size: Size = "all",
    seed: Seed = 0,
    side_by_side: Processes = 2,
    records: Records = None,
    page: Page = None,
) -> None:
    """Vary tau, projection and features of carrier selection; then write the page and its figures.

    Goes on where it stopped. Without a dataset, only the page is written, from the records.

    [bold]Example[/]

    puzzlemark bench rq4 --python python.jsonl.gz --java java.jsonl.gz --size 30000 -o rq4
    """
    from puzzlemark.bench import rq4, rq4_page

    given = Given(given_corpora(python, java), output, None, records, page)
    make_variants(
        context,
        given,
        experiment=rq4,
        pages=rq4_page,
        marks=marks,
        size=size,
        seed=seed,
        side_by_side=side_by_side,
    )
