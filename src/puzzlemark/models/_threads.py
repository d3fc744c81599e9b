"""Ask with several threads, and hand on each answer as soon as it is there."""

import queue
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import TypeAlias

from puzzlemark.models.base import Answer, Request

Ask: TypeAlias = Callable[[Request, threading.Event], Answer]
_Arrival: TypeAlias = tuple[int, Answer | Exception] | None  # None: a thread has ended


class Stopped(Exception):
    """Raised by a request that gave up its wait because everything stops: it has no answer."""


def ask_in_threads(
    ask: Ask, requests: Sequence[Request], threads: int
) -> Generator[list[tuple[int, Answer]], None, None]:
    """Yield what has arrived; after an error finish what is under way, then raise it.

    A thread asks on only when its last answer was taken and whoever took it has come back for
    more: a killed process loses at most one answer a thread. The threads are daemons: nobody who
    presses Ctrl-C waits for a slow server.
    """
    waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
    arrived: queue.SimpleQueue[_Arrival] = queue.SimpleQueue()
    stopping = threading.Event()
    slots = threading.Semaphore(threads)
    for index in range(len(requests)):
        waiting.put(index)
    alive = min(threads, len(requests))
    for _ in range(alive):
        arguments = (ask, requests, waiting, arrived, slots, stopping)
        threading.Thread(target=_work, args=arguments, daemon=True).start()
    trouble: Exception | None = None
    try:
        while alive:
            answers: list[tuple[int, Answer]] = []
            for arrival in _drain(arrived):
                if arrival is None:
                    alive -= 1
                elif isinstance(arrival[1], Exception):
                    trouble = trouble or arrival[1]
                else:
                    answers.append((arrival[0], arrival[1]))
            if answers:
                yield answers
                slots.release(len(answers))
    finally:
        stopping.set()
        slots.release(threads)  # wakes those that wait, so that they see it
    if trouble is not None:
        raise trouble


def _work(
    ask: Ask,
    requests: Sequence[Request],
    waiting: queue.SimpleQueue[int],
    arrived: queue.SimpleQueue[_Arrival],
    slots: threading.Semaphore,
    stopping: threading.Event,
) -> None:
    try:
        while slots.acquire() and not stopping.is_set():
            index = waiting.get_nowait()
            try:
                arrived.put((index, ask(requests[index], stopping)))
            except Stopped:
                return
            except Exception as exc:  # raised again by whoever reads the answers
                stopping.set()
                arrived.put((index, exc))
                return
    except queue.Empty:
        pass
    finally:
        arrived.put(None)


def _drain(arrived: queue.SimpleQueue[_Arrival]) -> Iterator[_Arrival]:
    """Wait for one, then take all that are there."""
    yield arrived.get()
    while True:
        try:
            yield arrived.get_nowait()
        except queue.Empty:
            return
