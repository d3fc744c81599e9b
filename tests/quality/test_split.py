import gzip
import json
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from puzzlemark.errors import CorpusError, UsageError
from puzzlemark.quality.split import choose_projects, split
from tests.corpora.making import function, open_python, tree, write, write_parquet

NAMES = st.text("abc/é", min_size=1, max_size=4)
SHARES = st.floats(0.01, 0.99)


def records(projects: list[str | None]) -> list[dict[str, Any]]:
    return [{"id": n, "repo": p, "code": function(n)} for n, p in enumerate(projects)]


def read(path: Path) -> list[dict[str, Any]]:
    if path.suffix == ".parquet":
        rows: list[dict[str, Any]] = pq.read_table(path).to_pylist()
        return rows
    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return [json.loads(line) for line in content.splitlines()]


@settings(max_examples=25)
@given(
    st.lists(NAMES, min_size=2, max_size=30),
    SHARES,
    st.integers(0, 5),
    st.sampled_from([".jsonl", ".jsonl.gz", ".parquet"]),
)
def test_every_record_goes_to_one_side_and_no_project_to_both(
    projects: list[str], share: float, seed: int, extension: str
) -> None:
    if len(set(projects)) < 2:
        return
    rows = records([*projects])
    with tempfile.TemporaryDirectory() as name:
        source, train, test = (Path(name, f"{side}{extension}") for side in ("all", "a", "b"))
        corpus = open_python(write(source, rows))
        done = split(corpus, train, test, test_share=share, seed=seed)
        sides = read(train), read(test)
    assert sorted(sides[0] + sides[1], key=lambda row: row["id"]) == rows
    held = {row["repo"] for row in sides[1]}
    assert held
    assert held.isdisjoint({row["repo"] for row in sides[0]})
    assert held < set(projects)
    for side, found in zip((done.train, done.test), sides, strict=True):
        assert [row["id"] for row in found] == sorted(row["id"] for row in found)
        assert side.records == len(found)
        assert side.projects == len({row["repo"] for row in found})


@given(st.dictionaries(NAMES, st.integers(1, 50), min_size=2, max_size=20), SHARES)
def test_the_choice_does_not_depend_on_the_order_and_adding_helps(
    sizes: dict[str, int], share: float
) -> None:
    chosen = choose_projects(sizes, share, 7)
    assert chosen == choose_projects(dict(reversed(sizes.items())), share, 7)
    assert 0 < len(chosen) < len(sizes)
    wanted, held = share * sum(sizes.values()), sum(sizes[name] for name in chosen)
    if len(chosen) > 1:  # each brought it nearer, so none can be more than twice what was missing
        assert held < 2 * wanted


def test_many_small_projects_meet_the_share() -> None:
    sizes = {f"p{n}": 1 + n % 3 for n in range(300)}
    chosen = choose_projects(sizes, 0.1, 0)
    assert sum(sizes[name] for name in chosen) == pytest.approx(60, abs=1)
    assert chosen != choose_projects(sizes, 0.1, 1)


def test_lines_keep_their_bytes(tmp_path: Path) -> None:
    lines = [
        b'\xef\xbb\xbf{"repo" : "a", "code":"x = \\u00e9", "big": 123456789012345678901}\r\n',
        b'{"code": "y = 1.50", "n": 1.50, "repo": "b"}\n',
        b"\n",
        b'{"code": null, "repo": "a"}',
    ]
    (tmp_path / "all.jsonl").write_bytes(b"".join(lines))
    corpus = open_python(tmp_path / "all.jsonl")
    split(corpus, tmp_path / "a.jsonl", tmp_path / "b.jsonl", test_share=0.3)
    assert (tmp_path / "a.jsonl").read_bytes() == lines[0] + lines[3] + b"\n"
    assert (tmp_path / "b.jsonl").read_bytes() == lines[1]


def test_parquet_keeps_schema_metadata_and_compression(tmp_path: Path) -> None:
    rows = records(["a", "b", "a", "c"] * 10)
    table = pa.Table.from_pylist(rows).replace_schema_metadata({"made": "by hand"})
    table = table.append_column("kind", pa.array(["x", "y"] * 20).dictionary_encode())
    pq.write_table(table, tmp_path / "all.parquet", compression="zstd", row_group_size=7)
    corpus = open_python(tmp_path / "all.parquet")
    split(corpus, tmp_path / "a.parquet", tmp_path / "b.parquet", test_share=0.25)
    for name in ("a.parquet", "b.parquet"):
        file = pq.ParquetFile(tmp_path / name)
        assert file.schema_arrow.equals(table.schema, check_metadata=True)
        assert file.metadata.row_group(0).column(0).compression == "ZSTD"
        assert file.num_row_groups > 1


