"""Whoever wrote a Parquet file, its rewritten twin shows nothing of which rows were edited."""

import hashlib
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from puzzlemark.corpora.parquet_pages import read_pages
from puzzlemark.snippet import Edit
from tests.corpora.making import open_python, rewrite
from tests.corpora.writers import WRITERS

ROWS = 9000
LONGER = (Edit(4, b"f", b"key_iterator_f"),)
EQUAL = (Edit(4, b"f", b"g"),)  # as long as before: no page can hold fewer rows because of it
KINDS = {"sha256": "sha256", "size": "characters", "tokens": "tokens"}
SOME, OTHERS = range(7, ROWS, 61), range(1000, 3000, 11)


def dataset() -> Any:
    codes = [
        f"def f{nth:05}(a):\n" + "".join(f"    b{k} = a * {nth * k}\n" for k in range(nth % 23))
        for nth in range(ROWS)
    ]
    return pa.table(
        {
            "id": [f"r{nth:05}" for nth in range(ROWS)],
            "code": codes,
            "language": ["python"] * ROWS,
            "sha256": [hashlib.sha256(code.encode()).hexdigest() for code in codes],
            "size": [len(code) for code in codes],
            "tokens": [code.split() for code in codes],
            "tags": [["x"] * (nth % 3) for nth in range(ROWS)],
            "stars": pa.array([nth % 50 for nth in range(ROWS)], pa.uint32()),
        }
    )


