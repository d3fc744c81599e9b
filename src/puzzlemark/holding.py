"""The hidden place of an output in a store, which one machine at a time may use.

`s3://b/x` is written below `s3://b/.x.partial/` first. A store has no locks: a claim there says
which machine began, and is looked at again before anything gets its name. Two machines that begin
in the same moment may both go on until then; at most the later one completes.
"""

import json
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from puzzlemark.errors import CorpusError
from puzzlemark.files import hidden_place, staging_folder
from puzzlemark.resuming import work_folder
from puzzlemark.stores import Url, at_once

CLAIM, WHOLE = "claim.json", "whole"


def place_in_store(output: Url) -> Url:
    """Where the output is written before it gets its name."""
    return hidden_place(output) / WHOLE / output.name


def attempts_for(place: Url) -> Url:
    """Where parts of it are written, in stores that show an object while it is written."""
    parts = place.parts
    for at in range(1, len(parts) - 1):
        if parts[at] == WHOLE and parts[at - 1] == f".{parts[at + 1]}.partial":
            return replace(place, rest="/".join((*parts[:at], "attempts")))
    raise AssertionError("made by place_in_store")


@contextmanager
def held_in_store(output: Url, note: Path) -> Iterator[None]:
    """Claim the hidden place of an output. It goes in the end, unless a run is to go on from it.

    That is so where parts of an interrupted run wait on this machine, or the note says that what
    is there has to be put in place.
    """
    hidden, own = hidden_place(output), _machine(output)
    _refuse_claimed(output, own)
    if not work_folder(output).exists():
        hidden.clear()  # what a killed run left
    claim = {"machine": own, "since": time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime())}
    (hidden / CLAIM).write_bytes(json.dumps(claim).encode())
    try:
        yield
    finally:
        if not note.exists() and not work_folder(output).exists():
            hidden.clear()


def refuse_lost(output: Url) -> None:
    """Raise when another machine has claimed the place meanwhile."""
    _refuse_claimed(output, _machine(output), must_be_there=True)


def put_in_store(place: Url, output: Url) -> None:
    """Give what is whole its name; may be repeated after a kill at any point of it."""
    if place.is_file():
        place.move(output)
    elif place.is_dir():
        at_once([partial((place / name).move, output / name) for name in place.find()], output)
    output.abort_uploads()  # a large object is copied in parts, too


def remove_from_store(output: Url) -> None:
    """Remove an object, or all below it."""
    if output.is_file():
        output.unlink(missing_ok=True)
    output.clear()


def _refuse_claimed(output: Url, own: str, *, must_be_there: bool = False) -> None:
    claim = hidden_place(output) / CLAIM
    if not claim.is_file():
        if must_be_there:
            raise CorpusError(f"{claim}: was removed by somebody else; nothing was put in place")
        return
    try:
        said = json.loads(claim.read_bytes())
        machine, since = str(said["machine"]), str(said["since"])
    except (ValueError, KeyError, TypeError):
        machine, since = "?", "an unknown time"
    if machine != own:
        raise CorpusError(
            f"{output}: another machine or user is writing it since {since}; wait for its end, or "
            f"remove {hidden_place(output)} if that run was given up"
        )


def _machine(output: Url) -> str:
    """A name for this user on this machine that says nothing of them."""
    path = staging_folder(output).with_name("machine")
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        drawn = path.with_name(f"machine-{secrets.token_hex(4)}")
        drawn.write_text(secrets.token_hex(8), encoding="utf-8")
        with suppress(FileExistsError):  # of another run that begins just now
            path.hardlink_to(drawn)
        drawn.unlink()
    return path.read_text(encoding="utf-8")
