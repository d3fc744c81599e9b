"""`puzzlemark bundle`: put runs under a commitment into one file that anybody can check."""

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from puzzlemark.cli.base import AsJson, Force, output_console, print_json


def run(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN...", help="Folders that `puzzlemark verify` wrote.")
    ],
    commitment: Annotated[
        Path, typer.Option(help="The folder that `puzzlemark commit` wrote. (needed)")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="The bundle, a zip. (needed)")],
    reveal: Annotated[
        str,
        typer.Option(
            metavar="all|probed|N",
            help="Which marked records to open: all, those that were asked about, or so many.",
        ),
    ] = "probed",
    manifest: Annotated[
        Path | None, typer.Option(help="The marks; needed to open any, or the key of a test.")
    ] = None,
    secret_file: Annotated[
        Path | None, typer.Option(help="The secret that the marks were made with.")
    ] = None,
    case: Annotated[
        Path | None,
        typer.Option(help="Parties, file number, date of publication, as TOML: quoted as yours."),
    ] = None,
    roots: Annotated[
        Path | None,
        typer.Option(help="Certificates of the timestamp authorities (PEM), for the report."),
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Put runs under a commitment into one file that anybody can check offline.

    It holds the commitment and its timestamps, the questions, the answers, the verdicts and
    reports, the list of runs, the marked records that are opened, and a script that recomputes all
    of it without PuzzleMark. The same input gives the same bytes. What it discloses is listed.

    [bold]Examples[/]

    puzzlemark bundle run --commitment commitment --manifest marks.jsonl.gz --output evidence.zip

    puzzlemark bundle run1 run2 --commitment commitment --manifest marks.jsonl.gz --reveal all \\
    --case case.toml --output evidence.zip
    """
    from puzzlemark.evidence.bundle import bundle

    made = bundle(
        runs,
        commitment,
        output,
        reveal=reveal,
        manifest=manifest,
        secret_file=secret_file,
        case=case,
        roots=roots,
        overwrite=force,
    )
    if as_json:
        print_json(
            {
                "bundle": str(made.path),
                "sha256": made.sha256,
                "files": list(made.files),
                "disclosed": list(made.disclosed),
            }
        )
        return
    console = output_console()
    console.print(f"[bold]{escape(str(made.path))}[/]: {len(made.files):,} files")
    console.print(f"sha256    {made.sha256}")
    console.print("whoever gets it learns:" if made.disclosed else "it opens nothing of the marks")
    for each in made.disclosed:
        console.print(f"  {escape(each)}")
