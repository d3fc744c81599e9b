"""Statistics and dictionaries name no value that no record has: an old code, say."""

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from puzzlemark.auditing.checks._parquet import chunks, groups, opened
from puzzlemark.auditing.checks.base import Evidence, Observation, View, not_applicable

ABOUT = "values in statistics and dictionaries"
VIEW: View = "marked"


def inspect(evidence: Evidence) -> Iterator[Observation]:
    """In columns that may have changed: smallest and largest value, unused dictionary values."""
    files, stale, unused = 0, 0, 0
    for shard in opened(evidence):
        files += 1
        names = [
            name for name in shard.after.schema_arrow.names if name in evidence.setting.following
        ]
        texts = [name for name in names if _is_text(shard.after.schema_arrow.field(name).type)]
        with pq.ParquetFile(shard.path, read_dictionary=texts) as indexed:
            for number, _, group in groups(shard.after):
                table = indexed.read_row_group(number, columns=names, use_threads=False)
                stale += sum(_is_stale(chunk, table) for chunk in chunks(group))
                unused += sum(_unused(table[name]) for name in texts)
        if unused:
            unused -= _unused_before(shard.before, texts)
    if not files:
        yield not_applicable("no file is Parquet")
        return
    numbers = {"stale statistics": stale, "unused dictionary values": max(0, unused)}
    if stale or unused > 0:
        stated = (
            f"{stale:,} statistics name a value that no record has, and dictionaries have "
            f"{max(0, unused):,} values more than before that no record uses"
        )
        yield Observation("tells", stated, numbers)
    else:
        yield Observation("ok", "every statistic and dictionary value is that of a record", numbers)


def _is_text(kind: Any) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return any(
        is_kind(kind)
        for is_kind in (
            pa.types.is_string,
            pa.types.is_large_string,
            pa.types.is_binary,
            pa.types.is_large_binary,
        )
    )


def _is_stale(chunk: Any, table: Any) -> bool:
    name = chunk.path_in_schema
    if name not in table.schema.names or not chunk.is_stats_set or not chunk.statistics.has_min_max:
        return False
    column = table[name]
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_nested(column.type):
        return False
    for is_view, plain in (
        (pa.types.is_string_view, pa.large_string()),
        (pa.types.is_binary_view, pa.large_binary()),
    ):
        if is_view(column.type):  # pyarrow compares no views
            column = column.cast(plain)
    seen = pc.min_max(column).as_py()
    stated = (chunk.statistics.min, chunk.statistics.max)
    return not (_is_bound(stated[0], seen["min"]) and _is_bound(stated[1], seen["max"]))


def _is_bound(stated: Any, seen: Any) -> bool:
    """The value itself, or the beginning of a long text, whose last character may be raised."""
    if stated == seen or seen is None:
        return True
    stated, seen = (x.encode() if isinstance(x, str) else x for x in (stated, seen))
    if isinstance(stated, bytes) and isinstance(seen, bytes):
        return len(stated) < len(seen) and stated[:-1] == seen[: len(stated) - 1]
    return isinstance(stated, float) and (stated != stated or abs(stated - seen) == 0)


def _unused(column: Any) -> int:
    found = 0
    for chunk in column.chunks:
        used = chunk.indices.drop_null().unique()
        values = chunk.dictionary.take(used) if len(used) else chunk.dictionary.slice(0, 0)
        found += len(chunk.dictionary.unique()) - len(values.unique())
    return found


def _unused_before(file: Any, names: list[str]) -> int:
    found = 0
    for number, *_ in groups(file):
        table = file.read_row_group(number, columns=names, use_threads=False)
        columns = (table[name] for name in names if pa.types.is_dictionary(table[name].type))
        found += sum(_unused(column) for column in columns)
    return found
