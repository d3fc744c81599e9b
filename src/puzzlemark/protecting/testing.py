"""The project's own tests: run as the user wrote them, and asked which marks they cannot bear."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from puzzlemark.embedding.secret import VARIABLE


@dataclass(slots=True)
class Suite:
    """A command of the user's own, and a log of what it printed."""

    command: str
    log: Path
    timeout: float | None = None  # seconds
    runs: int = 0
    seconds: list[float] = field(default_factory=list)

    def pass_in(self, folder: Path) -> bool:
        """Run the command in a folder, by the shell; whether it ended with 0 in time."""
        # the secret is ours, and a project's tests may print their environment
        environment = {name: value for name, value in os.environ.items() if name != VARIABLE}
        self.runs += 1
        begun = time.monotonic()
        descriptor = os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(descriptor, "ab") as log:
            log.write(f"\n== run {self.runs}: {self.command}\n".encode())
            log.flush()
            process = subprocess.Popen(  # noqa: S602 (the command is the user's own)
                self.command,
                shell=True,
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            code = self._wait(process)
            log.write(f"\n== ended with {code}\n".encode())
        self.seconds.append(time.monotonic() - begun)
        return code == 0

    def _wait(self, process: "subprocess.Popen[bytes]") -> int | str:
        try:
            return process.wait(self.timeout)
        except subprocess.TimeoutExpired:
            _end(process)
            return f"not done after {self.timeout:g} seconds"
        except BaseException:
            _end(process)
            raise


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End a command with all that it started."""
    if sys.platform == "win32":
        process.kill()
    else:
        with suppress(ProcessLookupError):  # it ends at this moment
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@dataclass(frozen=True, slots=True)
class Sifted:
    """Marks that the tests bear together, and those that they do not."""

    good: tuple[str, ...]
    bad: tuple[str, ...]


def sift(ids: Sequence[str], passes: Callable[[Collection[str]], bool]) -> Sifted:
    """Which of some marks, that fail together, are to blame; found by halving.

    Every group is tried beside all that were found good before it, so that the good ones pass
    together, also where two marks fail only side by side: then the later one is to blame.
    """
    good: list[str] = []
    bad: list[str] = []

    def search(group: Sequence[str], *, fails: bool) -> None:
        if not fails and passes((*good, *group)):
            good.extend(group)
        elif len(group) == 1:
            bad.extend(group)
        else:
            half, before = len(group) // 2, len(bad)
            search(group[:half], fails=False)
            # with a first half that is good, the second is the whole that failed
            search(group[half:], fails=len(bad) == before)

    if ids:
        search(ids, fails=True)
    return Sifted(tuple(good), tuple(bad))
