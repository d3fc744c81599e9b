"""What every attack promises: the same for any engine, and untouched records as they were."""

import pickle
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import puzzlemark as pm
from puzzlemark import plugins
from puzzlemark.attacks._run import Attacked
from puzzlemark.attacks.base import load_attack
from puzzlemark.models.base import Request

ODD: list[dict[str, Any]] = [
    {"id": "null", "language": "python", "code": None, "copy": None},
    {"id": "empty", "language": "python", "code": "", "copy": ""},
    {"id": "broken", "language": "python", "code": "def f(:\n", "copy": "def f(:\n"},
    {"id": "unknown", "language": "cobol", "code": "MOVE A TO B.", "copy": "MOVE A TO B."},
]
# how to call those that must be told something
HERE = f"scripted:function={__name__}:say_again"
SPECS = {
    "dilution": "dilution:rate=0.8",
    "removal": "removal:detector=concat",
    "rename": "rename:scope=all",
    "rewrite": f"rewrite:model={HERE}",
    "truncate": "truncate:lines=12",
}
every_attack = pytest.mark.parametrize("name", plugins.names("attacks"))


def say_again(request: Request) -> str:
    """A model that adds a line to each function."""
    return f"    mark = {len(request.prompt)}\n    return mark\n"


class Elsewhere:
    """An engine as if on another machine: all is pickled, and done from the last to the first."""

    def map(self, function: Callable[[Any], Any], batches: Iterable[Any]) -> Iterator[Any]:
        sent = [pickle.dumps((function, batch)) for batch in batches]
        results = []
        for work in reversed(sent):
            there, batch = pickle.loads(work)  # noqa: S301
            results.append(pickle.dumps(there(batch)))
        return map(pickle.loads, reversed(results))

    def close(self) -> None:
        """Nothing is held."""


class Stopped:
    """An engine that notes what is done, and is stopped by Ctrl-C when so much was done."""

    def __init__(self, done: list[str], most: int | None = None) -> None:
        self.done, self.most = done, most

    def map(self, function: Callable[[Any], Any], batches: Iterable[Any]) -> Iterator[Any]:
        for batch in batches:
            if self.most is not None and len(self.done) >= self.most:
                raise KeyboardInterrupt
            self.done.append(f"{name_of(function)} {task_of(batch)}")
            yield function(batch)

    def close(self) -> None:
        """Nothing is held."""


def name_of(function: Any) -> str:
    while isinstance(function, partial):
        function = function.keywords.get("function") or function.func
    return str(function.__name__)


def task_of(task: Any) -> str:
    shard = getattr(task, "shard", None)
    return str(getattr(task, "name", None) or shard.name)  # type: ignore[union-attr]


@pytest.fixture
def datasets(tmp_path: Path, corpus_bytes: bytes) -> tuple[Path, Path]:
    """Some real functions with odd records among them, spelled in odd ways, and some others."""
    read = [orjson.loads(line) for line in corpus_bytes.splitlines()]
    functions = [{"id": r["id"], "language": "python", "code": r["code"]} for r in read]
    functions = [{**record, "copy": record["code"]} for record in functions]
    judged, other = tmp_path / "judged.jsonl", tmp_path / "other.jsonl"
    lines = [orjson.dumps(record) for record in [*functions[:20], *ODD, *functions[20:70]]]
    # white space between the cells, which only a writer that copies lines will keep
    judged.write_bytes(
        b"".join(b" " + line.replace(b',"copy"', b' , "copy"') + b"\n" for line in lines)
    )
    other.write_bytes(b"".join(orjson.dumps(record) + b"\n" for record in functions[70:110]))
    return judged, other


def attack(name: str, datasets: tuple[Path, Path], output: Path, **more: Any) -> Attacked:
    spec = SPECS.get(name, name)
    others = [datasets[1]] if "others" in load_attack(spec).needs else ()
    return pm.attack(datasets[0], output, attack=spec, others=others, **more)


@every_attack
def test_the_output_is_the_same_for_any_engine(
    name: str, datasets: tuple[Path, Path], tmp_path: Path
) -> None:
    one = attack(name, datasets, tmp_path / "one.jsonl")
    two = attack(name, datasets, tmp_path / "two.jsonl", engine=Elsewhere())
    assert (tmp_path / "one.jsonl").read_bytes() == (tmp_path / "two.jsonl").read_bytes()
    assert one.output_digest == two.output_digest == pm.read(tmp_path / "one.jsonl").digest()
    assert (one.counts, one.spared) == (two.counts, two.spared)
    assert not list(tmp_path.glob(".*"))


