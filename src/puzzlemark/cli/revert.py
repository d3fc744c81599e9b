"""`puzzlemark revert`: take the marks out again."""

from pathlib import Path
from typing import Annotated

import typer

from puzzlemark.cli.base import AsJson, Force, print_json, print_summary, progress


def run(
    dataset: Annotated[str, typer.Argument(metavar="INPUT", help="The marked dataset.")],
    manifest: Annotated[Path, typer.Option(help="The private manifest.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Where the original goes.")],
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Take every mark out of a marked dataset: each code cell gets its exact bytes back.

    The result is compared with the digest of the original before it gets its name.

    Example: puzzlemark revert marked.jsonl.gz --manifest marks.jsonl.gz --output original.jsonl.gz
    """
    import puzzlemark as pm

    with progress(not as_json) as report:
        summary = pm.revert(dataset, output, manifest, overwrite=force, progress=report)
    print_json(summary.to_json()) if as_json else print_summary(summary)
