"""`puzzlemark bench rq1`: real models learn the marks, their bare twins do not."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from puzzlemark.cli._completing import names_of, one_of
from puzzlemark.cli.bench.base import (
    GOES_ON,
    Corpus,
    Datasets,
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
    dataset: Datasets = None,
    base: Annotated[
        Path | None, typer.Option(help="Model to train: the folder of `model fetch smollm2`.")
    ] = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder for models, probes and transcripts.")
    ] = Path("rq1"),
    budget: Annotated[
        str,
        typer.Option(
            help="half, tenth, twentieth or paper: how many carry a mark; wide: for U1 and U2.",
            autocompletion=one_of("half", "tenth", "twentieth", "paper", "wide"),
        ),
    ] = "half",
    marks: Marks = "P1,P2,U1,P3,P4,U2",
    recipe: Annotated[
        str,
        typer.Option(
            help="How models are trained: cpu_fast, cpu:layers=4, ...",
            autocompletion=names_of("training.recipes"),
        ),
    ] = "cpu",
    seed: Annotated[
        int, typer.Option(help="Draws functions, order of training, probes and answers.", min=0)
    ] = 0,
    innocents: Annotated[
        bool,
        typer.Option(help="Then ask the base and the bare twins about every mark."),
    ] = False,
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

    puzzlemark bench rq1 --dataset go=go.jsonl.gz --base smollm2 --marks fixed_prefix:prefix=key

    puzzlemark bench rq1 --records docs/results/rq1 --page docs/results/rq1.md
    """
    from puzzlemark.bench import rq1, rq1_figures, rq1_innocents, rq1_page
    from puzzlemark.bench.choices import choose, split_specs
    from puzzlemark.bench.records import collect

    given = given_corpora(python, java, dataset)
    Given(given, output, base, records, page).check(
        context, "budget", "side_by_side", "recipe", "seed", "innocents"
    )
    if given:
        refuse_marks(split_specs(marks), given)
        if base is None:
            raise UsageError("--base is needed: the folder of a model to train")
        if budget not in rq1.BUDGETS:
            raise UsageError(f"no budget {budget!r}; known: {', '.join(rq1.BUDGETS)}")
        chosen = replace(rq1.BUDGETS[budget].trained_by(recipe), seed=seed)
        place = rq1.run(
            output,
            given,
            base,
            chosen,
            split_specs(marks),
            side_by_side=side_by_side,
            say=say,
        )
        if innocents:
            rq1_innocents.run(
                place,
                base,
                chosen,
                [each for each in choose(rq1.MARKS, given) if each.language in given],
                rq1_innocents.Panel(),
                side_by_side=side_by_side,
                say=say,
            )
        if records is not None:
            collect(place, records / chosen.label)
            rq1_innocents.collect(place, records / chosen.label)
    if page is not None and records is not None:
        write_page(page, rq1_page.page(records))
        write_pictures(records, rq1_figures.figures(records))
