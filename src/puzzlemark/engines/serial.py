"""Everything in this process, one batch after the other."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from puzzlemark.engines.base import Batch, Result


@dataclass(frozen=True, slots=True)
class Serial:
    """The built-in `map`."""

    workers: int = 1

    def map(
        self, function: Callable[[Batch], Result], batches: Iterable[Batch]
    ) -> Iterator[Result]:
        """Yield `function(batch)` for each batch."""
        return map(function, batches)

    def close(self) -> None:
        """Nothing is held."""


PLUGIN = Serial
