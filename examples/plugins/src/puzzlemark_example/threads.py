"""An engine: threads of this process. (The parser holds a lock, so they are seldom faster.)"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor

from puzzlemark.engines.base import Batch, Result


class Threads:
    """A pool that lives as long as the engine."""

    def __init__(self, workers: int, ahead: int = 2) -> None:
        self.workers = workers
        self.ahead = ahead  # batches in flight for each worker
        self._pool = ThreadPoolExecutor(workers)

    def map(
        self, function: Callable[[Batch], Result], batches: Iterable[Batch]
    ) -> Iterator[Result]:
        """Results in the order of the batches; a few batches in flight, never all of them."""
        waiting: deque[Future[Result]] = deque()
        for batch in batches:
            waiting.append(self._pool.submit(function, batch))
            if len(waiting) > self.ahead * self.workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()

    def close(self) -> None:
        """End the threads."""
        self._pool.shutdown(cancel_futures=True)


PLUGIN = Threads
