"""`puzzlemark apply`: replay a manifest."""

from pathlib import Path
from typing import Annotated

import typer

from puzzlemark.cli.base import AsJson, Force, Place, piped, place, progress, report_on


def run(
    dataset: Annotated[str, typer.Argument(metavar="INPUT", help="The dataset it was made for.")],
    manifest: Annotated[Path, typer.Option(help="The private manifest.")],
    output: Annotated[
        Place,
        typer.Option(
            "--output", "-o", parser=place, metavar="<path>", help="Where the marked dataset goes."
        ),
    ],
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Put the marks of a manifest into the dataset it was made for, once more.

    A dataset whose ids or code differ from the one the manifest was made for is refused, and
    nothing is written.

    Example: puzzlemark apply train.jsonl.gz --manifest marks.jsonl.gz --output marked.jsonl.gz
    """
    import puzzlemark as pm

    with piped(dataset, output) as (source, target), progress(not as_json) as report:
        summary = pm.apply(source, target, manifest, overwrite=force, progress=report)
    report_on(summary, dataset, output, as_json=as_json)
