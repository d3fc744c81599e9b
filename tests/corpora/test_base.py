import hashlib
import subprocess
import sys
from pathlib import Path

import pytest

from puzzlemark import plugins
from puzzlemark.corpora.base import RewrittenShard, Stale, infer, open_corpus
from puzzlemark.corpora.formats import jsonl
from puzzlemark.corpora.revising import IS_THE_ID
from puzzlemark.errors import CorpusError, EditMismatch
from puzzlemark.snippet import Edit, invert_edits
from tests.corpora.making import function, open_python, records, rename, rewrite, tree, write

NAMES = ["a.jsonl", "a.jsonl.gz", "a.parquet"]


def test_the_formats_are_found_by_their_files() -> None:
    assert plugins.names("corpora.formats") == ("arrow", "csv", "json", "jsonl", "parquet")


def test_importing_the_package_does_not_import_the_heavy_libraries() -> None:
    program = "import puzzlemark, sys; print('pyarrow' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize("name", NAMES)
def test_a_folder_keeps_its_shards_and_the_rows_count_through_them(
    tmp_path: Path, name: str
) -> None:
    rows = records(10)
    for part in range(2):
        write(tmp_path / "d" / f"p{part}" / name, rows[part * 5 : part * 5 + 5])
    (tmp_path / "d" / "README.md").write_text("x")
    corpus = open_python(tmp_path / "d")
    told: list[int] = []
    changes = {row: rename(function(row), "total", "key_total") for row in (1, 7)}
    result = corpus.rewrite(tmp_path / "out", changes, {}, progress=told.append)
    assert tree(tmp_path / "out") == ["README.md", "p0", f"p0/{name}", "p1", f"p1/{name}"]
    assert sum(told) == result.records == 10
    assert result.ignored == 0
    changed = [e.row for e in open_python(tmp_path / "out").entries() if "key_" in str(e.code)]
    assert changed == [1, 7]
    first = tmp_path / "d" / "p0" / name
    assert result.shards[0] == RewrittenShard(
        f"p0/{name}",
        5,
        hashlib.sha256(first.read_bytes()).hexdigest(),
        hashlib.sha256((tmp_path / "out" / "p0" / name).read_bytes()).hexdigest(),
    )


@pytest.mark.parametrize("name", NAMES)
def test_digests_of_input_and_output_are_told_on_request(tmp_path: Path, name: str) -> None:
    corpus = open_python(write(tmp_path / name, records(4)))
    change = rename(function(2), "total", "key_total")
    output = tmp_path / f"out{name}"
    result = corpus.rewrite(output, {2: change}, {}, digests=True)
    assert result.input_digest == corpus.digest()
    assert result.output_digest == open_python(output).digest()
    assert result.input_digest != result.output_digest
    undone = open_python(output).rewrite(
        tmp_path / f"back{name}", {2: invert_edits(change)}, {}, digests=True
    )
    assert undone.output_digest == result.input_digest
    assert corpus.rewrite(tmp_path / f"b{name}", {}, {}).input_digest is None


def test_without_an_id_column_the_name_of_a_file_has_no_part_in_the_digest(tmp_path: Path) -> None:
    corpus = open_python(write(tmp_path / "a.jsonl", [{"code": "a"}, {"code": "b"}]))
    result = corpus.rewrite(tmp_path / "b.jsonl", {}, {}, digests=True)
    assert open_python(tmp_path / "b.jsonl").digest() == result.output_digest == corpus.digest()


def test_an_id_that_is_a_hash_of_the_code_is_recomputed_and_identifies_nothing(
    tmp_path: Path,
) -> None:
    rows = [
        {"id": hashlib.sha256(row["code"].encode()).hexdigest(), "code": row["code"]}
        for row in records(3)
    ]
    corpus = open_python(write(tmp_path / "a.jsonl", rows))
    assert corpus.columns.id is None
    change = {1: rename(function(1), "total", "key_total")}
    result = corpus.rewrite(tmp_path / "b.jsonl", change, infer(corpus))
    assert result.recomputed == {"id": 1}
    assert [entry.id for entry in open_python(tmp_path / "b.jsonl").entries()] == [
        "row:0",
        "row:1",
        "row:2",
    ]


