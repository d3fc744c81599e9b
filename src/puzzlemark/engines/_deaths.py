"""Which record ends a worker: what was lost is tried again, one record at a time."""

from collections.abc import Callable, Sequence
from typing import cast

from puzzlemark.engines.base import Batch, Divisible

KILLED = (
    "a worker process died, but no single record ends one: it was killed from outside, or "
    "memory ran out; try fewer --workers"
)


def explain_death(lost: Sequence[Batch], dies: Callable[[Batch], bool]) -> str:
    """A sentence that names the record; `dies` tries a part where nothing else runs."""
    for batch in lost:
        for part in _parts(batch):
            if dies(part):
                return (
                    f"{_describe(part)}: the worker process that reads this dies (a crash, or out "
                    "of memory); leave it out, and please report it"
                )
    return KILLED


def _parts(batch: Batch) -> Sequence[Batch]:
    if isinstance(batch, Divisible):
        return cast("Sequence[Batch]", batch.split())
    if isinstance(batch, list):
        return cast("Sequence[Batch]", [[each] for each in batch])
    return [batch]


def _describe(part: Batch) -> str:
    if isinstance(part, Divisible):
        return part.describe()
    # a file of a source tree is its path and its content
    while isinstance(part, list | tuple) and part:
        part = part[0]
    return str(part)
