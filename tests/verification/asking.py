"""Asking once, as `verify` does for a whole run."""

from collections.abc import Iterable
from pathlib import Path

from puzzlemark.models.base import Answer, Model, Request
from puzzlemark.progress import Progress
from puzzlemark.verification.transcript import Header, asking


def ask(
    model: Model,
    requests: Iterable[Request],
    path: Path,
    header: Header,
    on_progress: Progress | None = None,
) -> dict[str, Answer]:
    with asking(model, path, header) as session:
        return session.ask(requests, on_progress)
