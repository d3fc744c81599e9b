"""How long work says how far it is; who listens decides what to show."""

from collections.abc import Callable

Progress = Callable[[str, int, int | None], None]  # stage, done, of how many (None: not known)


def no_progress(stage: str, done: int, total: int | None) -> None:
    """Say nothing."""
