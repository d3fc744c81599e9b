"""Workers read pieces of a dataset for themselves, and find what was found by reading it here."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import puzzlemark as pm
from puzzlemark.corpora import pieces
from puzzlemark.corpora.base import Batch, Corpus, open_corpus
from puzzlemark.corpora.pieces import Piece, cut, find_ends
from puzzlemark.engines.base import Engine, make
from puzzlemark.errors import PuzzleMarkError
from tests.engines.poison import POISON, Poisoned


class Watched:
    """An engine in this process that notes what it was given."""

    def __init__(self, workers: int = 2) -> None:
        self.workers = workers
        self.given: list[Any] = []

    def map(self, function: Callable[[Any], Any], batches: Any) -> Iterator[Any]:
        for batch in batches:
            self.given.append(batch)
            yield function(batch)

    def close(self) -> None:
        """Nothing is held."""


def write(folder: Path, kind: str, records: list[dict[str, Any]], shards: int) -> Path:
    """A dataset in several files; a Parquet file has row groups of 20."""
    folder.mkdir()
    for number in range(shards):
        some = records[number * len(records) // shards : (number + 1) * len(records) // shards]
        if kind == "parquet":
            pq.write_table(
                pa.Table.from_pylist(some), folder / f"{number}.parquet", row_group_size=20
            )
        else:
            lines = b"".join(orjson.dumps(each) + b"\n" for each in some)
            (folder / f"{number}.{kind}").write_bytes(lines)
    return folder


@pytest.fixture
def records() -> list[dict[str, Any]]:
    # every third has no id: its row in the whole dataset stands for it
    return [
        {"id": f"f{n}" if n % 3 else None, "code": f"x = {n}", "language": "python"}
        for n in range(217)
    ]


@pytest.fixture(params=["jsonl", "parquet"])
def corpus(request: pytest.FixtureRequest, tmp_path: Path, records: list[Any]) -> Corpus:
    return open_corpus(write(tmp_path / "shards", request.param, records, 5))


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "PIECE", 30)


def ids(batch: Batch) -> list[tuple[int, str]]:
    return [(entry.row, entry.id) for entry in batch.entries()]


def flat(results: Iterator[list[Any]]) -> list[Any]:
    return [each for some in results for each in some]


@pytest.mark.parametrize("rows", [None, [0, 1, 43, 44, 60, 150, 216], [216], list(range(40, 50))])
def test_pieces_hold_what_the_batches_hold(corpus: Corpus, rows: list[int] | None) -> None:
    wanted = None if rows is None else np.array(rows, np.int64)
    engine = Watched()
    counted = corpus.counted(engine)
    cuts = list(cut(counted.shards, corpus.columns, corpus.language, wanted))
    expected = flat(map(ids, corpus.batches(wanted)))
    assert flat(ids(batch) for piece in cuts for batch in piece.batches()) == expected
    assert [row for row, _ in expected] == (list(range(217)) if rows is None else rows)


def test_what_is_sent_holds_no_code(corpus: Corpus) -> None:
    engine = Watched()
    counted = corpus.counted(engine)
    engine.given.clear()
    assert flat(counted.map(ids, engine)) == flat(map(ids, corpus.batches()))
    assert all(isinstance(each, Piece) for each in engine.given)
    assert len(engine.given) >= 4


def test_a_dataset_of_few_pieces_is_read_here_and_sent(corpus: Corpus) -> None:
    engine = Watched(workers=50)
    counted = corpus.counted(engine)
    engine.given.clear()
    assert flat(counted.map(ids, engine)) == flat(map(ids, corpus.batches()))
    assert all(isinstance(each, Batch) for each in engine.given)


def test_row_groups_are_read_together_until_they_are_a_piece(
    tmp_path: Path, records: list[Any]
) -> None:
    corpus = open_corpus(write(tmp_path / "one", "parquet", records, 1))
    (shard,) = corpus.shards
    assert find_ends(shard) == (20, 40, 60, 80, 100, 120, 140, 160, 180, 200, 217)
    counted = corpus.counted(Watched())
    sizes = [
        0 if piece.rows is None else len(piece.rows)
        for piece in cut(counted.shards, corpus.columns, None, None)
    ]
    assert sizes == [40, 40, 40, 40, 40, 17]


def test_a_single_compressed_file_is_not_counted(tmp_path: Path, records: list[Any]) -> None:
    path = tmp_path / "one.jsonl"
    path.write_bytes(b"".join(orjson.dumps(each) + b"\n" for each in records))
    corpus = open_corpus(path)
    assert corpus.counted(Watched()) is corpus


@pytest.fixture
def engine() -> Iterator[Engine]:
    made = make(2, "processes")
    yield made
    made.close()


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_embed_gives_the_same_bytes_as_in_one_process(
    corpus_path: Path, tmp_path: Path, kind: str, engine: Engine
) -> None:
    records = [orjson.loads(line) for line in corpus_path.read_bytes().splitlines()]
    for record in records[::2]:
        record["id"] = None
    folder = write(tmp_path / "in", kind, records, 6)
    secret = tmp_path / "secret"
    for name, chosen in (("one", "serial"), ("two", engine)):
        output, manifest = tmp_path / name, tmp_path / f"{name}.jsonl"
        pm.embed(folder, output, manifest, secret_file=secret, engine=chosen)
    assert (tmp_path / "one.jsonl").read_bytes() == (tmp_path / "two.jsonl").read_bytes()
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes()


def test_a_record_that_ends_a_worker_is_named_though_the_worker_read_it(
    corpus_path: Path, tmp_path: Path, engine: Engine
) -> None:
    records = [orjson.loads(line) for line in corpus_path.read_bytes().splitlines()]
    code = f"def f(a, b):\n    c = a\n    {POISON.decode()}\n    d = b\n    return c + d + poison\n"
    records[300] |= {"id": "the/poison", "code": code}
    folder = write(tmp_path / "in", "jsonl", records, 6)
    with pytest.raises(PuzzleMarkError, match=re.escape("(id 'the/poison'): the worker process")):
        pm.embed(
            folder,
            tmp_path / "out",
            watermark=Poisoned(),
            order="dataset",
            tau=0,
            max_rate=1,
            min_rate=1,
            engine=engine,
        )