def test_a_hash_that_the_user_names_as_the_id_is_kept_and_named(tmp_path: Path) -> None:
    rows = [{"key": hashlib.md5(b"x = 1").hexdigest(), "code": "x = 1"}]  # noqa: S324
    corpus = open_corpus(write(tmp_path / "a.jsonl", rows), id_column="key", language="python")
    result = corpus.rewrite(tmp_path / "b.jsonl", {0: (Edit(0, b"x", b"y"),)}, infer(corpus))
    assert result.stale == (Stale("key", IS_THE_ID, 1),)
    assert next(open_python(tmp_path / "b.jsonl").records())["key"] == rows[0]["key"]


@pytest.mark.parametrize("name", NAMES)
def test_edits_of_another_dataset_are_refused_and_leave_nothing(tmp_path: Path, name: str) -> None:
    corpus = open_python(write(tmp_path / name, records(4)))
    with pytest.raises(EditMismatch, match=rf"{name}.*[23]: byte 0: expected 'nope'.*not the"):
        corpus.rewrite(tmp_path / f"out{name}", {2: (Edit(0, b"nope", b"x"),)}, {})
    with pytest.raises(CorpusError, match="no row 4 among its 4 records"):
        corpus.rewrite(tmp_path / f"out{name}", {4: (Edit(0, b"def", b"x"),)}, {})
    assert tree(tmp_path) == [name]


@pytest.mark.parametrize("name", NAMES)
def test_a_rewrite_without_changes_is_the_same_dataset(tmp_path: Path, name: str) -> None:
    corpus = open_python(write(tmp_path / name, records(30)))
    result = corpus.rewrite(tmp_path / f"out{name}", {}, infer(corpus), digests=True)
    assert result.input_digest == result.output_digest
    assert (result.recomputed, result.stale) == ({}, ())
    again = open_corpus(tmp_path / f"out{name}")
    assert list(again.records()) == list(corpus.records())


def test_an_empty_shard_among_others_is_kept(tmp_path: Path) -> None:
    write(tmp_path / "d" / "0.jsonl", [])
    write(tmp_path / "d" / "1.jsonl", records(2))
    corpus = open_python(tmp_path / "d")
    assert corpus.count() == 2
    corpus.rewrite(tmp_path / "out", {}, {})
    assert (tmp_path / "out" / "0.jsonl").read_bytes() == b""


def test_all_files_of_an_output_have_one_modification_time(tmp_path: Path) -> None:
    for name in ("a/1.jsonl", "a/2.jsonl", "b/1.jsonl"):
        write(tmp_path / "in" / name, records(20))
    rewrite(tmp_path / "in", tmp_path / "out", {0: (Edit(4, b"f0", b"key_f"),)}, {})
    assert len({path.stat().st_mtime_ns for path in (tmp_path / "out").rglob("*")}) == 1


def test_shards_that_were_read_are_not_counted_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b", "c"):
        write(tmp_path / "in" / f"{name}.jsonl", records(3))
    corpus = open_python(tmp_path / "in")
    expected = corpus.rewrite(tmp_path / "counted")
    assert sum(1 for _ in corpus.entries()) == 9
    monkeypatch.setattr(jsonl, "count", None)
    assert corpus.rewrite(tmp_path / "read").shards == expected.shards


def test_a_shard_that_was_changed_since_it_was_read_is_refused(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write(tmp_path / "in" / f"{name}.jsonl", records(3))
    corpus = open_python(tmp_path / "in")
    assert sum(1 for _ in corpus.entries()) == 6
    write(tmp_path / "in" / "a.jsonl", records(1))
    with pytest.raises(CorpusError, match=r"a\.jsonl: 1 records, and 3 when it was read before"):
        corpus.rewrite(tmp_path / "out")
    assert not (tmp_path / "out").exists()
