"""An engine maps a pure function over batches and keeps their order.

Function, batches and results are pickled where the work is done elsewhere. So a function reads no
file that only this machine has, and writes none: what is kept, the caller writes.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
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


@runtime_checkable
class Engine(Protocol):
    """Where the map runs. Results come in the order of the batches, whatever finishes first.

    A plug-in is a file with a class `ENGINE`, which is made with the number of its workers.
    """

    def map(
        self, function: Callable[[Batch], Result], batches: Iterable[Batch]
    ) -> Iterator[Result]:
        """Yield `function(batch)` for each batch; an error in one ends the whole."""
        ...

    def close(self) -> None:
        """Give back what the engine holds."""
        ...


@contextmanager
def open_engine(engine: str | Engine | None = None, workers: int | None = 1) -> Iterator[Engine]:
    """An engine by its name, made for so many workers and closed at the end.

    An engine that is there already is used as it is, and left to its owner to close.
    """
    if isinstance(engine, Engine):
        yield engine
        return
    made = make(workers, engine)
    try:
        yield made
    finally:
        made.close()


def make(workers: int | None = 1, name: str | None = None) -> Engine:
    """An engine for so many workers; None: one for each core this process may use.

    Without a name it is `serial` for one worker, else `processes`. A name may bring settings of the
    engine: `threads:ahead=4`.
    """
    if workers is None:
        workers = available_cores()
    if workers < 1:
        raise UsageError(f"workers must be 1 or more, not {workers}")
    if name is None:
        name = "serial" if workers == 1 else "processes"
    name, settings = plugins.parse_spec(name)
    engine: Engine = plugins.build("engines", name, {"workers": workers, **settings})
    return engine


def available_cores() -> int:
    """Cores that this process may use, which a container may have limited."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
