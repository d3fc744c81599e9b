"""What every format of datasets promises, found by its file name or brought by a third party."""

import pickle
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from puzzlemark import plugins
from puzzlemark.corpora.base import Corpus
from puzzlemark.corpora.formats.base import Job, load_format
from puzzlemark.corpora.shards import extension_of
from puzzlemark.corpora.writing import write_records
from puzzlemark.engines.base import Engine, make
from puzzlemark.errors import CorpusError, EditMismatch, UsageError
from tests.corpora.making import open_python, records, rename, tree

EXTENSIONS = [
    extension
    for name in plugins.names("corpora.formats")
    for extension in load_format(name).EXTENSIONS
]
FIRST = [load_format(name).EXTENSIONS[0] for name in plugins.names("corpora.formats")]
EXTRA = [{"id": f"new{n}", "code": f"x = {n}\n", "language": "python"} for n in range(3)]
ROWS = (1, 2, 5, 11)
ROWS_OF_EXTRA = np.array([0, 2])


@pytest.fixture(params=EXTENSIONS)
def extension(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture(scope="module")
def processes() -> Iterator[Engine]:
    with closing(make(2)) as engine:
        yield engine


def make_file(path: Path, count: int = 12) -> Corpus:
    write_records(records(count), path)
    return open_python(path)


def make_folder(folder: Path, extension: str) -> Corpus:
    """Shards of 4, 5 and 3 records, one of them deeper than the others."""
    every = records(12)
    for name, some in (("a", every[:4]), ("b/c", every[4:9]), ("d", every[9:])):
        write_records(some, folder / f"{name}{extension}")
    return open_python(folder)


def read(path: Path) -> list[dict[str, Any]]:
    return [dict(record) for record in open_python(path).records()]


def files(path: Path) -> dict[str, bytes]:
    found = [each for each in path.rglob("*") if each.is_file()] if path.is_dir() else [path]
    return {each.relative_to(path).as_posix(): each.read_bytes() for each in found}


def test_records_are_read_as_they_were_written(tmp_path: Path, extension: str) -> None:
    corpus = make_file(tmp_path / f"a{extension}")
    assert read(tmp_path / f"a{extension}") == records(12)
    assert corpus.count() == 12
    assert extension_of(corpus.path.name) == (corpus.shards[0].format, extension)


def test_writing_again_gives_the_same_bytes(tmp_path: Path, extension: str) -> None:
    corpus = make_file(tmp_path / f"a{extension}")
    corpus.rewrite(tmp_path / f"b{extension}")
    assert (tmp_path / f"b{extension}").read_bytes() == corpus.path.read_bytes()


def test_some_rows_are_written_alone_and_in_order(tmp_path: Path, extension: str) -> None:
    corpus = make_file(tmp_path / f"a{extension}")
    done = corpus.rewrite(tmp_path / f"b{extension}", rows=[11, 2, 1, 5])
    assert read(tmp_path / f"b{extension}") == [records(12)[row] for row in ROWS]
    assert done.records == 4


def test_rows_of_a_folder_stay_in_their_shards(tmp_path: Path, extension: str) -> None:
    corpus = make_folder(tmp_path / "in", extension)
    done = corpus.rewrite(tmp_path / "out", rows=[4, 8, 10], digests=True)
    assert tree(tmp_path / "out") == ["b", f"b/c{extension}", f"d{extension}"]
    assert [(shard.name, shard.records) for shard in done.shards] == [
        (f"b/c{extension}", 2),
        (f"d{extension}", 1),
    ]
    assert read(tmp_path / "out") == [records(12)[row] for row in (4, 8, 10)]
    assert done.output_digest == open_python(tmp_path / "out").digest() != done.input_digest


def test_rows_and_edits_go_together(tmp_path: Path, extension: str) -> None:
    corpus = make_folder(tmp_path / "in", extension)
    every = records(12)
    changes = {row: rename(every[row]["code"], "total", "key_total") for row in (2, 3, 5, 10)}
    corpus.rewrite(tmp_path / "out", changes, {}, rows=ROWS)
    expected = [every[row]["code"] for row in ROWS]
    expected[1] = expected[1].replace("total", "key_total")
    expected[2] = expected[2].replace("total", "key_total")
    assert [record["code"] for record in read(tmp_path / "out")] == expected


@pytest.mark.parametrize("rows", [[12], [-1, 3], [0, 400]])
def test_a_row_that_is_not_there_is_an_error(
    tmp_path: Path, extension: str, rows: list[int]
) -> None:
    corpus = make_folder(tmp_path / "in", extension)
    with pytest.raises(CorpusError, match=rf"in: no row {rows[0] if rows[0] < 0 else rows[-1]} in"):
        corpus.rewrite(tmp_path / "out", rows=rows)
    assert tree(tmp_path) == ["in", *(f"in/{name}" for name in tree(tmp_path / "in"))]


def test_no_rows_are_an_error(tmp_path: Path, extension: str) -> None:
    corpus = make_file(tmp_path / f"a{extension}")
    with pytest.raises(CorpusError, match="no rows of it are to be written"):
        corpus.rewrite(tmp_path / f"b{extension}", rows=[])


def test_plain_records_are_added_at_the_end(tmp_path: Path, extension: str) -> None:
    corpus = make_file(tmp_path / f"a{extension}")
    seen: list[int] = []
    done = corpus.rewrite(tmp_path / f"b{extension}", append=iter(EXTRA), progress=seen.append)
    assert read(tmp_path / f"b{extension}") == [*records(12), *EXTRA]
    assert done.records == sum(seen) == 15


@pytest.mark.parametrize("other", FIRST)
def test_another_dataset_is_added_whatever_its_format(
    tmp_path: Path, extension: str, other: str
) -> None:
    corpus = make_folder(tmp_path / "in", extension)
    write_records(EXTRA, tmp_path / f"extra{other}")
    extra = open_python(tmp_path / f"extra{other}")
    corpus.rewrite(tmp_path / "out", append=extra)
    assert read(tmp_path / "out") == [*records(12), *EXTRA]
    some = extra.batches(ROWS_OF_EXTRA, whole=True)
    corpus.rewrite(tmp_path / "some", rows=[0], append=some)
    assert read(tmp_path / "some") == [records(1)[0], EXTRA[0], EXTRA[2]]
    assert tree(tmp_path / "some") == [f"a{extension}"]


def test_records_can_take_the_place_of_all_rows(tmp_path: Path, extension: str) -> None:
    corpus = make_folder(tmp_path / "in", extension)
    corpus.rewrite(tmp_path / "out", rows=[], append=EXTRA)
    assert read(tmp_path / "out") == EXTRA
    assert tree(tmp_path / "out") == [f"d{extension}"]


def test_an_added_record_without_code_is_an_error_that_counts(
    tmp_path: Path, extension: str
) -> None:
    corpus = make_file(tmp_path / f"a{extension}")
    wrong = [*EXTRA, {"id": "x", "language": "python"}]
    with pytest.raises(CorpusError, match=r"added record 3: no column 'code' \(it has id,"):
        corpus.rewrite(tmp_path / f"b{extension}", append=wrong)
    assert tree(tmp_path) == [f"a{extension}"]


@pytest.mark.parametrize("other", FIRST)
def test_an_added_dataset_must_call_its_code_the_same(
    tmp_path: Path, extension: str, other: str
) -> None:
    corpus = make_file(tmp_path / f"a{extension}")
    write_records([{"id": "x", "content": "x = 1"}], tmp_path / f"b{other}")
    with pytest.raises(CorpusError, match=r"added record 0: no column 'code' \(it has id, content"):
        corpus.rewrite(tmp_path / f"c{extension}", append=open_python(tmp_path / f"b{other}"))


def test_new_datasets_are_whole_or_not_at_all(tmp_path: Path, extension: str) -> None:
    def broken() -> Iterator[dict[str, Any]]:
        yield from EXTRA
        raise CorpusError("no more")

    path = tmp_path / f"a{extension}"
    with pytest.raises(CorpusError, match="no more"):
        write_records(broken(), path)
    with pytest.raises(CorpusError, match="no records to write"):
        write_records([], path)
    assert tree(tmp_path) == []
    assert write_records(EXTRA, path) == 3
    with pytest.raises(UsageError, match="already there"):
        write_records(EXTRA, path)


def test_processes_write_the_same_bytes_as_one(
    tmp_path: Path, extension: str, processes: Engine
) -> None:
    corpus = make_folder(tmp_path / "in", extension)
    every = records(12)
    changes = {row: rename(every[row]["code"], "total", "key_total") for row in (0, 3, 4, 8, 11)}
    derivations = {"language": "unknown"}  # stale in every changed record
    calls: list[dict[str, Any]] = [
        {},
        {"rows": [0, 3, 5, 11]},
        {"append": EXTRA},
        {"rows": [4, 5], "append": EXTRA},
    ]
    for nth, options in enumerate(calls):
        one, many = tmp_path / f"one{nth}", tmp_path / f"many{nth}"
        seen: list[int] = []
        here = corpus.rewrite(one, changes, derivations, **options)
        there = corpus.rewrite(
            many, changes, derivations, engine=processes, progress=seen.append, **options
        )
        assert files(one) == files(many)
        assert here == there
        assert here.stale
        assert sum(seen) == here.records


def test_a_shard_that_fails_elsewhere_leaves_nothing(
    tmp_path: Path, extension: str, processes: Engine
) -> None:
    corpus = make_folder(tmp_path / "in", extension)
    changes = {5: rename("x = 1", "x", "y")}
    with pytest.raises(EditMismatch, match="not the dataset of the edits"):
        corpus.rewrite(tmp_path / "out", changes, {}, engine=processes)
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


def test_a_job_can_be_sent(tmp_path: Path, extension: str) -> None:
    corpus = make_file(tmp_path / f"a{extension}")
    job = Job(corpus.shards[0], tmp_path / f"b{extension}", corpus.columns)
    assert pickle.loads(pickle.dumps(job)) == job  # noqa: S301 - our own
    assert [part.describe() for part in job.split()] == [f"a{extension}"]
