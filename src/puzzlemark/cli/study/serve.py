"""`puzzlemark study serve`: the pages on this machine, for a lab."""

import logging
import threading
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from puzzlemark.cli.base import errors_console, output_console, warn


def run(
    pages: Annotated[Path, typer.Argument(metavar="PAGES", help="Folder of `study make`.")],
    answers: Annotated[
        Path, typer.Option(help="Folder where the answers are collected; made when missing.")
    ] = Path("answers"),
    host: Annotated[
        str, typer.Option(help="Address to serve at. (default: this machine only)")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port; 0 takes a free one.", min=0, max=65535)] = 8000,
) -> None:
    """Serve the pages of a study, and collect the answers.

    Prints one link for each page. Answers arrive when a participant finishes a round; each is
    written whole, and nothing is ever replaced. Needs no key: whoever runs the lab stays blind.

    Example: puzzlemark study serve pages --answers answers
    """
    from puzzlemark.studying.serving import serve_study

    console = output_console()
    logging.basicConfig(format="%(message)s")
    logging.getLogger("puzzlemark.studying.serving").setLevel(logging.INFO)
    with serve_study(pages, answers, host=host, port=port) as lab:
        reach = "this machine only" if lab.is_local else f"everybody who can reach {lab.host}"
        try:
            console.print(f"serving to {reach}; stop with Ctrl-C")
            if not lab.is_local:
                warn("answers travel unencrypted; use a network that you trust, or an https proxy")
            for name, link in lab.links.items():
                console.print(f"{escape(name)}  {link}")
            console.print(f"answers   {escape(str(lab.answers))}")
            console.file.flush()
            threading.Event().wait()
        except KeyboardInterrupt:
            count = len(list(lab.answers.glob("*.json")))
            errors_console().print(f"stopped; {count} files of answers in {lab.answers}")
