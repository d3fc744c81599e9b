"""`puzzlemark apply`: replay a manifest."""

from pathlib import Path
from typing import Annotated

import typer

from puzzlemark.cli.base import AsJson, Force, print_json, print_summary, progress


def run(
    dataset: Annotated[str, typer.Argument(metavar="INPUT", help="The dataset it was made for.")],
    manifest: Annotated[Path, typer.Option(help="The private manifest.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Where the marked dataset goes.")],
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Put the marks of a manifest into the dataset it was made for, once more.

    A dataset whose ids or code differ from the one the manifest was made for is refused, and
    nothing is written.

    Example: puzzlemark apply train.jsonl.gz --manifest marks.jsonl.gz --output marked.jsonl.gz
    """
    import puzzlemark as pm

    with progress(not as_json) as report:
        summary = pm.apply(dataset, output, manifest, overwrite=force, progress=report)
    print_json(summary.to_json()) if as_json else print_summary(summary)
