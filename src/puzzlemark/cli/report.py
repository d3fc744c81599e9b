"""`puzzlemark report`: the evidence of a run as one page."""

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from puzzlemark.cli.base import AsJson, Force, output_console, print_json
from puzzlemark.cli.probe import KeySecretFile, Licensee


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
    case: Annotated[
        Path | None,
        typer.Option(help="Parties, file number, date of publication, as TOML: quoted as yours."),
    ] = None,
    secret_file: KeySecretFile = None,
    licensee: Licensee = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Write the verdict of a run and its evidence as one self-contained page.

    Its first page is for whoever decides, the rest for experts. It opens offline, prints on A4 and
    Letter, and holds nothing that runs. The page shows prompts of the run, and so the trigger: it
    can be read by you only (mode 0600) until you share it.

    [bold]Examples[/]

    puzzlemark report run

    puzzlemark report run --case case.toml --output evidence.html --examples 20
    """
    from puzzlemark.verification.case import read_case
    from puzzlemark.verification.report import build, save_report
    from puzzlemark.verification.run import load_run

    page = folder / "report.html" if output is None else output
    if licensee is None:
        loaded = load_run(folder, secret_file=secret_file)
    else:
        from puzzlemark.embedding.secret import find_secret

        secret = find_secret(secret_file, make=False).licensed(licensee)
        loaded = load_run(folder, secret=secret)
    told = None if case is None else read_case(case)
    report = build(loaded, examples=examples, case=told)
    save_report(report, loaded.folder, page, overwrite=force)
    if as_json:
        shown = {"run": str(folder), "output": str(page), "examples": len(report.examples)}
        print_json({**shown, "word": report.word, "sentence": loaded.verdict.sentence})
    else:
        is_private = report.examples or report.is_keyed
        private = " (private: it shows the trigger)" if is_private else ""
        output_console().print(Text.assemble((report.word, "bold"), f" -> {page}{private}"))
