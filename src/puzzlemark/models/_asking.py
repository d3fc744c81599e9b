"""Ask many requests at the same time, and hand on each answer as soon as it is there."""

import asyncio
import queue
import threading
from collections.abc import Awaitable, Callable, Generator, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from typing import TypeAlias, TypeVar

from puzzlemark.models.base import Request

T = TypeVar("T")  # what a request is answered with
Ask: TypeAlias = Callable[[Request, asyncio.Event], Awaitable[T]]
OpenAsk: TypeAlias = Callable[[], AbstractAsyncContextManager[Ask[T]]]
_Arrival: TypeAlias = tuple[int, T] | Exception | None  # None: there will be no more
_Arrivals: TypeAlias = queue.SimpleQueue[_Arrival[T]]

LONGEST_GOODBYE = 5.0  # seconds for closing connections; they close by themselves later


class Stopped(Exception):
    """Raised by a request that gave up its wait because everything stops: it has no answer."""


def ask_together(
    open_ask: OpenAsk[T], requests: Sequence[Request], at_once: int
) -> Generator[list[tuple[int, T]], None, None]:
    """Yield what has arrived; after an error finish what is under way, then raise it.

    Requests are tasks of an event loop in a thread of its own. A task asks on only when its last
    answer was taken and whoever took it has come back for more: a killed process loses at most
    one answer a task. Whoever stops reading ends all requests at once: nobody who presses Ctrl-C
    waits for a slow server.
    """
    arrived: _Arrivals[T] = queue.SimpleQueue()
    at_once = min(at_once, len(requests))
    slots = asyncio.Semaphore(at_once)
    loop = asyncio.new_event_loop()
    asking = loop.create_task(_ask_all(open_ask, requests, at_once, slots, arrived))
    thread = threading.Thread(target=_run, args=(loop, asking, arrived), daemon=True)
    thread.start()
    trouble: Exception | None = None
    has_ended = False
    try:
        while not has_ended:
            answers: list[tuple[int, T]] = []
            for arrival in _drain(arrived):
                if arrival is None:
                    has_ended = True
                elif isinstance(arrival, Exception):
                    trouble = trouble or arrival
                else:
                    answers.append(arrival)
            if answers:
                yield answers
                _tell(loop, _release, slots, len(answers))
    finally:
        _tell(loop, asking.cancel)
        thread.join(LONGEST_GOODBYE)
    if trouble is not None:
        raise trouble


def _run(
    loop: asyncio.AbstractEventLoop, asking: asyncio.Task[None], arrived: _Arrivals[T]
) -> None:
    try:
        with suppress(asyncio.CancelledError):
            loop.run_until_complete(asking)
    except Exception as exc:  # raised again by whoever reads the answers
        arrived.put(exc)
    finally:
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()
        arrived.put(None)


async def _ask_all(
    open_ask: OpenAsk[T],
    requests: Sequence[Request],
    at_once: int,
    slots: asyncio.Semaphore,
    arrived: _Arrivals[T],
) -> None:
    stopping = asyncio.Event()
    waiting = iter(range(len(requests)))

    async def work(ask: Ask[T]) -> None:
        while await slots.acquire() and not stopping.is_set():
            index = next(waiting, None)
            if index is None:
                return
            try:
                arrived.put((index, await ask(requests[index], stopping)))
            except Stopped:
                return
            except Exception as exc:  # the others finish what they have begun
                stopping.set()
                arrived.put(exc)
                return

    async with open_ask() as ask, asyncio.TaskGroup() as group:
        for _ in range(at_once):
            group.create_task(work(ask))


async def pause(seconds: float, stopping: asyncio.Event) -> None:
    """Wait, unless everything stops."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await stopping.wait()
    if stopping.is_set():
        raise Stopped


def _release(slots: asyncio.Semaphore, count: int) -> None:
    for _ in range(count):
        slots.release()


def _tell(loop: asyncio.AbstractEventLoop, say: Callable[..., object], *words: object) -> None:
    """Call a function in the loop's thread; a loop that has ended needs to hear nothing more."""
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(say, *words)


def _drain(arrived: _Arrivals[T]) -> Iterator[_Arrival[T]]:
    """Wait for one, then take all that are there."""
    yield arrived.get()
    while True:
        try:
            yield arrived.get_nowait()
        except queue.Empty:
            return
