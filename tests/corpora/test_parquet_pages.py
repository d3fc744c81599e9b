"""Pages are read as they were written; pyarrow's own settings say how."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from puzzlemark.corpora.parquet_pages import count_zeros, read_pages
from puzzlemark.errors import CorpusError


def table(rows: int) -> Any:
    return pa.table(
        {
            "number": pa.array(range(rows), pa.int64()),
            "words": [["w"] * (nth % 4) for nth in range(rows)],
            "deep": [[["w"] * (nth % 2)] * (nth % 3) for nth in range(rows)],
            "gaps": [None if nth % 7 else str(nth) for nth in range(rows)],
        }
    )


@pytest.mark.parametrize("codec", ["none", "snappy", "gzip", "brotli", "lz4", "zstd"])
@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("use_dictionary", [True, False])
def test_rows_are_counted_in_pages_of_every_kind(
    tmp_path: Path, codec: str, version: str, use_dictionary: bool
) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(
        table(1000),
        path,
        compression=codec,
        data_page_version=version,
        use_dictionary=use_dictionary,
        max_rows_per_page=300,
        write_batch_size=100,
        row_group_size=700,
    )
    file = pq.ParquetFile(path)
    for column in range(4):
        for group, rows in ((0, [300, 300, 100]), (1, [300])):
            pages = read_pages(path, file, group, column)
            assert [page.kind for page in pages if page.kind != "data"] == (
                ["dictionary"] if use_dictionary else []
            )
            assert [page.rows for page in pages if page.kind == "data"] == rows
            assert {page.version for page in pages if page.kind == "data"} == {int(version[0])}


@pytest.mark.parametrize("there", [True, False])
def test_checksums_and_statistics_are_seen(tmp_path: Path, there: bool) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(table(10), path, write_page_checksum=there, write_statistics=there)
    pages = read_pages(path, pq.ParquetFile(path), 0, 0)
    assert {page.has_checksum for page in pages} == {there}
    assert {page.has_statistics for page in pages if page.kind == "data"} == {there}


def test_encodings_have_their_names(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    encodings = {"number": "DELTA_BINARY_PACKED", "gaps": "DELTA_BYTE_ARRAY"}
    pq.write_table(table(10), path, use_dictionary=False, column_encoding=encodings)
    file = pq.ParquetFile(path)
    assert [read_pages(path, file, 0, at)[0].encoding for at in (0, 1, 3)] == [
        "DELTA_BINARY_PACKED",
        "PLAIN",
        "DELTA_BYTE_ARRAY",
    ]


def test_a_damaged_page_is_an_error_that_names_file_and_column(tmp_path: Path) -> None:
    path = tmp_path / "bad.parquet"
    pq.write_table(table(100), path)
    file = pq.ParquetFile(path)
    whole = bytearray(path.read_bytes())
    start = file.metadata.row_group(0).column(1).dictionary_page_offset
    whole[start : start + 20] = b"\xff" * 20
    path.write_bytes(bytes(whole))
    with pytest.raises(CorpusError, match=r"bad\.parquet: damaged page in column 'words"):
        read_pages(path, file, 0, 1)


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 3), st.integers(1, 30)), max_size=8))
def test_zeros_are_counted_in_runs_and_in_packed_bits(runs: list[tuple[bool, int, int]]) -> None:
    packed, numbers = b"", []
    for is_run, value, length in runs:
        if is_run:
            packed += bytes([length << 1, value])
            numbers += [value] * length
        else:
            eight = [(value + nth) % 4 for nth in range(8)]
            bits = sum(number << 2 * nth for nth, number in enumerate(eight))
            packed += bytes([1 << 1 | 1]) + bits.to_bytes(2, "little")
            numbers += eight
    assert count_zeros(packed, 2, len(numbers)) == numbers.count(0)
    assert count_zeros(packed, 2, len(numbers) // 2) == numbers[: len(numbers) // 2].count(0)
