"""Every engine keeps order, passes errors on, and holds few batches at a time."""

import gzip
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import puzzlemark as pm
from puzzlemark.engines.base import Engine, make
from puzzlemark.engines.processes import Processes
from puzzlemark.engines.serial import Serial
from puzzlemark.errors import CorpusError, PuzzleMarkError, UsageError
from tests.engines.poison import POISON, Poisoned, die_of_seven, die_once


def square(number: int) -> int:
    if number % 3 == 0:
        time.sleep(0.01)  # the first to start is not the first to end
    return number * number


def fail_on_seven(number: int) -> int:
    if number == 7:
        raise CorpusError("train.jsonl:7: not a JSON object")
    return number


POISONOUS = f"""def f(a, b):
    c = a
    {POISON.decode()}
    d = b
    return c + d + poison
"""


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


def test_the_one_record_that_ends_a_worker_is_named() -> None:
    engine = Processes(2)
    batches = [[1, 2, 3], [4, 5, 6], [77, 7, 8], [9, 10], [11]]
    with pytest.raises(PuzzleMarkError, match=r"^7: the worker process that reads this dies"):
        list(engine.map(die_of_seven, batches))
    engine.close()


def test_results_before_the_record_that_ends_a_worker_are_kept() -> None:
    engine = Processes(2)
    results = engine.map(die_of_seven, [[n] for n in (1, 2, 3, 4, 5, 6, 50, 60, 70, 7)])
    assert next(results) == 1  # six more batches are in flight now, and none of them is the one
    with pytest.raises(PuzzleMarkError, match=r"^7: "):
        list(results)
    engine.close()


def test_a_worker_killed_from_outside_is_not_blamed_on_a_record(tmp_path: Path) -> None:
    engine = Processes(2)
    with pytest.raises(PuzzleMarkError, match=r"killed from outside.*fewer --workers"):
        list(engine.map(die_once, [str(tmp_path / "once")] * 4))
    engine.close()


@pytest.mark.parametrize("name", ["train.jsonl", "train.jsonl.gz", "train.parquet"])
def test_embed_names_the_record_that_ends_a_worker_and_writes_nothing(
    corpus_path: Path, tmp_path: Path, name: str
) -> None:
    records = [orjson.loads(line) for line in corpus_path.read_bytes().splitlines()]
    assert len(records) > 300
    records[300] |= {"id": "the/poison", "code": POISONOUS}
    source = tmp_path / "in" / name
    write_dataset(source, records)
    output = tmp_path / "out" / name
    where = f"{name}: row 300" if name.endswith("parquet") else f"{name}:301"
    with pytest.raises(PuzzleMarkError, match=re.escape(f"{where} (id 'the/poison'): ")):
        pm.embed(source, output, watermark=Poisoned(), tau=0, max_rate=1, min_rate=1, workers=2)
    assert not output.parent.exists() or list(output.parent.iterdir()) == []


def write_dataset(path: Path, records: list[dict[str, Any]]) -> None:
    path.parent.mkdir()
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(records), path)
        return
    content = b"".join(orjson.dumps(record) + b"\n" for record in records)
    path.write_bytes(gzip.compress(content, mtime=0) if path.suffix == ".gz" else content)
