"""`puzzlemark report`: the evidence of a run as one page."""

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from puzzlemark.cli.base import AsJson, Force, output_console, print_json
from puzzlemark.cli.probe import KeySecretFile


def run(
    folder: Annotated[
        Path, typer.Argument(metavar="RUN", help="The folder that `puzzlemark verify` wrote.")
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The page to write. (default: RUN/report.html)"),
    ] = None,
    examples: Annotated[
        int, typer.Option(help="Show so many probes with their completions.", min=0)
    ] = 6,
    secret_file: KeySecretFile = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Write the verdict of a run and its evidence as one self-contained page.

    It opens offline, prints on A4, and holds nothing that runs. The page shows prompts of the run,
    and so the trigger: it can be read by you only (mode 0600) until you share it.

    [bold]Examples[/]

    puzzlemark report run

    puzzlemark report run --output evidence.html --examples 20
    """
    from puzzlemark.verification.report import build, save_report
    from puzzlemark.verification.run import load_run

    page = folder / "report.html" if output is None else output
    loaded = load_run(folder, secret_file=secret_file)
    report = build(loaded, examples=examples)
    save_report(report, loaded.folder, page, overwrite=force)
    if as_json:
        shown = {"run": str(folder), "output": str(page), "examples": len(report.examples)}
        print_json({**shown, "word": report.word, "sentence": loaded.verdict.sentence})
    else:
        is_private = report.examples or report.is_keyed
        private = " (private: it shows the trigger)" if is_private else ""
        output_console().print(Text.assemble((report.word, "bold"), f" -> {page}{private}"))
