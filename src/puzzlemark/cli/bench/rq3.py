"""`puzzlemark bench rq3`: is a mark still verified after the dataset was attacked?"""

from pathlib import Path
from typing import Annotated

import typer

from puzzlemark.cli._completing import one_of
from puzzlemark.cli.base import output_console
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
)
from puzzlemark.errors import UsageError

WHEN_INTERRUPTED = GOES_ON
SCALES = {
    "tiny": {"marks": "P1,P3", "base": "needed"},
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
        Path, typer.Option("--output", "-o", help="Folder for datasets, models and transcripts.")
    ] = Path("rq3"),
    scale: Annotated[
        str,
        typer.Option(
            help="tiny, small or full: how many functions and steps; wide: for U1 and U2.",
            autocompletion=one_of("tiny", "small", "full", "wide"),
        ),
    ] = "small",
    marks: Marks = "P1,P3,U1,U2,P2,P4",
    jobs: Annotated[
        str | None,
        typer.Option(help="Only these, with commas: P1/removal-decoma,U1/dilution."),
    ] = None,
    list_jobs: Annotated[
        bool, typer.Option("--list", help="Show the jobs and which of them are done, and end.")
    ] = False,
    side_by_side: Annotated[
        int, typer.Option(help="Models trained at the same time, one core each.", min=1, max=2)
    ] = 1,
    records: Records = None,
    page: Page = None,
) -> None:
    """Attack marked corpora, train on what is left, verify; then write the page.

    Goes on where it stopped, the most telling jobs first. Without a dataset, only the page is
    written, from the records.

    [bold]Examples[/]

    puzzlemark bench rq3 --python python.jsonl.gz --base smollm2 --marks P1,U1 -o rq3

    puzzlemark bench rq3 --records docs/results/rq3 --page docs/results/rq3.md
    """
    from puzzlemark.bench import rq3, rq3_page
    from puzzlemark.bench.choices import choose, split_specs

    given = given_corpora(python, java)
    running = ("scale", "side_by_side", "jobs", "list_jobs")
    Given(given, output, base, records, page).check(context, *running)
    if given:
        if scale not in rq3.SCALES:
            raise UsageError(f"no scale {scale!r}; known: {', '.join(rq3.SCALES)}")
        chosen = rq3.SCALES[scale]
        others = set(rq3.MARKS) - set(chosen.marks)
        wanted = [mark for mark in split_specs(marks) if mark not in others]
        if not wanted:
            raise UsageError(f"scale {scale} is for {', '.join(chosen.marks)}, not {marks}")
        refuse_marks(wanted, given)
        if list_jobs:
            place = output / chosen.budget.label
            for job in rq3.plan_jobs(place, choose(wanted, given), chosen, base or Path()):
                output_console().print(f"{'done' if job.is_done else 'open'}  {job.name}")
            return
        if base is None:
            raise UsageError("--base is needed: the folder of a model to train")
        names = jobs.split(",") if jobs else None
        place = rq3.run(
            output, given, base, chosen, wanted, jobs=names, side_by_side=side_by_side, say=say
        )
        if records is not None:
            rq3_page.collect(place, records)
    if page is not None and records is not None:
        write_page(page, rq3_page.page(records))
