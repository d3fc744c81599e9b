"""Pages of a Parquet file do not begin at carriers."""

from collections.abc import Iterator
from itertools import accumulate

from puzzlemark.auditing.checks._parquet import chunks, groups, opened
from puzzlemark.auditing.checks.base import (
    Evidence,
    Observation,
    View,
    compare_touching,
    not_applicable,
)
from puzzlemark.corpora.parquet_pages import read_pages

ABOUT = "beginnings of Parquet pages"
VIEW: View = "marked"


def inspect(evidence: Evidence) -> Iterator[Observation]:
    """For each column the records beside the end of a page."""
    boundaries: dict[str, list[int]] = {}
    for shard in opened(evidence):
        for number, first, group in groups(shard.after):
            for at, chunk in enumerate(chunks(group)):
                pages = read_pages(shard.path, shard.after, number, at)
                rows = [page.rows for page in pages if page.kind == "data"]
                ends = accumulate(rows[:-1], initial=shard.start + first)
                next(ends)  # the beginning of the row group
                boundaries.setdefault(chunk.path_in_schema, []).extend(ends)
    if not boundaries:
        yield not_applicable("no file is Parquet")
    for name, inner in sorted(boundaries.items()):
        seen = compare_touching(evidence, inner, f"page end of column {name!r}", column=name)
        if seen.outcome != "not applicable":
            yield seen
    if boundaries and not any(boundaries.values()):
        yield not_applicable("no column has more than one page")
