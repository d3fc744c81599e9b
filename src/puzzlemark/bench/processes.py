"""Jobs of many minutes side by side, each in a process that does not outlive its command."""

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from typing import Protocol, TypeVar

from puzzlemark.errors import UsageError

LOOK = 1.0  # seconds between two looks at the parent

Job = TypeVar("Job")
Result = TypeVar("Result")


class Named(Protocol):
    """A job that can be asked for."""

    @property
    def name(self) -> str:
        """As `--jobs` takes it."""
        ...


Asked = TypeVar("Asked", bound=Named)


def named(planned: Sequence[Asked], names: Sequence[str] | None) -> list[Asked]:
    """All jobs, or those that are asked for."""
    if names is None:
        return list(planned)
    known = {job.name: job for job in planned}
    if unknown := [name for name in names if name not in known]:
        raise UsageError(f"no job {', '.join(unknown)}; known: {', '.join(known)}")
    return [known[name] for name in names]


def side_by_side(
    work: Callable[[Job], Result], jobs: Sequence[Job], processes: int
) -> Iterator[tuple[Job, Result]]:
    """Each job with its result, as they end.

    A command that is killed cannot stop its processes; they would go on for an hour, in the way of
    the same command called again. So each looks after its parent, and goes when that is gone: jobs
    can be resumed.
    """
    with ProcessPoolExecutor(
        processes, get_context("spawn"), initializer=_follow, initargs=(os.getpid(),)
    ) as pool:
        running = {pool.submit(work, job): job for job in jobs}
        try:
            for done in as_completed(running):
                yield running[done], done.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)  # after a failure no job is begun


def _follow(parent: int) -> None:
    threading.Thread(target=_watch, args=(parent,), daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(LOOK)
    os._exit(1)
