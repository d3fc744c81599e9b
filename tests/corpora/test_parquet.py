import io
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from puzzlemark.corpora.base import infer
from puzzlemark.errors import CorpusError
from puzzlemark.snippet import Edit, invert_edits
from tests.corpora.making import function, open_python, rename, rewrite, tree

A = (Edit(0, b"a", b"key_a"),)
LENGTH = 25


def table() -> Any:
    codes = [f"a = {nth}  # é" for nth in range(LENGTH)]
    schema = pa.schema(
        [
            pa.field("code", pa.string(), nullable=False, metadata={"about": "the source"}),
            pa.field("tokens", pa.list_(pa.string())),
            pa.field("size", pa.int16()),
            pa.field("meta", pa.struct([("stars", pa.uint8()), ("tags", pa.list_(pa.string()))])),
            pa.field("score", pa.float32()),
            pa.field("when", pa.timestamp("us", tz="UTC")),
            pa.field("kind", pa.dictionary(pa.int8(), pa.string())),
        ],
        metadata={"huggingface": '{"info": 1}', "made by": "hand"},
    )
    columns = [
        codes,
        [code.split() for code in codes],
        [len(code) for code in codes],
        [{"stars": nth, "tags": ["x"] * (nth % 3)} for nth in range(LENGTH)],
        [None if nth % 4 == 0 else nth / 3 for nth in range(LENGTH)],
        [nth * 10**6 for nth in range(LENGTH)],
        ["ab"[nth % 2] for nth in range(LENGTH)],
    ]
    arrays = [pa.array(v, f.type) for v, f in zip(columns, schema, strict=True)]
    return pa.table(arrays, schema=schema)


OPTIONS: list[dict[str, Any]] = [
    {},
    {"compression": "zstd", "row_group_size": 7},
    {"compression": "gzip", "use_dictionary": False, "write_statistics": False},
    {"compression": "none", "version": "1.0", "store_schema": False},
    {"compression": "lz4", "use_compliant_nested_type": False, "write_page_index": True},
    {"compression": {"code": "brotli", "size": "none"}, "use_dictionary": ["kind"]},
    {"use_dictionary": False, "column_encoding": {"size": "DELTA_BINARY_PACKED"}},
    {"write_statistics": ["code", "size"]},
]


def describe(path: Path) -> Any:
    """What a reader of the file can see beside the values."""
    file = pq.ParquetFile(path)
    metadata = file.metadata
    groups = [metadata.row_group(at) for at in range(metadata.num_row_groups)]
    chunks = [
        (c.path_in_schema, c.compression, set(c.encodings), c.is_stats_set, c.has_offset_index)
        for group in groups
        for c in map(group.column, range(group.num_columns))
    ]
    other = {key: value for key, value in (metadata.metadata or {}).items() if b"ARROW" not in key}
    return (
        [group.num_rows for group in groups],
        chunks,
        str(file.schema).partition("\n")[2],  # its first line is an address
        other,
        metadata.format_version,
    )


@pytest.mark.parametrize("options", OPTIONS)
def test_everything_but_the_changed_cells_stays(tmp_path: Path, options: dict[str, Any]) -> None:
    source = tmp_path / "in.parquet"
    pq.write_table(table(), source, **options)
    kinds = {"tokens": "tokens", "size": "characters"}
    changes = dict.fromkeys((0, 6, 7, 24), A)
    result = rewrite(source, tmp_path / "out.parquet", changes, kinds)
    before, after = pq.read_table(source), pq.read_table(tmp_path / "out.parquet")
    assert after.schema.equals(before.schema, check_metadata=True)
    assert describe(tmp_path / "out.parquet") == describe(source)
    expected = before.to_pylist()
    for row in changes:
        code = "key_" + expected[row]["code"]
        expected[row] |= {"code": code, "size": len(code), "tokens": code.split()}
    assert after.to_pylist() == expected
    assert result.recomputed == {"size": 4, "tokens": 4}
    assert result.stale == ()
    undo = {row: invert_edits(A) for row in changes}
    rewrite(tmp_path / "out.parquet", tmp_path / "back.parquet", undo, kinds)
    assert pq.read_table(tmp_path / "back.parquet").equals(before, check_metadata=True)


@pytest.mark.parametrize(
    "kind",
    [
        pa.string(),
        pa.large_string(),
        pa.binary(),
        pa.large_binary(),
        pa.dictionary(pa.int32(), pa.string()),
    ],
    ids=str,
)
def test_every_type_that_holds_text_can_hold_the_code(tmp_path: Path, kind: Any) -> None:
    codes = ["a = 1", "b", "a = 'é'", None, "a = 1"]
    content = [None if code is None else code.encode() for code in codes]
    array = pa.array(content if kind in (pa.binary(), pa.large_binary()) else codes, kind)
    pq.write_table(pa.table({"code": array, "again": array}), tmp_path / "in.parquet")
    result = rewrite(tmp_path / "in.parquet", tmp_path / "out.parquet", {0: A, 2: A})
    after = pq.read_table(tmp_path / "out.parquet")
    assert after.schema.field("code").type == kind
    assert after["code"].cast(pa.string()).to_pylist() == [
        "key_a = 1",
        "b",
        "key_a = 'é'",
        None,
        "a = 1",
    ]
    assert after["again"] == after["code"]
    assert result.recomputed == {"again": 2}


