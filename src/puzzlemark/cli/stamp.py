"""`puzzlemark stamp`: have the record of a run stamped by an authority."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from puzzlemark.cli.base import AsJson, Force, output_console, print_json, warn
from puzzlemark.errors import UsageError

if TYPE_CHECKING:
    from puzzlemark.evidence.stamping import Stamp


Token = Annotated[
    Path | None, typer.Option(help="The authority's answer (.tsr), got by any means.")
]
Authority = Annotated[
    str | None, typer.Option(metavar="URL", help="Ask this authority for a token, now.")
]
Roots = Annotated[
    Path | None,
    typer.Option(help="Certificates that the authority's signature must lead to (PEM)."),
]


def run(
    folder: Annotated[
        Path, typer.Argument(metavar="RUN", help="The folder that `puzzlemark verify` wrote.")
    ],
    request: Annotated[
        Path | None,
        typer.Option(help="Write the request for a token here (.tsq), and ask nobody."),
    ] = None,
    token: Token = None,
    authority: Authority = None,
    roots: Roots = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Attach a timestamp by RFC 3161 to the end of a run's record of times (chain.jsonl).

    It shows that every answer up to there was written before that time. `verify --authority` does
    it by itself, when asking begins and when it ends.

    [bold]Examples[/]

    puzzlemark stamp run/ --request request.tsq

    puzzlemark stamp run/ --token token.tsr --roots authority.pem
    """
    from puzzlemark.evidence.stamping import make_request, stamp_line
    from puzzlemark.files import refuse_existing
    from puzzlemark.verification.chain import FILE, read_chain

    if sum(each is not None for each in (request, token, authority)) != 1:
        raise UsageError("pass one of --request FILE, --token FILE and --authority URL")
    record = read_chain(folder / FILE)
    if request is not None:
        refuse_existing(request, overwrite=force)
        request.write_bytes(make_request(record.lines[-1]))
        if as_json:
            print_json({"request": str(request), "sha256": record.head})
        else:
            output_console().print(f"{record.head} -> {escape(str(request))}")
        return
    found = stamp_line(
        folder, len(record.lines), record.lines[-1], token=token, authority=authority, roots=roots
    )
    if as_json:
        print_json({**found.to_json(), "token": str(found.path), "line": len(record.lines)})
        return
    print_stamp(found)


def print_stamp(found: "Stamp") -> None:
    """When it was, says who, and where the token is kept."""
    name = escape(found.authority) if found.authority else "an authority without a name"
    console = output_console()
    console.print(f"[bold]{found.time:%Y-%m-%d %H:%M:%S} UTC[/], says {name}")
    console.print(f"token     {escape(str(found.path))}")
    if not found.is_verified:
        warn("the signature was not verified; pass the authority's root certificate with --roots")
