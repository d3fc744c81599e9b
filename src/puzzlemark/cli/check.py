"""`puzzlemark check`: what holds of a bundle, offline, item by item."""

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from puzzlemark.cli.base import AsJson, Force, output_console, print_json

SIGNS = {
    "ok": "[green]ok[/]     ",
    "failed": "[bold red]failed[/] ",
    "unknown": "[yellow]?[/]      ",
}


def run(
    path: Annotated[Path, typer.Argument(metavar="BUNDLE", help="The zip to check.")],
    dataset: Annotated[str | None, typer.Option(help="The dataset as it was published.")] = None,
    roots: Annotated[
        Path | None,
        typer.Option(help="Certificates of timestamp authorities that you trust (PEM)."),
    ] = None,
    hash_: Annotated[
        str | None,
        typer.Option("--hash", help="The hash of the commitment, as you found it published."),
    ] = None,
    page: Annotated[
        Path | None, typer.Option(help="Write what was found as an HTML page, too.")
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Check a bundle: each claim holds, does not, or cannot be checked, and why.

    Works without a network, and runs nothing of the bundle. Exits with 0 when every claim holds,
    with 1 when one does not or the file is no bundle, with 3 when none was found wrong but some
    could not be checked here. It says nothing of guilt.

    [bold]Examples[/]

    puzzlemark check evidence.zip

    puzzlemark check evidence.zip --dataset marked.jsonl.gz --roots authority.pem --page check.html
    """
    from puzzlemark.evidence.check import check
    from puzzlemark.evidence.page import save_page

    found = check(path, dataset=dataset, roots=roots, hash_=hash_)
    if page is not None:
        save_page(found, page, sources={"BUNDLE": path, "--roots": roots}, overwrite=force)
    if as_json:
        print_json(found.to_json())
        raise typer.Exit(found.exit_code)
    console = output_console()
    about = ""
    for claim in found.claims:
        if claim.about != about:
            about = claim.about
            console.print(f"[bold]{escape(about)}[/]")
        why = f": {claim.why}" if claim.why else ""
        console.print(f"  {SIGNS[claim.status]}{escape(claim.claim + why)}")
    for each in found.runs:
        console.print(f"[bold]run {each.number}: {each.word}[/], {each.stands}")
        console.print(f"  {escape(each.lead)}")
    console.print(f"[bold]{escape(found.sentence)}[/]")
    raise typer.Exit(found.exit_code)
