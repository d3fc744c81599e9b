"""Worker processes on this machine: the parser holds the interpreter's lock, threads would not do.

Workers are spawned, not forked: a fork copies locks that the threads of pyarrow may hold. A script
that asks for several workers therefore needs the usual `if __name__ == "__main__":` guard.
"""

import multiprocessing
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager

from puzzlemark.engines.base import Batch, Result
from puzzlemark.errors import PuzzleMarkError

_HAS_MASKS = hasattr(signal, "pthread_sigmask")  # not on Windows
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
                with _interrupts_held():  # this may start a worker, which inherits the hold
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


# Ctrl-C reaches the whole group of processes; the parent alone decides what to do about it.


def _ignore_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Ctrl-C waits until the end of the block; a process started in it never sees one.

    Otherwise a worker that is just being started would answer with a traceback.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread gets interrupts
        return
    came: list[int] = []
    handler = signal.signal(signal.SIGINT, lambda number, _frame: came.append(number))
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if _HAS_MASKS else None
    try:
        yield
    finally:
        if mask is not None:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        signal.signal(signal.SIGINT, handler)
        if came and callable(handler):
            handler(signal.SIGINT, None)


ENGINE = Processes
