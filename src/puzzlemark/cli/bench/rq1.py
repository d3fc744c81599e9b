"""`puzzlemark bench rq1`: real models learn the marks, their bare twins do not."""

from pathlib import Path
from typing import Annotated

import typer

from puzzlemark.cli.bench.base import (
    GOES_ON,
    Corpus,
    Given,
    Marks,
    Page,
    Records,
    given_corpora,
    refuse_marks,
    say,
    write_page,
    write_pictures,
)
from puzzlemark.errors import UsageError

WHEN_INTERRUPTED = GOES_ON
SCALES = {
    "tiny": {"marks": "P1,U1,P3,U2", "base": "needed"},
    "small": {"base": "needed"},
    "full": {"base": "needed"},
}  # for `bench paper`


def run(
    context: typer.Context,
    python: Corpus = None,
    java: Corpus = None,
    base: Annotated[
        Path | None, typer.Option(help="Model to train: the folder of `model fetch smollm2`.")
    ] = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder for models, probes and transcripts.")
    ] = Path("rq1"),
    budget: Annotated[
        str, typer.Option(help="half, tenth, twentieth or paper: how many functions carry a mark.")
    ] = "half",
    marks: Marks = "P1,P2,U1,P3,P4,U2",
    side_by_side: Annotated[
        int, typer.Option(help="Models trained at the same time, one core each.", min=1)
    ] = 2,
    records: Records = None,
    page: Page = None,
) -> None:
    """Train on marked and bare corpora, verify, compare; then write the page.

    Goes on where it stopped. Without a dataset, only the page is written, from the records.

    [bold]Examples[/]

    puzzlemark bench rq1 --python python.jsonl.gz --base smollm2 --marks P1,U1 -o rq1

    puzzlemark bench rq1 --records docs/results/rq1 --page docs/results/rq1.md
    """
    from puzzlemark.bench import rq1, rq1_figures, rq1_page
    from puzzlemark.bench.choices import split_specs
    from puzzlemark.bench.records import collect

    given = given_corpora(python, java)
    Given(given, output, base, records, page).check(context, "budget", "side_by_side")
    if given:
        refuse_marks(split_specs(marks), given)
        if base is None:
            raise UsageError("--base is needed: the folder of a model to train")
        if budget not in rq1.BUDGETS:
            raise UsageError(f"no budget {budget!r}; known: {', '.join(rq1.BUDGETS)}")
        place = rq1.run(
            output,
            given,
            base,
            rq1.BUDGETS[budget],
            split_specs(marks),
            side_by_side=side_by_side,
            say=say,
        )
        if records is not None:
            collect(place, records / budget)
    if page is not None and records is not None:
        write_page(page, rq1_page.page(records))
        write_pictures(records, rq1_figures.figures(records))