def test_entries_are_read_from_few_columns_in_several_groups(tmp_path: Path) -> None:
    pq.write_table(table(), tmp_path / "a.parquet", row_group_size=7)
    corpus = open_python(tmp_path / "a.parquet")
    batches = list(corpus.batches())
    assert [batch.rows.tolist() for batch in batches] == [
        list(range(7)),
        list(range(7, 14)),
        list(range(14, 21)),
        list(range(21, 25)),
    ]
    assert set(batches[0].records()[0]) == {"code"}
    assert set(next(corpus.records())) == set(table().schema.names)


@pytest.mark.parametrize("damage", ["footer", "magic", "cut", "pages"])
def test_a_corrupt_file_is_an_error_that_names_it(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "bad.parquet"
    pq.write_table(table(), path, compression="gzip")
    whole = path.read_bytes()
    path.write_bytes(
        {
            "footer": whole[:-60] + b"\xff" * 52 + whole[-8:],
            "magic": b"x" * len(whole),
            "cut": whole[: len(whole) // 2],
            "pages": whole[:4] + b"\xff" * 400 + whole[404:],
        }[damage]
    )
    with pytest.raises(CorpusError, match=r"bad\.parquet: damaged Parquet .*fetch it again"):
        list(open_python(path).entries())


def test_damage_met_while_writing_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "bad.parquet"
    pq.write_table(table(), path, compression="gzip", row_group_size=5)
    corpus = open_python(path)
    last = pq.ParquetFile(path).metadata.row_group(4).column(0)
    whole = bytearray(path.read_bytes())
    start = last.dictionary_page_offset
    whole[start : start + 30] = b"\xff" * 30
    path.write_bytes(bytes(whole))
    with pytest.raises(CorpusError, match="damaged Parquet"):
        corpus.rewrite(tmp_path / "out.parquet", {0: A}, {})
    assert tree(tmp_path) == ["bad.parquet"]


def test_a_shard_without_the_code_column_is_an_error(tmp_path: Path) -> None:
    pq.write_table(pa.table({"code": ["a"]}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"source": ["a"]}), tmp_path / "2.parquet")
    with pytest.raises(CorpusError, match=r"2\.parquet: no column 'code' \(it has source\)"):
        list(open_python(tmp_path).entries())


def test_a_table_without_rows_is_an_error_alone_and_kept_among_others(tmp_path: Path) -> None:
    empty = table().slice(0, 0)
    source = tmp_path / "d" / "0.parquet"
    source.parent.mkdir()
    pq.write_table(empty, source)
    with pytest.raises(CorpusError, match="no records"):
        open_python(tmp_path / "d")
    pq.write_table(table(), tmp_path / "d" / "1.parquet")
    result = rewrite(tmp_path / "d", tmp_path / "out", {0: A}, {})
    assert [shard.records for shard in result.shards] == [0, LENGTH]
    assert describe(tmp_path / "out" / "0.parquet") == describe(source)
    kept = pq.read_table(tmp_path / "out" / "0.parquet")
    assert kept.equals(pq.read_table(source), check_metadata=True)


def test_two_columns_of_the_same_name_are_refused(tmp_path: Path) -> None:
    twice = pa.table([pa.array(["a"]), pa.array(["b"])], names=["code", "code"])
    pq.write_table(twice, tmp_path / "a.parquet")
    with pytest.raises(CorpusError, match="same name"):
        list(open_python(tmp_path / "a.parquet").entries())


def test_derived_columns_are_inferred_as_in_json(tmp_path: Path) -> None:
    codes = [function(nth) for nth in range(5)]
    columns = {"code": codes, "whole": codes, "n": [len(code) for code in codes]}
    pq.write_table(pa.table(columns), tmp_path / "a.parquet")
    corpus = open_python(tmp_path / "a.parquet")
    assert infer(corpus) == {"whole": "copy", "n": "characters"}
    change = {2: rename(codes[2], "total", "key_total")}
    rewrite(tmp_path / "a.parquet", tmp_path / "b.parquet", change)
    row = pq.read_table(tmp_path / "b.parquet").to_pylist()[2]
    assert row["whole"] == row["code"] == codes[2].replace("total", "key_total")
    assert row["n"] == len(row["code"])


class Counted(io.FileIO):
    """A file that counts the bytes that are read of it."""

    read_bytes = 0

    def read(self, size: int | None = -1, /) -> Any:
        found = super().read(size)
        self.read_bytes += len(found or b"")
        return found


def test_the_first_record_is_read_without_the_other_row_groups(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a large file would be in memory when it is opened."""
    path = tmp_path / "a.parquet"
    schema = pa.schema([("code", pa.string())])
    with pq.ParquetWriter(path, schema, compression="none") as writer:
        writer.write_table(pa.table({"code": []}, schema))
        for nth in range(100):
            writer.write_table(pa.table({"code": [f"{nth}{row}" * 5000 for row in "ab"]}, schema))
    real = pq.ParquetFile
    with Counted(path) as file:
        monkeypatch.setattr(pq, "ParquetFile", lambda _: real(file))
        assert open_python(path).columns.code == "code"
    assert 0 < file.read_bytes < path.stat().st_size / 2
