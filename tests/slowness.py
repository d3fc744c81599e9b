"""Which tests are slow, by measurement: `make test` leaves them to `make test-slow`.

Every run measures the processor time of each test and each fixture, its child processes with it:
a busy machine makes a test wait, but not use more of it. `tests/slow.txt` lists the tests that took
more than `LIMIT`, all cases of a function together, and the fixtures; a test that needs a slow
fixture is slow, and so is one that needs a browser. A run that meets one above the limit that is
not listed says so at its end, as a note. `make slow-list` writes the list anew, after a run of
everything.
"""

import contextlib
import json
import os
import sys
import time
from collections import defaultdict
from collections.abc import Generator, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parent
LIST = FOLDER / "slow.txt"
MEASURED = FOLDER.parent / ".pytest_cache" / "puzzlemark-times.json"
LIMIT = 4.0  # CPU seconds of a test function, all its cases together, or of a fixture
KEPT = 0.6  # a listed test stays in the list down to this share of the limit: no coming and going
SENT = "cpu seconds"
MARKERS = {  # of tests that need what not every machine has, by the fixture that they use
    "tiny_model": "torch",
    "toy_base": "torch",
    "browser": "browser",
    "real_data": "data",
}
# Their processes end with the run: nobody sees which test used the 8 to 12 CPU seconds of a browser
TOLD_LATE = frozenset({"browser"})
HEADING = """\
# Tests and fixtures that take more than {limit:g} CPU seconds; `make slow-list` writes this file.
# tests/slowness.py says how they are measured, and what follows.
"""


def cpu_seconds() -> float:
    """Processor time of this process and of its children that have ended."""
    return time.process_time() + sum(os.times()[2:4])


def function_of(nodeid: str) -> str:
    """`tests/a/test_b.py::test_c[first]` -> `tests/a/test_b.py::test_c`."""
    return nodeid.partition("[")[0]


def listed(text: str) -> dict[str, float]:
    """The lines of the list: `{"tests/a/test_b.py::test_c": 12.5}`."""
    rows = (line.split(maxsplit=1) for line in text.splitlines() if line and line[0] != "#")
    return {name: float(seconds) for seconds, name in rows}


def is_slow(nodeid: str, fixtures: Iterable[str], known: Mapping[str, float]) -> bool:
    """Whether a test is in the list, or one of its fixtures is."""
    return function_of(nodeid) in known or any(fixture in known for fixture in fixtures)


def totals(times: Mapping[str, float]) -> dict[str, float]:
    """The cases of a function together."""
    found: dict[str, float] = defaultdict(float)
    for name, seconds in times.items():
        found[function_of(name)] += seconds
    return dict(found)


def above_limit(times: Mapping[str, float], known: Mapping[str, float]) -> dict[str, float]:
    """What was measured above the limit and is not in the list, the slowest first."""
    found = {name: s for name, s in totals(times).items() if s > LIMIT and name not in known}
    return dict(sorted(found.items(), key=lambda pair: -pair[1]))


def renewed(times: Mapping[str, float], known: Mapping[str, float]) -> dict[str, float]:
    """The list after a run; what the run did not meet keeps its place."""
    found = dict(known)
    for name, seconds in totals(times).items():
        if seconds > LIMIT * (KEPT if name in known else 1):
            found[name] = seconds
        else:
            found.pop(name, None)
    return found


def write_list(found: Mapping[str, float]) -> str:
    """The text of the list."""
    rows = [f"{seconds:8.1f}  {name}\n" for name, seconds in sorted(found.items())]
    return HEADING.format(limit=LIMIT) + "".join(rows)


# What pytest calls: tests/conftest.py registers an object of this class


class Timing:
    """Marks the slow tests, measures all, and tells what was left out and what should be listed."""

    def __init__(self) -> None:
        self.known = listed(LIST.read_text(encoding="utf-8"))
        self.times: dict[str, float] = {}
        self.began = 0.0
        self.fixtures: dict[str, float] = {}  # set up for the test that runs now
        self.left_out = 0

    @pytest.hookimpl(tryfirst=True)  # before pytest chooses by `-m`
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Give each test the markers that follow from the list and from its fixtures."""
        for item in items:
            defined = getattr(item, "_fixtureinfo", None)
            shared = [] if defined is None else defined.name2fixturedefs.values()
            names = [fixture_name(each[-1]) for each in shared]
            needed = frozenset(getattr(item, "fixturenames", ()))
            if is_slow(item.nodeid, names, self.known) or needed & TOLD_LATE:
                item.add_marker("slow")
            for fixture, marker in MARKERS.items():
                if fixture in needed:
                    item.add_marker(marker)

    def pytest_deselected(self, items: list[pytest.Item]) -> None:
        """Count what `-m "not slow"` leaves out."""
        self.left_out += sum(item.get_closest_marker("slow") is not None for item in items)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """A worker of pytest-xdist tells how many tests it left out; each was shown all of them."""
        if (sent := getattr(session.config, "workeroutput", None)) is not None:
            sent[SENT] = self.left_out

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """What a worker told."""
        self.left_out = getattr(node, "workeroutput", {}).get(SENT, self.left_out)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self) -> Generator[None, object, object]:
        """Begin to measure a test."""
        self.began, self.fixtures = cpu_seconds(), {}
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Generator[None, object, object]:
        """Measure a fixture that several tests share, apart from the test that needs it first."""
        began = cpu_seconds()
        result = yield
        if fixturedef.scope != "function":
            self.fixtures[fixture_name(fixturedef)] = cpu_seconds() - began
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Send the times with the last report of a test, to whoever gathers them."""
        if call.when == "teardown":
            own = cpu_seconds() - self.began - sum(self.fixtures.values())
            item.user_properties.append((SENT, {item.nodeid: own, **self.fixtures}))
        return (yield)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Gather the times."""
        for name, value in report.user_properties:
            if name == SENT and report.when == "teardown":
                assert isinstance(value, dict)
                self.times |= value

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say what was left out and what should be in the list; keep the times."""
        if self.left_out:
            terminalreporter.write_line(f"{self.left_out} slow tests were left to `make test-slow`")
        if found := above_limit(self.times, self.known):
            terminalreporter.section(f"not in tests/slow.txt, but above {LIMIT:g} CPU seconds")
            for name, seconds in found.items():
                terminalreporter.write_line(f"{seconds:8.1f}  {name}")
        keep_times(self.times)


def fixture_name(fixturedef: Any) -> str:
    """A fixture by the place where it is defined: `tests/bench::toy_base`."""
    return f"{fixturedef.baseid}::{fixturedef.argname}"


def keep_times(times: Mapping[str, float]) -> None:
    """Add to what earlier runs have measured."""
    before: dict[str, float] = {}
    with contextlib.suppress(OSError, ValueError):
        before = json.loads(MEASURED.read_text(encoding="utf-8"))
    with contextlib.suppress(OSError):  # a checkout that may only be read
        MEASURED.parent.mkdir(exist_ok=True)
        MEASURED.write_text(json.dumps({**before, **times}, indent=1), encoding="utf-8")


def main() -> None:
    """Write the list from the times of the last run."""
    if not MEASURED.exists():
        sys.exit("no times yet: run `make test-slow` and `make test` first")
    times = json.loads(MEASURED.read_text(encoding="utf-8"))
    known = listed(LIST.read_text(encoding="utf-8"))
    there = {name: s for name, s in known.items() if (FOLDER.parent / name.split("::")[0]).exists()}
    LIST.write_text(write_list(renewed(times, there)), encoding="utf-8")


if __name__ == "__main__":
    main()
