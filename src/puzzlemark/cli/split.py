"""`puzzlemark split`: train and test, with no project on both sides."""

from typing import Annotated

import typer
from rich.markup import escape

from puzzlemark.cli.base import (
    AsJson,
    CodeColumn,
    Dataset,
    Force,
    Place,
    output_console,
    place,
    print_json,
    progress,
)


def run(
    dataset: Dataset,
    train: Annotated[
        Place, typer.Option(parser=place, metavar="<path>", help="Where the training side goes.")
    ],
    test: Annotated[
        Place, typer.Option(parser=place, metavar="<path>", help="Where the held-out side goes.")
    ],
    test_share: Annotated[float, typer.Option(help="Share of the records to hold out.")] = 0.1,
    project_column: Annotated[
        str | None,
        typer.Option(help="Column with the project. (default: recognised by its name)"),
    ] = None,
    seed: Annotated[int, typer.Option(help="Draws the projects.", min=0)] = 0,
    code_column: CodeColumn = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Hold out whole projects, so that a model is tested on code it did not see a sibling of.

    Every record goes to one of the two datasets as it is, in its order.

    Example: puzzlemark split functions.jsonl.gz --train train.jsonl.gz --test test.jsonl.gz
    """
    from puzzlemark.corpora.base import open_corpus
    from puzzlemark.quality.split import split

    # the language does not matter here, so nobody is asked for it
    corpus = open_corpus(dataset, code_column=code_column, language="any")
    with progress(not as_json) as report:
        done = split(
            corpus,
            train,
            test,
            test_share=test_share,
            project_column=project_column,
            seed=seed,
            overwrite=force,
            progress=report,
        )
    if as_json:
        print_json(done.to_json())
        return
    console = output_console()
    for name, side in (("train", done.train), ("test", done.test)):
        console.print(
            f"[bold]{name:<5}[/] {side.records:>9,} records of {side.projects:,} projects "
            f"-> {escape(side.path)}"
        )
    if done.shared:
        console.print(f"{done.shared:,} test records have the same code as a training record")