@pytest.fixture(scope="module", params=sorted(WRITERS))
def source(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("source") / "in.parquet"
    WRITERS[request.param](dataset(), path)
    return path


def structure(path: Path) -> list[Any]:
    """What can be seen of a file without looking at values: groups, chunks, and every page."""
    file = pq.ParquetFile(path)
    seen: list[Any] = []
    for group in range(file.num_row_groups):
        for at in range(file.metadata.num_columns):
            chunk = file.metadata.row_group(group).column(at)
            pages = [
                (p.kind, p.version, p.rows, p.encoding, p.has_checksum, p.has_statistics)
                for p in read_pages(path, file, group, at)
            ]
            seen.append(
                (
                    file.metadata.row_group(group).num_rows,
                    chunk.path_in_schema,
                    chunk.compression,
                    chunk.encodings,
                    chunk.is_stats_set,
                    chunk.has_column_index,
                    chunk.has_offset_index,
                    chunk.bloom_filter_length,
                    pages,
                )
            )
    return seen


def test_the_bytes_follow_from_the_published_values(source: Path, tmp_path: Path) -> None:
    # written again by someone who does not know which rows were edited, the file is the same
    rewrite(source, tmp_path / "a.parquet", dict.fromkeys(SOME, LONGER), KINDS)
    rewrite(tmp_path / "a.parquet", tmp_path / "b.parquet", {}, KINDS)
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()


def test_the_pages_do_not_depend_on_which_rows_are_edited(source: Path, tmp_path: Path) -> None:
    seen = []
    for name, rows in {"none": (), "some": SOME, "others": OTHERS}.items():
        rewrite(source, tmp_path / f"{name}.parquet", dict.fromkeys(rows, EQUAL), KINDS)
        seen.append(structure(tmp_path / f"{name}.parquet"))
    assert seen[0] == seen[1] == seen[2]
    assert most_pages(seen[0]) >= min(3, most_pages(structure(source)))


def most_pages(seen: list[Any]) -> int:
    return max(len(pages) for *_, pages in seen)


def settings(path: Path) -> Any:
    """What is kept of a file's settings, whoever wrote it."""
    file = pq.ParquetFile(path)
    groups = [file.metadata.row_group(at) for at in range(file.num_row_groups)]
    chunks = [group.column(at) for group in groups for at in range(group.num_columns)]
    pages = [p for at in range(groups[0].num_columns) for p in read_pages(path, file, 0, at)]
    footer = {k: v for k, v in (file.metadata.metadata or {}).items() if k != b"ARROW:schema"}
    return (
        [group.num_rows for group in groups],
        [(c.path_in_schema, c.physical_type, c.compression, c.is_stats_set) for c in chunks],
        [(c.has_column_index, c.has_offset_index) for c in chunks],
        [c.has_dictionary_page for c in chunks],
        {page.version for page in pages if page.kind == "data"},
        {page.has_checksum for page in pages},
        groups[0].sorting_columns,
        [c.bloom_filter_length for c in map(groups[0].column, range(groups[0].num_columns))],
        footer,
        file.schema_arrow,
    )


def test_the_settings_of_the_writer_are_kept(source: Path, tmp_path: Path) -> None:
    rewrite(source, tmp_path / "out.parquet", dict.fromkeys(SOME, LONGER), KINDS)
    for kept, before in zip(settings(tmp_path / "out.parquet"), settings(source), strict=True):
        assert kept == before


@pytest.mark.parametrize("writer", ["pandas", "pyarrow", "small pages", "duckdb", "datasets"])
def test_pages_hold_as_many_rows_as_before(writer: str, tmp_path: Path) -> None:
    WRITERS[writer](dataset(), tmp_path / "in.parquet")
    rewrite(tmp_path / "in.parquet", tmp_path / "out.parquet", {}, KINDS)
    before, after = (structure(tmp_path / name) for name in ("in.parquet", "out.parquet"))
    for (*_, old), (*_, new) in zip(before, after, strict=True):
        rows = [[page[2] for page in pages if page[0] == "data"] for pages in (old, new)]
        assert rows[0] == rows[1]


def test_a_dictionary_keeps_no_value_of_the_unmarked_code(tmp_path: Path) -> None:
    WRITERS["categories"](dataset(), tmp_path / "in.parquet")
    rewrite(tmp_path / "in.parquet", tmp_path / "out.parquet", dict.fromkeys(SOME, LONGER), KINDS)
    before = open_python(tmp_path / "in.parquet").entries()
    old = {entry.code for entry in before if entry.row in SOME}
    for group in range(pq.ParquetFile(tmp_path / "out.parquet").num_row_groups):
        column = pq.ParquetFile(tmp_path / "out.parquet").read_row_group(group)["code"]
        assert not old & set(column.chunk(0).dictionary.to_pylist())


def test_an_unreadable_note_on_chunking_is_no_error(tmp_path: Path) -> None:
    for note in ("{", "[1]", '{"min_chunk_size": "a"}', '{"min_chunk_size": 1}', "7"):
        path = tmp_path / "in.parquet"
        with pq.ParquetWriter(path, dataset().schema) as writer:
            writer.write_table(dataset().slice(0, 10))
            writer.add_key_value_metadata({"content_defined_chunking": note})
        (tmp_path / "out.parquet").unlink(missing_ok=True)
        rewrite(path, tmp_path / "out.parquet", {0: LONGER}, KINDS)
        footer = pq.ParquetFile(tmp_path / "out.parquet").metadata.metadata
        assert footer[b"content_defined_chunking"] == note.encode()


@pytest.mark.parametrize("version", ["1.0", "2.4", "2.6"])
def test_the_version_is_kept_and_no_column_changes_its_type(version: str, tmp_path: Path) -> None:
    table = dataset().slice(0, 100).append_column("when", pa.array(range(100), pa.timestamp("us")))
    pq.write_table(table, tmp_path / "in.parquet", version=version)
    rewrite(tmp_path / "in.parquet", tmp_path / "out.parquet", {0: LONGER}, KINDS)
    before, after = (pq.ParquetFile(tmp_path / name) for name in ("in.parquet", "out.parquet"))
    assert after.metadata.format_version == before.metadata.format_version
    assert str(after.schema).partition("\n")[2] == str(before.schema).partition("\n")[2]
