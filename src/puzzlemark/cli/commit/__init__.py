"""Fix marks, keys, plan and published files in one hash, before the dataset is published.

[bold]Examples[/]

puzzlemark commit --manifest marks.jsonl.gz --dataset marked.jsonl.gz --output commitment

puzzlemark commit stamp commitment --token token.tsr --roots authority.pem
"""

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from puzzlemark.cli.base import AsJson, Force, output_console, print_json
from puzzlemark.errors import UsageError


def run(
    context: typer.Context,
    manifest: Annotated[Path | None, typer.Option(help="The marks. (needed)")] = None,
    dataset: Annotated[
        str | None, typer.Option(help="The marked dataset, as it will be published. (needed)")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Folder of the commitment. (needed)")
    ] = None,
    plan: Annotated[
        Path | None,
        typer.Option(help="How models will be judged, as TOML. (default: as `verify` does)"),
    ] = None,
    secret_file: Annotated[
        Path | None, typer.Option(help="The secret that the marks were made with.")
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Fix marks, keys, plan and published files in one hash."""
    if context.invoked_subcommand is not None:
        return
    if manifest is None or dataset is None or output is None:
        raise UsageError("pass --manifest, --dataset and --output; see: puzzlemark commit --help")
    from puzzlemark.evidence.commitment import commit

    made = commit(manifest, dataset, output, plan=plan, secret_file=secret_file, overwrite=force)
    if as_json:
        print_json({"hash": made.hash, "folder": str(made.folder), **made.content.model_dump()})
        return
    console = output_console()
    console.print(f"[bold]{made.hash}[/]")
    console.print(f"stands for {made.content.marks.leaves:,} marked records and their plan")
    console.print(f"folder    {escape(str(made.folder))}: README.txt says how to have it stamped")
