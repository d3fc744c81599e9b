"""`puzzlemark commit stamp`: attach a timestamp to a commitment, and verify it."""

from pathlib import Path
from typing import Annotated

import typer

from puzzlemark.cli.base import AsJson, print_json
from puzzlemark.cli.stamp import Authority, Roots, Token, print_stamp


def run(
    folder: Annotated[Path, typer.Argument(metavar="COMMITMENT", help="Its folder.")],
    token: Token = None,
    authority: Authority = None,
    roots: Roots = None,
    as_json: AsJson = False,
) -> None:
    """Attach a timestamp by RFC 3161 to a commitment.

    A token about anything else is refused. With --roots its signature is verified as well.

    [bold]Examples[/]

    puzzlemark commit stamp commitment --token token.tsr --roots authority.pem

    puzzlemark commit stamp commitment --authority https://tsa.example.org --roots authority.pem
    """
    from puzzlemark.evidence.stamping import stamp

    found = stamp(folder, token=token, authority=authority, roots=roots)
    if as_json:
        print_json({**found.to_json(), "time": found.time.isoformat(), "token": str(found.path)})
    else:
        print_stamp(found)
