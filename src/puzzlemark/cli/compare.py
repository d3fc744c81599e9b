"""`puzzlemark compare`: are probes what they are said to be?"""

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from puzzlemark.cli.base import (
    AsJson,
    Dataset,
    ManifestOf,
    Workers,
    find_manifest,
    output_console,
    print_json,
    progress,
)
from puzzlemark.cli.probe import SecretFile


def run(
    probes: Annotated[
        Path, typer.Argument(metavar="PROBES", help="A file of probes, or the folder of a run.")
    ],
    dataset: Dataset,
    manifest: ManifestOf = None,
    secret_file: SecretFile = None,
    workers: Workers = None,
    as_json: AsJson = False,
) -> None:
    """Make probes again from dataset and manifest, and say whether they are the same.

    A file of probes is its maker's word. Of marks with a key, classes and frequencies are found
    again in the dataset as well; no secret is needed for that. In a run's folder the result is
    kept, and the report tells it. Exits with 1 when something differs.

    [bold]Examples[/]

    puzzlemark compare probes.jsonl marked.jsonl.gz --manifest marks.jsonl.gz

    puzzlemark compare run/ marked.jsonl.gz --manifest marks.jsonl.gz
    """
    from puzzlemark.evidence.comparing import compare

    manifest = find_manifest(dataset, manifest)
    with progress(not as_json) as report:
        found = compare(
            probes, dataset, manifest, secret_file=secret_file, workers=workers, progress=report
        )
    if as_json:
        print_json(found.to_json())
    else:
        console = output_console()
        console.print(f"[bold]{'the same' if found.same else 'not the same'}[/]")
        console.print(escape(found.sentence))
    if not found.same:
        raise typer.Exit(1)
