"""`puzzlemark harvest`: a dataset from a source tree."""

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from puzzlemark.cli._completing import names_of
from puzzlemark.cli.base import (
    AsJson,
    EngineName,
    Force,
    Place,
    Workers,
    output_console,
    place,
    print_json,
    progress,
)


def run(
    source: Annotated[
        Path,
        typer.Argument(metavar="FOLDER_OR_ZIP", help="Folder, .zip, .tar.gz or single file."),
    ],
    language: Annotated[
        str,
        typer.Option(
            help="Language to look for; see: puzzlemark list.",
            autocompletion=names_of("languages"),
        ),
    ],
    output: Annotated[
        Place,
        typer.Option(
            "--output",
            "-o",
            parser=place,
            metavar="<path>",
            help="Dataset to write: .jsonl, .jsonl.gz or .parquet.",
        ),
    ],
    min_lines: Annotated[int, typer.Option(help="Leave out shorter functions.", min=1)] = 1,
    documented_only: Annotated[
        bool, typer.Option("--documented-only", help="Leave out functions without documentation.")
    ] = False,
    exclude: Annotated[
        list[str] | None,
        typer.Option(help="Leave out paths, or folder and file names, like this: 'test_*'."),
    ] = None,
    workers: Workers = None,
    engine: EngineName = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Collect the functions of a source tree into a dataset with CodeSearchNet's fields.

    Code is parsed, never run. Functions inside functions stay part of the outer one.

    Example: puzzlemark harvest my-project --language python --output functions.jsonl.gz
    """
    from puzzlemark.harvesting.run import harvest_to

    with progress(not as_json) as report:
        harvested = harvest_to(
            source,
            output,
            language,
            min_lines=min_lines,
            documented_only=documented_only,
            exclude=exclude or (),
            workers=workers,
            engine=engine,
            overwrite=force,
            progress=report,
        )
    if as_json:
        print_json(harvested.to_json())
        return
    console = output_console()
    console.print(
        f"[bold]{harvested.records:,}[/] functions of {harvested.files:,} files "
        f"-> {escape(str(harvested.output))}"
    )
    for what, reasons in (
        ("files", harvested.skipped_files),
        ("functions", harvested.skipped_functions),
    ):
        for reason, count in reasons.most_common():
            console.print(f"  left out {count:>7,} {what}: {escape(reason)}")
