"""Ctrl-C during a training: the step in hand is finished first, so that nothing is lost."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM)  # a user, and a machine that wants its cores back


@dataclass(slots=True)
class Pause:
    """Whether somebody asked to stop."""

    is_wanted: bool = False


@contextmanager
def pausable() -> Iterator[Pause]:
    """Note the first signal; the second one interrupts at once."""
    pause = Pause()
    if threading.current_thread() is not threading.main_thread():
        yield pause  # only the main thread may say what a signal does
        return
    before = {each: signal.getsignal(each) or signal.SIG_DFL for each in SIGNALS}

    def note(number: int, _frame: FrameType | None) -> None:
        pause.is_wanted = True
        signal.signal(number, before[signal.Signals(number)])

    for each in SIGNALS:
        signal.signal(each, note)
    try:
        yield pause
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
