"""Worker processes on this machine: the parser holds the interpreter's lock, threads would not do.

Workers are spawned, not forked: a fork copies locks that the threads of pyarrow may hold. A script
that asks for several workers therefore needs the usual `if __name__ == "__main__":` guard.
"""

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import ClassVar

from puzzlemark.engines._deaths import KILLED, explain_death
from puzzlemark.engines.base import Batch, Result
from puzzlemark.errors import PuzzleMarkError

_HAS_MASKS = hasattr(signal, "pthread_sigmask")  # not on Windows
_AHEAD = 3  # batches in flight for each worker: enough to keep it busy, few enough to stay small


class Processes:
    """A pool that lives as long as the engine, so that it starts only once."""

    is_here: ClassVar[bool] = True

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._pool = _pool(workers)

    def map(
        self, function: Callable[[Batch], Result], batches: Iterable[Batch]
    ) -> Iterator[Result]:
        """Yield results in order, with a bounded number of batches in flight."""
        waiting: deque[tuple[Batch, Future[Result]]] = deque()
        try:
            for batch in batches:
                with _interrupts_held():  # this may start a worker, which inherits the hold
                    waiting.append((batch, self._pool.submit(function, batch)))
                if len(waiting) > _AHEAD * self.workers:
                    yield waiting[0][1].result()
                    waiting.popleft()
            while waiting:
                yield waiting[0][1].result()
                waiting.popleft()
        except BrokenProcessPool as exc:
            lost = [batch for batch, future in waiting if not _has_result(future)]
            raise PuzzleMarkError(_explain(function, lost)) from exc
        finally:
            # what runs still may write files: nobody clears up after it before it has ended
            wait([future for _, future in waiting if not future.cancel()])

    def close(self) -> None:
        """End the workers."""
        self._pool.shutdown(cancel_futures=True)


def _pool(workers: int) -> ProcessPoolExecutor:
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(workers, context, initializer=_begin)


def _has_result(future: "Future[Result]") -> bool:
    return future.done() and not future.cancelled() and future.exception() is None


def _explain(function: Callable[[Batch], Result], lost: Sequence[Batch]) -> str:
    """Why the pool broke: the work that was lost is tried again in a fresh process."""
    pool = _pool(1)

    def dies(part: Batch) -> bool:
        with _interrupts_held():
            future = pool.submit(function, part)
        return isinstance(future.exception(), BrokenProcessPool)

    try:
        return explain_death(lost, dies)
    except BrokenProcessPool:  # the process ended between two parts: of none of them
        return KILLED
    finally:
        pool.shutdown(cancel_futures=True)


def _begin() -> None:
    """What a worker does first."""
    # Ctrl-C reaches the whole group of processes; the parent alone decides what to do about it
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # a parent that is killed cannot end its workers: they would wait for work forever
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None, "a worker has one"
    parent.join()
    os._exit(1)


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


PLUGIN = Processes
