"""Run each `N.py` of the folder given: one interpreter, and a fork of it for each program.

What a program prints goes to `N.out` and `N.err`, its exit code to `N.code`. What many programs
import is imported once, before the first fork. A fork ends without taking itself apart, which
would cost ten times the program: functions registered with `atexit` do not run.
"""

import asyncio  # noqa: F401
import contextlib  # noqa: F401
import dataclasses  # noqa: F401
import gc
import os
import re  # noqa: F401
import runpy
import signal
import sys
import traceback
import typing  # noqa: F401
from pathlib import Path

LIMIT = 120  # seconds; then the program is killed


def main() -> None:
    gc.freeze()  # or every fork would copy what the collector counts
    for path in sorted(Path(sys.argv[1]).glob("*.py")):
        child = os.fork()
        if child == 0:
            os._exit(run(path))
        _, status = os.waitpid(child, 0)
        path.with_suffix(".code").write_text(str(os.waitstatus_to_exitcode(status)))


def run(path: Path) -> int:
    """Run a program in place of this one; its exit code."""
    for number, suffix in ((1, ".out"), (2, ".err")):
        with path.with_suffix(suffix).open("wb") as file:
            os.dup2(file.fileno(), number)
    signal.alarm(LIMIT)
    sys.argv = [str(path)]
    try:
        code = execute(path)
        sys.stdout.flush()
    except BaseException:
        traceback.print_exc()
        code = 1
    for stream in (sys.__stdout__, sys.__stderr__):
        assert stream is not None, "no standard stream"
        stream.flush()
    return code


def execute(path: Path) -> int:
    try:
        runpy.run_path(str(path), run_name="__main__")
    except SystemExit as ended:
        if isinstance(ended.code, str):
            sys.stderr.write(ended.code)
        return ended.code & 0xFF if isinstance(ended.code, int) else int(ended.code is not None)
    return 0


if __name__ == "__main__":
    main()
