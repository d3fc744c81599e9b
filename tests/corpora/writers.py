"""Parquet files as the usual libraries write them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq


def write_pandas(table: Any, path: Path) -> None:
    pd.DataFrame(table.to_pandas()).to_parquet(path)


def write_polars(table: Any, path: Path) -> None:
    pl.DataFrame(table).write_parquet(path, row_group_size=3000, data_page_size=1 << 18)


def write_duckdb(table: Any, path: Path) -> None:
    _copy(table, path, "row_group_size 4096")


def write_duckdb_2(table: Any, path: Path) -> None:
    _copy(table, path, "parquet_version v2, compression zstd")


def _copy(table: Any, path: Path, options: str) -> None:
    with duckdb.connect() as connection:
        connection.register("dataset", table)
        connection.execute(f"copy (from dataset) to '{path}' (format parquet, {options})")


def write_datasets(table: Any, path: Path) -> None:
    datasets = _import_datasets()
    datasets.Dataset(datasets.table.InMemoryTable(table)).to_parquet(path, batch_size=4000)


def _import_datasets() -> Any:
    import datasets

    datasets.disable_progress_bars()
    return datasets


def write_pyarrow(table: Any, path: Path) -> None:
    pq.write_table(
        table,
        path,
        data_page_version="2.0",
        write_page_checksum=True,
        max_rows_per_page=1500,
        row_group_size=4000,
        bloom_filter_options={"code": {"ndv": 4000, "fpp": 0.01}},
        sorting_columns=[pq.SortingColumn(0)],
        compression="zstd",
    )


def write_small_pages(table: Any, path: Path) -> None:
    pq.write_table(table, path, data_page_size=1 << 16, use_dictionary=False, compression="lz4")


def write_categories(table: Any, path: Path) -> None:
    """Code and language as categories in alphabetical order, as pandas makes them."""
    frame = table.to_pandas()
    frame["code"] = frame["code"].astype("category")
    frame["language"] = frame["language"].astype("category")
    pq.write_table(pa.Table.from_pandas(frame), path, row_group_size=2000)


WRITERS: dict[str, Callable[[Any, Path], None]] = {
    "pandas": write_pandas,
    "polars": write_polars,
    "duckdb": write_duckdb,
    "duckdb, version 2": write_duckdb_2,
    "datasets": write_datasets,
    "pyarrow": write_pyarrow,
    "small pages": write_small_pages,
    "categories": write_categories,
}
