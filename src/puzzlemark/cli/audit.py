"""`puzzlemark audit`: does anything but the code tell which records carry marks?"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from puzzlemark.cli.base import (
    AsJson,
    CodeColumn,
    Fenced,
    IdColumn,
    LanguageColumn,
    code_path,
    output_console,
    print_json,
    progress,
)

if TYPE_CHECKING:
    from puzzlemark.auditing.run import Audit

COLOURS = {"ok": "green", "tells": "bold red", "not applicable": "dim"}


def run(
    original: Annotated[str, typer.Argument(metavar="ORIGINAL", help="The dataset before.")],
    marked: Annotated[str, typer.Argument(metavar="MARKED", help="The same dataset with marks.")],
    manifest: Annotated[
        Path | None,
        typer.Option(
            help="The private manifest: its carriers are the truth. (default: the records whose "
            "code differs)"
        ),
    ] = None,
    alpha: Annotated[
        float,
        typer.Option(help="Chance of a false alarm over all exact tests together, as a share."),
    ] = 0.01,
    code_column: CodeColumn = None,
    fenced: Fenced = False,
    id_column: IdColumn = None,
    language_column: LanguageColumn = None,
    as_json: AsJson = False,
) -> None:
    """Try to find the marked records by everything but their code.

    Compares the two datasets record by record, and looks at the marked one as somebody who has
    nothing else: bytes, pages, sizes, times, order, keys, compression, computed columns. Exit code
    0 when nothing tells the marks, 1 when something does.

    [bold]Example[/]

    puzzlemark audit train.jsonl.gz marked.jsonl.gz --manifest marks.jsonl.gz
    """
    import puzzlemark as pm

    with progress(not as_json) as report:
        found = pm.audit(
            original,
            marked,
            manifest,
            alpha=alpha,
            code_column=code_path(code_column, fenced),
            id_column=id_column,
            language_column=language_column,
            progress=report,
        )
    print_json(found.to_json()) if as_json else _print(found)
    if found.telling:
        raise typer.Exit(1)


def _print(found: "Audit") -> None:
    console = output_console()
    for finding in found.findings:
        colour = COLOURS[finding.outcome]
        p = (
            ""
            if finding.adjusted_log10_p is None
            else f" (log10 p = {finding.adjusted_log10_p:.2f})"
        )
        console.print(
            f"[{colour}]{finding.outcome:<14}[/] {finding.check:<17} {escape(finding.sentence)}{p}"
        )
    names = ", ".join(dict.fromkeys(finding.check for finding in found.telling))
    verdict = f"[bold red]something tells the marks:[/] {names}" if names else "nothing tells"
    console.print(
        f"{verdict} ({found.carriers:,} carriers in {found.records:,} records, "
        f"alpha {found.alpha:g})"
    )
