"""An engine maps a pure function over batches and keeps their order."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol, TypeVar, runtime_checkable

from puzzlemark import plugins
from puzzlemark.errors import UsageError

Batch = TypeVar("Batch")
Result = TypeVar("Result")


@runtime_checkable
class Divisible(Protocol):
    """A batch that can be tried record by record, to find the one that ends a worker."""

    def split(self) -> Sequence["Divisible"]:
        """One batch for each record."""
        ...

    def describe(self) -> str:
        """Which records these are, for an error: `train.jsonl:812 (id 'f17')`."""
        ...


class Engine(Protocol):
    """Where the map runs. Results come in the order of the batches, whatever finishes first."""

    def map(
        self, function: Callable[[Batch], Result], batches: Iterable[Batch]
    ) -> Iterator[Result]:
        """Yield `function(batch)` for each batch; an error in one ends the whole."""
        ...

    def close(self) -> None:
        """Give back what the engine holds."""
        ...


def make(workers: int | None = 1) -> Engine:
    """An engine for so many workers; None: one for each core this process may use."""
    if workers is None:
        workers = available_cores()
    if workers < 1:
        raise UsageError(f"workers must be 1 or more, not {workers}")
    name = "serial" if workers == 1 else "processes"
    engine: Engine = plugins.find("engines", name)(workers)
    return engine


def available_cores() -> int:
    """Cores that this process may use, which a container may have limited."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
