"""Compression, encodings, indexes and filters do not tell which row groups hold carriers."""

from collections.abc import Hashable, Iterable, Iterator
from typing import Any

from puzzlemark.auditing.checks._parquet import chunks, groups, opened
from puzzlemark.auditing.checks.base import (
    Evidence,
    Observation,
    View,
    compare_parts,
    not_applicable,
)
from puzzlemark.corpora.parquet_pages import Page, read_pages

ABOUT = "settings of the Parquet writer"
VIEW: View = "difference"


def inspect(evidence: Evidence) -> Iterator[Observation]:
    """For each column what changed in each row group; the same change in all tells nothing."""
    changes: dict[str, list[Hashable]] = {}
    carriers: dict[str, list[int]] = {}
    compression = 0
    for shard in opened(evidence):
        both = zip(groups(shard.before), groups(shard.after), strict=False)
        for (_, _, old), (number, first, new) in both:
            start = shard.start + first
            count = evidence.carriers_between(start, start + new.num_rows)
            for at, (before, after) in enumerate(zip(chunks(old), chunks(new), strict=False)):
                compression += before.compression != after.compression
                was = _describe(before, read_pages(shard.old_path, shard.before, number, at))
                now = _describe(after, read_pages(shard.path, shard.after, number, at))
                change = tuple((a, b) for a, b in zip(was, now, strict=True) if a != b)
                changes.setdefault(after.path_in_schema, []).append(change)
                carriers.setdefault(after.path_in_schema, []).append(count)
    if not changes:
        yield not_applicable("no file is Parquet")
        return
    if compression:
        message = f"{compression:,} columns of row groups are compressed in another way than before"
        yield Observation("tells", message, {"chunks": compression})
    uneven = [name for name in sorted(changes) if len(set(changes[name])) > 1]
    for name in uneven:
        what = f"settings of column {name!r}"
        yield compare_parts(changes[name], carriers[name], what, "row group")
    alike = [change for name, (change, *_) in changes.items() if name not in uneven]
    message = (
        f"of {len(changes):,} columns {len(alike):,} have the same change in every row group, "
        f"{sum(not change for change in alike):,} of these none"
    )
    yield Observation("ok", message, {"columns": len(changes), "alike": len(alike)})


def _describe(chunk: Any, pages: Iterable[Page]) -> tuple[Hashable, ...]:
    data = [page for page in pages if page.kind == "data"]
    return (
        frozenset(chunk.encodings),
        chunk.has_dictionary_page,
        chunk.is_stats_set,
        chunk.has_column_index,
        chunk.has_offset_index,
        chunk.bloom_filter_offset is not None,
        frozenset((page.version, page.has_checksum, page.has_statistics) for page in data),
    )