@every_attack
def test_a_run_that_is_stopped_anywhere_goes_on_to_the_same_bytes(
    name: str, datasets: tuple[Path, Path], tmp_path: Path
) -> None:
    shards = tmp_path / "shards"
    shards.mkdir()
    lines = datasets[0].read_bytes().splitlines(keepends=True)
    for number in range(3):
        (shards / f"{number}.jsonl").write_bytes(b"".join(lines[number::3]))
    every: list[str] = []
    once = attack(name, (shards, datasets[1]), tmp_path / "once", engine=Stopped(every))
    written = contents(tmp_path / "once")
    # the digest of the output is the last thing that is computed, when all is in place
    for most in range(len(every) - 3):
        done: list[str] = []
        output = tmp_path / f"twice-{most}"
        with pytest.raises(KeyboardInterrupt):
            attack(name, (shards, datasets[1]), output, engine=Stopped(done, most))
        twice = attack(name, (shards, datasets[1]), output, engine=Stopped(done))
        assert contents(output) == written
        assert (once.counts, once.spared) == (twice.counts, twice.spared)
        again = Counter(done) - Counter(every)
        # how many records a shard has is looked up once more, and digests are computed again where
        # nothing else was done
        assert {task.split()[0] for task in again} <= {"_count", "_digest"}, (most, again)
        assert not list(tmp_path.glob(".*"))


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@every_attack
def test_records_that_are_left_alone_keep_their_bytes(
    name: str, datasets: tuple[Path, Path], tmp_path: Path
) -> None:
    attacked = attack(name, datasets, tmp_path / "after.jsonl")
    before = datasets[0].read_bytes().splitlines(keepends=True)
    after = (tmp_path / "after.jsonl").read_bytes().splitlines(keepends=True)
    assert attacked.records == len(before)
    assert attacked.written == len(after) == len(attacked.kept_rows) + attacked.added
    changed = set(attacked.changed_rows.tolist())
    assert len(changed) == attacked.changed
    for row, line in zip(attacked.kept_rows.tolist(), after, strict=False):
        assert (line == before[row]) == (row not in changed)
        record = orjson.loads(line)
        assert record["copy"] == record["code"]  # derived columns follow
    assert set(range(len(before))) - {*attacked.kept_rows.tolist()} == dropped(before, after)


def dropped(before: Sequence[bytes], after: Sequence[bytes]) -> set[int]:
    left = {orjson.loads(line)["id"] for line in after}
    return {row for row, line in enumerate(before) if orjson.loads(line)["id"] not in left}


@every_attack
def test_parquet_shards_come_out_with_the_same_codes(
    name: str, datasets: tuple[Path, Path], tmp_path: Path
) -> None:
    attack(name, datasets, tmp_path / "after.jsonl")
    records = [orjson.loads(line) for line in datasets[0].read_bytes().splitlines()]
    (tmp_path / "shards").mkdir()
    for number, some in enumerate((records[:30], records[30:])):
        path = tmp_path / "shards" / f"{number}.parquet"
        pq.write_table(pa.Table.from_pylist(some), path, compression="zstd")
    attack(name, (tmp_path / "shards", datasets[1]), tmp_path / "out", engine=Elsewhere())
    shards = [pq.read_table(path) for path in sorted((tmp_path / "out").glob("*.parquet"))]
    read = [record for table in shards for record in table.to_pylist()]
    lines = (tmp_path / "after.jsonl").read_bytes().splitlines()
    assert read == [orjson.loads(line) for line in lines]


@every_attack
def test_an_output_that_is_there_is_replaced_only_by_force(
    name: str, datasets: tuple[Path, Path], tmp_path: Path
) -> None:
    output = tmp_path / "after.jsonl"
    output.write_bytes(b"mine")
    with pytest.raises(pm.PuzzleMarkError, match="--force"):
        attack(name, datasets, output)
    assert output.read_bytes() == b"mine"
    with pytest.raises(pm.PuzzleMarkError, match="INPUT"):
        attack(name, datasets, datasets[0], overwrite=True)
    attack(name, datasets, output, overwrite=True)
    assert output.read_bytes() != b"mine"
