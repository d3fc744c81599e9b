"""Worker processes on this machine: the parser holds the interpreter's lock, threads would not do.

Workers are spawned, not forked: a fork copies locks that the threads of pyarrow may hold. A script
that asks for several workers therefore needs the usual `if __name__ == "__main__":` guard.
"""

import multiprocessing
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool

from puzzlemark.engines.base import Batch, Result
from puzzlemark.errors import PuzzleMarkError

_AHEAD = 3  # batches in flight for each worker: enough to keep it busy, few enough to stay small


class Processes:
    """A pool that lives as long as the engine, so that it starts only once."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._pool = ProcessPoolExecutor(
            workers, multiprocessing.get_context("spawn"), initializer=_ignore_interrupts
        )

    def map(
        self, function: Callable[[Batch], Result], batches: Iterable[Batch]
    ) -> Iterator[Result]:
        """Yield results in order, with a bounded number of batches in flight."""
        waiting: deque[Future[Result]] = deque()
        try:
            for batch in batches:
                waiting.append(self._pool.submit(function, batch))
                if len(waiting) > _AHEAD * self.workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        except BrokenProcessPool as exc:
            raise PuzzleMarkError(
                "a worker process died (killed, or out of memory?); try fewer --workers"
            ) from exc
        finally:
            for future in waiting:
                future.cancel()

    def close(self) -> None:
        """End the workers."""
        self._pool.shutdown(cancel_futures=True)


def _ignore_interrupts() -> None:
    # Ctrl-C reaches the whole group; the parent alone decides what to do about it
    signal.signal(signal.SIGINT, signal.SIG_IGN)


ENGINE = Processes