@pytest.mark.parametrize("extension", ["jsonl", "parquet"])
def test_a_folder_is_split_shard_by_shard(tmp_path: Path, extension: str) -> None:
    first = write(tmp_path / f"all/x/1.{extension}", records(["a", "a", "b"]))
    write(first.parent.parent / f"2.{extension}", records(["a", "a"]))
    done = split(open_python(tmp_path / "all"), tmp_path / "train", tmp_path / "test")
    assert (done.train.records, done.test.records) == (4, 1)
    assert tree(tmp_path / "train") == [f"2.{extension}", "x", f"x/1.{extension}"]
    assert tree(tmp_path / "test") == ["x", f"x/1.{extension}"]


def test_a_record_without_a_project_is_one_of_its_own(tmp_path: Path) -> None:
    rows = [{"id": n, "code": function(n)} | ({"repo": "a"} if n < 5 else {}) for n in range(15)]
    corpus = open_python(write(tmp_path / "all.jsonl", rows))
    done = split(corpus, tmp_path / "a.jsonl", tmp_path / "b.jsonl", test_share=0.4)
    assert done.train.projects + done.test.projects == 11


def test_copies_between_projects_are_counted(tmp_path: Path) -> None:
    rows = records(["a", "a", "b", "c", "c", "c"])
    for row in rows:
        row["code"] = "def same():\n    pass\n" if row["id"] in (0, 2, 3) else row["code"]
    corpus = open_python(write(tmp_path / "all.jsonl", rows))
    done = split(corpus, tmp_path / "a.jsonl", tmp_path / "b.jsonl", test_share=0.5)
    codes = [Counter(row["code"] for row in read(tmp_path / f"{s}.jsonl")) for s in "ab"]
    assert done.shared == sum(n for code, n in codes[1].items() if code in codes[0]) > 0


@pytest.mark.parametrize("name", ["repository", "repo_name", "project", "max_stars_repo_name"])
def test_the_project_column_is_recognised_or_named(tmp_path: Path, name: str) -> None:
    rows = [{name: str(n % 3), "owner": str(n), "code": function(n)} for n in range(9)]
    corpus = open_python(write(tmp_path / "all.jsonl", rows))
    assert split(corpus, tmp_path / "a.jsonl", tmp_path / "b.jsonl").column == name
    done = split(corpus, tmp_path / "c.jsonl", tmp_path / "d.jsonl", project_column="owner")
    assert done.train.projects + done.test.projects == 9


def in_the_way(path: Path) -> None:
    (path / "b.jsonl").write_text("mine")


@pytest.mark.parametrize(
    ("prepare", "options", "error", "message"),
    [
        (None, {"project_column": "nope"}, UsageError, "no column 'nope'"),
        (None, {"test_share": 0.0}, UsageError, "between 0 and 1"),
        (None, {"test_share": 1.0}, UsageError, "between 0 and 1"),
        (None, {"test": "a.jsonl"}, UsageError, "--test .* is the same as --train"),
        (None, {"test": "all.jsonl"}, UsageError, "--test .* is the same as INPUT"),
        (None, {"test": "b.parquet"}, UsageError, "ending in .jsonl"),
        (None, {"project_column": "one"}, CorpusError, "all of one project"),
        (in_the_way, {}, UsageError, "already there"),
    ],
)
def test_a_refused_split_writes_nothing(
    tmp_path: Path,
    prepare: Callable[[Path], None] | None,
    options: dict[str, Any],
    error: type[Exception],
    message: str,
) -> None:
    rows = [row | {"one": "x"} for row in records(["a", "b"])]
    corpus = open_python(write(tmp_path / "all.jsonl", rows))
    if prepare is not None:
        prepare(tmp_path)
    before = tree(tmp_path)
    test = tmp_path / options.pop("test", "b.jsonl")
    with pytest.raises(error, match=message):
        split(corpus, tmp_path / "a.jsonl", test, **options)
    assert tree(tmp_path) == before


def test_no_column_for_the_project_is_said(tmp_path: Path) -> None:
    corpus = open_python(write_parquet(tmp_path / "all.parquet", [{"code": function(0)}]))
    with pytest.raises(UsageError, match="its columns are code; pass --project-column"):
        split(corpus, tmp_path / "a.parquet", tmp_path / "b.parquet")
