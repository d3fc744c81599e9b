"""`puzzlemark commit stamp`: attach a timestamp to a commitment, and verify it."""

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from puzzlemark.cli.base import AsJson, output_console, print_json, warn


def run(
    folder: Annotated[Path, typer.Argument(metavar="COMMITMENT", help="Its folder.")],
    token: Annotated[
        Path | None, typer.Option(help="The authority's answer (.tsr), got by any means.")
    ] = None,
    authority: Annotated[
        str | None, typer.Option(metavar="URL", help="Ask this authority for a token, now.")
    ] = None,
    roots: Annotated[
        Path | None,
        typer.Option(help="Certificates that the authority's signature must lead to (PEM)."),
    ] = None,
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
    payload = {
        "time": found.time.isoformat(),
        "authority": found.authority,
        "verified": found.is_verified,
        "token": str(found.path),
    }
    if as_json:
        print_json(payload)
        return
    console = output_console()
    console.print(f"[bold]{found.time:%Y-%m-%d %H:%M:%S} UTC[/], says {_name(found.authority)}")
    console.print(f"token     {escape(str(found.path))}")
    if not found.is_verified:
        warn("the signature was not verified; pass the authority's root certificate with --roots")


def _name(authority: str | None) -> str:
    return escape(authority) if authority else "an authority without a name"
