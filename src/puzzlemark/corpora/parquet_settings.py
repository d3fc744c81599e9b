"""The settings of the writer that made a Parquet file, as far as the file tells them.

What pyarrow cannot write again is named in docs/datasets.md.
"""

import json
import math
from collections.abc import Iterable, Sequence, Set
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from puzzlemark.corpora.parquet_pages import Page, read_pages

CHUNKING = b"content_defined_chunking"  # how `datasets` records it in the footer
BATCH_ROWS = 1024  # pyarrow looks at the size of a page after so many rows
PAGE_BYTES = 1 << 20  # pyarrow's own limits
PAGE_ROWS = 20_000


def writer_options(path: Path, file: Any, changing: Set[str]) -> dict[str, Any]:
    """The options of `pq.ParquetWriter` for a file like this one, some columns of it changed."""
    metadata = file.metadata
    options: dict[str, Any] = {
        "version": _version(file),
        "store_schema": b"ARROW:schema" in (metadata.metadata or {}),
    }
    if not metadata.num_row_groups:
        return options
    group = metadata.row_group(0)
    chunks = [group.column(at) for at in range(group.num_columns)]
    pages = [_data_pages(read_pages(path, file, 0, at)) for at in range(group.num_columns)]
    changing_chunks = {
        c.path_in_schema for c in chunks if c.path_in_schema.split(".")[0] in changing
    }
    sorted_by = {chunks[key.column_index].path_in_schema for key in group.sorting_columns}
    encodings = {chunk.path_in_schema: _plain_encoding(chunk) for chunk in chunks}
    chunking = _chunking(metadata)
    return options | {
        "compression": {c.path_in_schema: _codec(c.compression) for c in chunks},
        "use_dictionary": [c.path_in_schema for c in chunks if c.has_dictionary_page] or False,
        "column_encoding": {path: name for path, name in encodings.items() if name} or None,
        "write_statistics": [c.path_in_schema for c in chunks if c.is_stats_set] or False,
        "write_page_index": any(chunk.has_offset_index for chunk in chunks),
        "use_deprecated_int96_timestamps": any(c.physical_type == "INT96" for c in chunks),
        "store_decimal_as_integer": _has_whole_decimals(file.schema),
        "use_compliant_nested_type": not any(".list.item" in c.path_in_schema for c in chunks),
        "sorting_columns": None if sorted_by & changing_chunks else group.sorting_columns or None,
        "bloom_filter_options": _bloom_filters(chunks) or None,
        "use_content_defined_chunking": chunking,
        **_page_options(pages, _largest_group(metadata), chunked=bool(chunking)),
    }


def footer_entries(file: Any) -> dict[bytes, bytes]:
    """What stands in the footer, but not in the schema, so that writing the schema loses it."""
    kept = file.schema_arrow.metadata or {}
    entries = (file.metadata.metadata or {}).items()
    return {key: value for key, value in entries if key != b"ARROW:schema" and key not in kept}


def _version(file: Any) -> str:
    """The version that the footer declares, unless pyarrow would then write another schema."""
    declared = str(file.metadata.format_version)
    for version in (declared, "2.4"):
        written = _written_schema(file.schema_arrow, version, _has_whole_decimals(file.schema))
        if _columns(written) == _columns(file.schema):
            return version
    return "2.6"


def _written_schema(schema: Any, version: str, whole_decimals: bool) -> Any:
    sink = pa.BufferOutputStream()
    with pq.ParquetWriter(sink, schema, version=version, store_decimal_as_integer=whole_decimals):
        pass
    return pq.ParquetFile(sink.getvalue()).schema


def _columns(schema: Any) -> list[tuple[str, str | None]]:
    """What an older version writes in another way: small unsigned integers, nanoseconds."""
    columns = [schema.column(at) for at in range(len(schema))]
    units = (json.loads(column.logical_type.to_json()).get("timeUnit") for column in columns)
    return [(column.physical_type, unit) for column, unit in zip(columns, units, strict=True)]


