"""`puzzlemark bench rq5`: can one project be protected among the code of others?"""

from pathlib import Path
from typing import Annotated

import typer

from puzzlemark.cli._completing import one_of
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
    "tiny": {"marks": "P1", "base": "needed", "project": "needed"},
    "small": {"base": "needed", "project": "needed"},
    "full": {"base": "needed", "project": "needed"},
}  # for `bench paper`


def run(
    context: typer.Context,
    project: Annotated[
        list[Path] | None,
        typer.Option(help="Functions of one project; repeat it for more: project_pandas.jsonl.gz."),
    ] = None,
    python: Corpus = None,
    base: Annotated[
        Path | None, typer.Option(help="Model to train: the folder of `model fetch smollm2`.")
    ] = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder for datasets, models and transcripts.")
    ] = Path("rq5"),
    scale: Annotated[
        str,
        typer.Option(
            help="tiny, small or full: how many functions and steps.",
            autocompletion=one_of("tiny", "small", "full"),
        ),
    ] = "small",
    marks: Marks = "P1,P2,U1",
    side_by_side: Annotated[
        int, typer.Option(help="Models trained at the same time, one core each.", min=1, max=2)
    ] = 1,
    records: Records = None,
    page: Page = None,
) -> None:
    """Mark one project, train on it among others' functions, verify; then write the page.

    Goes on where it stopped. Without a dataset, only the page is written, from the records.

    [bold]Example[/]

    puzzlemark bench rq5 --project own.jsonl.gz --python python.jsonl.gz --base smollm2 -o rq5
    """
    from puzzlemark.bench import rq5, rq5_page
    from puzzlemark.bench.choices import split_specs

    given = given_corpora(python, None)
    Given(given, output, base, records, page).check(context, "scale", "side_by_side", "project")
    if given:
        refuse_marks(split_specs(marks), given)
        if base is None or not project:
            raise UsageError("--project and --base are needed: functions to mark, a model to train")
        if scale not in rq5.SCALES:
            raise UsageError(f"no scale {scale!r}; known: {', '.join(rq5.SCALES)}")
        place = rq5.run(
            output,
            {_name(path): path for path in project},
            given["python"],
            base,
            rq5.SCALES[scale],
            split_specs(marks),
            side_by_side=side_by_side,
            say=say,
        )
        if records is not None:
            rq5_page.collect(place, records)
    if page is not None and records is not None:
        write_page(page, rq5_page.page(records))


def _name(path: Path) -> str:
    """`project_pandas.jsonl.gz -> pandas`."""
    return path.name.partition(".")[0].removeprefix("project_")
