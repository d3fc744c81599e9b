"""Asking once, as `verify` does for a whole run."""

from collections.abc import Iterable
from pathlib import Path

from puzzlemark.models.base import Asked, Model, Reply
from puzzlemark.progress import Progress
from puzzlemark.verification.transcript import Header, asking


def ask(
    model: Model,
    requests: Iterable[Asked],
    path: Path,
    header: Header,
    on_progress: Progress | None = None,
) -> dict[str, Reply]:
    with asking(model, path, header) as session:
        return session.ask(requests, on_progress)