def _has_whole_decimals(schema: Any) -> bool:
    columns = [schema.column(at) for at in range(len(schema))]
    return any(
        column.logical_type.type == "DECIMAL" and column.physical_type.startswith("INT")
        for column in columns
    )


def _codec(name: str) -> str:
    return "NONE" if name == "UNCOMPRESSED" else name


def _plain_encoding(chunk: Any) -> str | None:
    special = [name for name in chunk.encodings if name.startswith(("DELTA_", "BYTE_STREAM_SPLIT"))]
    return None if chunk.has_dictionary_page or not special else str(special[0])


def _chunking(metadata: Any) -> dict[str, int] | bool:
    """`datasets` cuts pages where the content says so, and notes it in the footer."""
    try:
        noted = json.loads((metadata.metadata or {}).get(CHUNKING, b"false"))
    except ValueError:
        return False
    if not isinstance(noted, dict):
        return noted is True
    known = {"min_chunk_size", "max_chunk_size", "norm_level"}
    usable = {"min_chunk_size", "max_chunk_size"} <= noted.keys() <= known
    return noted if usable and all(type(size) is int for size in noted.values()) else False


def _bloom_filters(chunks: Iterable[Any]) -> dict[str, dict[str, Any]]:
    """Filters as large as those of the file; nothing else of their settings can be seen."""
    found: dict[str, dict[str, Any]] = {}
    for chunk in chunks:
        if chunk.bloom_filter_offset is None:
            continue
        # a power of two, behind a header of some bytes
        size = 1 << ((chunk.bloom_filter_length or 1 << 10).bit_length() - 1)
        # For so rare false positives pyarrow takes the next power of two above three quarters of
        # the size, and never folds the filter because fewer values came than were announced.
        rare = (1 - math.exp(-8 / (0.75 * 8 * size))) ** 8
        found[chunk.path_in_schema] = {"ndv": 1, "fpp": rare}
    return found


def _data_pages(pages: Iterable[Page]) -> list[Page]:
    return [page for page in pages if page.kind == "data"]


def _largest_group(metadata: Any) -> int:
    sizes = (metadata.row_group(at).num_rows for at in range(metadata.num_row_groups))
    return int(max(sizes))


def _page_options(
    columns: Sequence[Sequence[Page]], group_rows: int, *, chunked: bool
) -> dict[str, Any]:
    """Kind and size of the pages, from those of the first row group."""
    pages = list(chain.from_iterable(columns))
    rows = max((page.rows for page in pages), default=0)
    cut = [page for column in columns for page in column[:-1]]
    by_rows = any(page.rows == rows for page in cut)
    options: dict[str, Any] = {
        "data_page_version": "2.0" if any(page.version == 2 for page in pages) else "1.0",
        "write_page_checksum": any(page.has_checksum for page in pages),
        "max_rows_per_page": rows if by_rows else max(PAGE_ROWS, group_rows),
    }
    if chunked:
        return options
    # a page of indices into a dictionary may also end because the dictionary is full
    plain = [page for page in pages if "DICTIONARY" not in page.encoding]
    cut = [page for page in cut if page in plain and not (by_rows and page.rows == rows)]
    return options | {"data_page_size": _page_size(cut, plain)}


def _page_size(cut: Sequence[Page], pages: Sequence[Page]) -> int:
    """The limit that ended the pages that were cut by their size, a power of two."""
    if not cut:
        return max(PAGE_BYTES, 1 << max((page.size for page in pages), default=0).bit_length())
    most = min(page.size for page in cut) * 21 // 20  # some writers aim at the limit
    # had the limit been lower, a page would have ended one batch of rows earlier
    least = max(page.size * (page.rows - BATCH_ROWS) // max(1, page.rows) for page in cut)
    if least < PAGE_BYTES <= most:
        return PAGE_BYTES
    return 1 << (max(most, 1).bit_length() - 1)
