"""Every engine keeps order, passes errors on, and holds few batches at a time."""

import os
import time
from collections.abc import Iterator

import pytest

from puzzlemark.engines.base import Engine, make
from puzzlemark.engines.processes import Processes
from puzzlemark.engines.serial import Serial
from puzzlemark.errors import CorpusError, PuzzleMarkError, UsageError


def square(number: int) -> int:
    if number % 3 == 0:
        time.sleep(0.01)  # the first to start is not the first to end
    return number * number


def fail_on_seven(number: int) -> int:
    if number == 7:
        raise CorpusError("train.jsonl:7: not a JSON object")
    return number


def die(number: int) -> int:
    os._exit(number)  # as when the system kills a process that asks for too much memory


@pytest.fixture(params=[1, 2])
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    made = make(request.param)
    yield made
    made.close()


def test_results_come_in_the_order_of_the_batches(engine: Engine) -> None:
    assert list(engine.map(square, range(40))) == [n * n for n in range(40)]


def test_an_error_of_ours_arrives_as_it_was_raised(engine: Engine) -> None:
    with pytest.raises(CorpusError, match=r"train\.jsonl:7"):
        list(engine.map(fail_on_seven, range(20)))


def test_an_engine_can_be_used_again(engine: Engine) -> None:
    assert list(engine.map(square, [1, 2])) == [1, 4]
    assert list(engine.map(square, [3])) == [9]


def test_few_batches_are_taken_ahead_of_the_results() -> None:
    taken: list[int] = []

    def batches() -> Iterator[int]:
        for number in range(100):
            taken.append(number)
            yield number

    engine = Processes(2)
    results = engine.map(square, batches())
    next(results)
    assert len(taken) < 10
    results.close()  # type: ignore[attr-defined]
    engine.close()


def test_one_worker_needs_no_processes() -> None:
    assert isinstance(make(1), Serial)


def test_no_worker_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="1 or more"):
        make(0)


def test_a_dead_worker_is_explained() -> None:
    engine = Processes(2)
    with pytest.raises(PuzzleMarkError, match="worker process died"):
        list(engine.map(die, range(1, 5)))
    engine.close()
