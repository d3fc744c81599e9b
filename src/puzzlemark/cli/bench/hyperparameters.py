"""`puzzlemark bench hyperparameters`: RQ4's table of learning rates and epochs."""

from pathlib import Path
from typing import Annotated

import typer

from puzzlemark.cli._completing import names_of, one_of
from puzzlemark.cli.bench.base import GOES_ON, Corpus, Marks, given_corpora, refuse_marks, say
from puzzlemark.errors import UsageError
from puzzlemark.files import keep_apart

WHEN_INTERRUPTED = GOES_ON
SCALES = {
    "tiny": {"marks": "P1", "base": "needed"},
    "small": {"base": "needed"},
    "full": {"base": "needed"},
}  # for `bench paper`
RECORDS = "rq4/hyperparam.json"  # among its results: a part of RQ4's page


def run(
    base: Annotated[
        Path, typer.Option(help="Model to train: the folder of `model fetch smollm2`.")
    ],
    python: Corpus = None,
    java: Corpus = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder for models, probes and transcripts.")
    ] = Path("hyperparameters"),
    budget: Annotated[
        str,
        typer.Option(
            help="half, many, tenth, twentieth or paper: how many functions carry a mark.",
            autocompletion=one_of("half", "many", "tenth", "twentieth", "paper"),
        ),
    ] = "half",
    marks: Marks = "P1,P2,U1",
    recipe: Annotated[
        str,
        typer.Option(
            help="Whose rate is tried ten times larger and smaller.",
            autocompletion=names_of("training.recipes"),
        ),
    ] = "cpu_fast",
    side_by_side: Annotated[
        int, typer.Option(help="Models trained at the same time, one core each.", min=1, max=2)
    ] = 1,
    records: Annotated[
        Path | None, typer.Option(help="JSON file for what the page of RQ4 needs.")
    ] = None,
) -> None:
    """Train at other learning rates and for other numbers of epochs, and verify.

    Goes on where it stopped. The page of RQ4 shows what is in the records.

    [bold]Example[/]

    puzzlemark bench hyperparameters --python python.jsonl.gz --base smollm2 --records rq4.json
    """
    from puzzlemark.bench import hyperparameters, rq1
    from puzzlemark.bench.choices import split_specs

    given = given_corpora(python, java)
    keep_apart({"--output": output, "--records": records}, {"--base": base, **given})
    if not given:
        raise UsageError("pass a dataset (--python, --java)")
    refuse_marks(split_specs(marks), given)
    if budget not in rq1.BUDGETS:
        raise UsageError(f"no budget {budget!r}; known: {', '.join(rq1.BUDGETS)}")
    grid = hyperparameters.make_grid(rq1.BUDGETS[budget], recipe)
    place = hyperparameters.run(
        output, given, base, grid, split_specs(marks), side_by_side=side_by_side, say=say
    )
    if records is not None:
        hyperparameters.collect(place, records)
