"""`puzzlemark trace`: which licensee's copy did a model learn from?"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from puzzlemark.cli.base import AsJson, output_console, print_json
from puzzlemark.cli.probe import SecretFile

if TYPE_CHECKING:
    from puzzlemark.verification.tracing import Trace

MOST_SHOWN = 20  # licensees that are printed


def run(
    folder: Annotated[
        Path, typer.Argument(metavar="RUN", help="The folder that `puzzlemark verify` wrote.")
    ],
    licensees: Annotated[
        Path,
        typer.Option(
            help="All licensees: a file with a name a line, or a folder with their manifests."
        ),
    ],
    secret_file: SecretFile = None,
    as_json: AsJson = False,
) -> None:
    """Say which licensee's copy a model learnt from, corrected for the number of licensees.

    One run against the model serves for all of them: their copies carry at the same places, with
    names of their own keys. List every licensee, whoever is suspected. Marks without a key are
    refused: their pattern is the same in every copy.

    [bold]Examples[/]

    puzzlemark trace run/ --licensees licensees.txt --secret-file secret

    puzzlemark trace run/ --licensees manifests/
    """
    from puzzlemark.embedding.secret import find_secret
    from puzzlemark.verification.tracing import read_licensees, trace

    secret = find_secret(secret_file, make=False)
    found = trace(folder, read_licensees(licensees, secret), secret)
    if as_json:
        print_json({"run": str(folder), **found.to_json()})
    else:
        _print(found)


def _print(found: "Trace") -> None:
    console = output_console()
    console.print(escape(found.sentence))
    for each in found.suspects[:MOST_SHOWN]:
        if each.log10_e is not None:
            number = f"log10 e = {each.log10_e:.2f}"
        else:
            number = f"adjusted log10 p = {each.log10_p or 0.0:.2f}"
        shown = "[bold red]shown[/]" if each.is_shown else escape(each.word)
        console.print(f"  {escape(each.licensee):<24} {number:<28} {shown}")
    if len(found.suspects) > MOST_SHOWN:
        console.print(f"  and {len(found.suspects) - MOST_SHOWN:,} more")
    if found.limit is not None:
        console.print(f"needed: log10 e = {found.limit:.2f}")
    for pair in found.differences:
        both = f"{escape(pair.first)} and {escape(pair.second)}"
        console.print(
            f"{both} differ at {pair.differing:,} of {pair.carriers:,} carriers; there "
            f"{pair.as_first:,} answers are as the first copy has it, {pair.as_second:,} as the "
            f"second, {pair.as_neither:,} neither"
        )
