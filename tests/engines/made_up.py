"""An engine as a third party would write it: one file, nothing of ours but the protocol."""

import pickle
import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from puzzlemark.corpora.base import Batch as Records
from puzzlemark.engines.base import Batch, Result


@dataclass(slots=True)
class Shuffled:
    """Does the work in a random order, and only through pickles, as other machines would."""

    workers: int = 1
    maps: int = 0
    closed: int = 0

    def map(
        self, function: Callable[[Batch], Result], batches: Iterable[Batch]
    ) -> Iterator[Result]:
        self.maps += 1
        tasks = [pickle.dumps((function, batch)) for batch in batches]
        order = list(range(len(tasks)))
        random.Random(self.maps).shuffle(order)
        outcomes: dict[int, Result | Exception] = {}
        for number in order:
            work, batch = pickle.loads(tasks[number])  # noqa: S301
            try:
                outcomes[number] = pickle.loads(pickle.dumps(work(batch)))  # noqa: S301
            except Exception as exc:  # it is raised when its turn comes
                outcomes[number] = exc
        for number in range(len(tasks)):
            outcome = outcomes[number]
            if isinstance(outcome, Exception):
                raise outcome
            yield outcome

    def close(self) -> None:
        self.closed += 1


def ids_of(batch: Records) -> bytes:
    """The ids of a batch, a line each."""
    return b"".join(entry.id.encode() + b"\n" for entry in batch.entries())
