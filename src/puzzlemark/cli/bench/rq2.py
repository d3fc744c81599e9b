"""`puzzlemark bench rq2`: what each detector finds of each watermark."""

from pathlib import Path
from typing import Annotated

import typer

from puzzlemark.cli._completing import marks, names_of, with_commas
from puzzlemark.cli.base import EngineName, Workers, refuse_ignored
from puzzlemark.cli.bench.base import (
    GOES_ON,
    Corpus,
    Given,
    Page,
    Records,
    Seed,
    Size,
    given_corpora,
    read_size,
    refuse_marks,
    say,
    write_page,
)

WHEN_INTERRUPTED = GOES_ON
SCALES = {"tiny": {"marks": "W1,S1,M1,P1,U1,W2,S2,M2,P3,U2"}}  # for `bench paper`


def run(
    context: typer.Context,
    python: Corpus = None,
    java: Corpus = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder for marked datasets and suspicions.")
    ] = Path("rq2"),
    marks: Annotated[
        str | None,
        typer.Option(
            help="Which watermarks, with commas: P1, or fixed_prefix:prefix=node. "
            "(default: all that have a name)",
            autocompletion=with_commas(marks),
        ),
    ] = None,
    methods: Annotated[
        str | None,
        typer.Option(
            help="Which detectors, with commas: decoma, or decoma:z=2.5. "
            "(default: the five of the page)",
            autocompletion=with_commas(names_of("detectors")),
        ),
    ] = None,
    size: Size = "all",
    base: Annotated[
        Path | None,
        typer.Option(help="Model to fine-tune on each set for SS and AC. (default: without them)"),
    ] = None,
    seed: Seed = 0,
    workers: Workers = None,
    engine: EngineName = None,
    records: Records = None,
    page: Page = None,
) -> None:
    """Embed every watermark, run every detector, write the table of the paper beside ours.

    Goes on where it stopped. Without a dataset, only the page is written, from the records.

    [bold]Example[/]

    puzzlemark bench rq2 --python python.jsonl.gz --marks W1,P1 --methods decoma,concat -o rq2
    """
    from puzzlemark.bench import rq2, rq2_page
    from puzzlemark.bench.choices import split_specs
    from puzzlemark.bench.tuned import NEEDS_MODEL
    from puzzlemark.detectors.base import load_detector
    from puzzlemark.watermarks.base import named

    given = given_corpora(python, java)
    running = ("methods", "size", "seed", "workers", "engine")
    Given(given, output, base, records, page).check(context, *running)
    if given:
        wanted = split_specs(marks) if marks else list(named())
        refuse_marks(wanted if marks else (), given)
        plan = rq2.Plan(
            records=read_size(size),
            seed=seed,
            methods=tuple(split_specs(methods)) if methods else rq2.METHODS,
            workers=workers,
            engine=engine,
        )
        for method in plan.methods:
            load_detector(method)  # refuses what there is not, before anything is written
        if not set(plan.methods) & set(NEEDS_MODEL):
            because = f"only {' and '.join(NEEDS_MODEL)} look into a model"
            refuse_ignored(context, ["base"], because)
        rq2.run(
            output,
            given,
            wanted,
            plan,
            base=base,
            say=say,
        )
        if records is not None:
            rq2_page.collect(output, records)
    if page is not None and records is not None:
        write_page(page, rq2_page.page(records))
