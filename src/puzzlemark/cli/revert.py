"""`puzzlemark revert`: take the marks out again."""

from typing import Annotated

import typer

from puzzlemark.cli.base import (
    AsJson,
    Force,
    ManifestOf,
    Place,
    find_manifest,
    piped,
    place,
    progress,
    report_on,
)


def run(
    dataset: Annotated[str, typer.Argument(metavar="INPUT", help="The marked dataset.")],
    output: Annotated[
        Place,
        typer.Option(
            "--output", "-o", parser=place, metavar="<path>", help="Where the original goes."
        ),
    ],
    manifest: ManifestOf = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Take every mark out of a marked dataset: each code cell gets its exact bytes back.

    The result is compared with the digest of the original before it gets its name.

    Example: puzzlemark revert marked.jsonl.gz --manifest marks.jsonl.gz --output original.jsonl.gz
    """
    import puzzlemark as pm

    manifest = find_manifest(dataset, manifest)
    with piped(dataset, output) as (source, target), progress(not as_json) as report:
        summary = pm.revert(source, target, manifest, overwrite=force, progress=report)
    report_on(summary, dataset, output, as_json=as_json)
