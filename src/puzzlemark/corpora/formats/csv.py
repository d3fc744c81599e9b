"""CSV and TSV with a line of column names: only the cells that change get other bytes.

Quotation marks, line ends, blank lines and the way numbers are spelled stay as they are.
"""

import re
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np

from puzzlemark.corpora.derived import CellChange, NewValue, TextEdits
from puzzlemark.corpora.formats.base import Additions, Fields, Job, require_code
from puzzlemark.corpora.kinds import Numeral
from puzzlemark.corpora.lines import PACKINGS, Sink, Span, read_blocks, write_blocks
from puzzlemark.corpora.records import BATCH_RECORDS, Batch, Columns, Record, Rows, choose_rows
from puzzlemark.corpora.revising import Revision, Tally
from puzzlemark.corpora.shards import Shard
from puzzlemark.errors import CorpusError
from puzzlemark.snippet import Edit, in_order

EXTENSIONS = tuple(ending + packing for ending in (".csv", ".tsv") for packing in ("", *PACKINGS))
BESIDE = True  # where a folder has another format's files, these hold something else

_BOM = b"\xef\xbb\xbf"
_BETWEEN = b"\0"  # in a batch; no text file holds it


@dataclass(frozen=True, slots=True)
class _Row:
    raw: bytes  # with its line end
    line: int


@dataclass(frozen=True, slots=True)
class _Dialect:
    """The first line: column names, and what stands between cells."""

    raw: bytes
    names: tuple[str, ...]
    delimiter: bytes


def head(shard: Shard) -> Record | None:
    """The first record."""
    dialect, rows = _open(shard)
    first = next(rows, None)
    return None if first is None else _record(first.raw, dialect, f"{shard.name}:{first.line}")


def count(shard: Shard) -> int:
    """How many records, however many lines they have."""
    return sum(1 for _ in _open(shard)[1])


def batches(
    shard: Shard,
    columns: Columns,
    language: str | None,
    *,
    start: int,
    rows: Rows | None,
    whole: bool,  # noqa: ARG001 - a record always has every column
) -> Generator[Batch, None, int]:
    """Stream the records undecoded, the line of names before them."""
    dialect, waiting = _open(shard)
    _require(columns, dialect, shard)
    row = start
    while some := list(islice(waiting, BATCH_RECORDS)):
        chosen = choose_rows(rows, row, len(some))
        if len(chosen):
            picked = [some[at] for at in chosen.tolist()]
            payload = _BETWEEN.join([dialect.raw, *(each.raw for each in picked)])
            numbers = np.array([each.line for each in picked], np.int64)
            yield Batch("csv", shard.name, start, chosen + row, numbers, payload, columns, language)
        row += len(some)
        if rows is not None and (not len(rows) or row > rows[-1]):
            break
    return row - start


def decode(batch: Batch) -> list[Record]:
    """The records of a batch."""
    assert batch.lines is not None
    first, *rest = batch.payload.split(_BETWEEN)
    dialect = _dialect(first, batch.shard)
    texts = frozenset({batch.columns.field, batch.columns.id, batch.columns.language})
    return [
        _record(raw, dialect, f"{batch.shard}:{line}", texts)
        for raw, line in zip(rest, batch.lines.tolist(), strict=True)
    ]


def split(batch: Batch) -> list[bytes]:
    """Each record with the line of names."""
    first, *rest = batch.payload.split(_BETWEEN)
    return [_BETWEEN.join((first, raw)) for raw in rest]


def write(job: Job, additions: Additions = ()) -> Iterator[Tally]:
    """Copy the file record by record, editing the cells that change; then add records."""
    dialect, waiting = _open(job.shard, blanks=job.rows is None)
    _require(job.columns, dialect, job.shard)
    end = b"\r\n" if dialect.raw.endswith(b"\r\n") else b"\n"
    row, is_ended = job.start, dialect.raw.endswith(b"\n")
    with write_blocks(job.place) as out:
        out.write(dialect.raw)
        for each in waiting:
            if _is_blank(each.raw):
                out.write(each.raw)
                continue
            is_kept = bool(len(choose_rows(job.rows, row, 1)))
            raw, revisions = each.raw, list[Revision]()
            if is_kept and job.reviser is not None and job.reviser.rows_in(row, row + 1):
                raw, revision = _revise(each, row, job, dialect)
                revisions.append(revision)
            if is_kept:
                out.write(raw if is_ended else end + raw)
                is_ended = raw.endswith(b"\n")
            yield Tally.of(int(is_kept), revisions, job.columns.field)
            row += 1
        yield from _add(out, additions, dialect, end, job.columns.field, is_ended=is_ended)


def create(target: Path, additions: Additions, fields: Fields | None) -> Iterator[Tally]:
    """Write a file whose columns are the fields, or those of the first record."""
    waiting = iter(additions)
    names = list(fields or ())
    if fields is None:
        first = next(waiting, None)
        records = first.records() if isinstance(first, Batch) else [] if first is None else [first]
        names = list(records[0]) if records else []
        waiting = chain([] if first is None else [first], waiting)
    delimiter = _usual_delimiter(target.name)
    raw = delimiter.join(_spell(name, delimiter) for name in names) + b"\n"
    with write_blocks(target) as out:
        out.write(raw)
        yield from _add(out, waiting, _Dialect(raw, tuple(names), delimiter), b"\n", None)


def _add(
    out: Sink,
    additions: Additions,
    dialect: _Dialect,
    end: bytes,
    code: str | None,
    *,
    is_ended: bool = True,
) -> Iterator[Tally]:
    number = 0
    for each in additions:
        records = each.records() if isinstance(each, Batch) else [each]
        require_code(records, code, number)
        for record in records:
            if unknown := sorted(set(record) - set(dialect.names)):
                raise CorpusError(
                    f"added record {number}: the file has no column {unknown[0]!r}; leave it out"
                )
            cells = [_spell(record.get(name), dialect.delimiter) for name in dialect.names]
            out.write((b"" if is_ended else end) + dialect.delimiter.join(cells) + end)
            is_ended = True
            number += 1
        yield Tally(added=len(records))


def _spell(value: Any, delimiter: bytes) -> bytes:
    if value is None:
        return b""
    if not isinstance(value, str | int | float):
        raise CorpusError(f"a cell of CSV holds text or a number, not {type(value).__name__}")
    text = str(value).encode("utf-8", "surrogatepass")
    special = any(sign in text for sign in (delimiter, b'"', b"\n", b"\r"))
    return b'"%b"' % text.replace(b'"', b'""') if special else text


def _revise(each: _Row, row: int, job: Job, dialect: _Dialect) -> tuple[bytes, Revision]:
    assert job.reviser is not None
    where = f"{job.shard.name}:{each.line}"
    texts = frozenset({job.columns.field, job.columns.id, job.columns.language})
    record = _record(each.raw, dialect, where, texts)
    revision = job.reviser.revise(row, record, where)
    spans = dict(zip(dialect.names, _spans(each.raw, dialect.delimiter, where), strict=True))
    pieces: list[bytes] = []
    at = 0
    for (start, end), change in sorted(
        ((spans[name], change) for name, change in revision.cells.items()), key=lambda pair: pair[0]
    ):
        pieces += (each.raw[at:start], _changed(each.raw[start:end], change, dialect.delimiter))
        at = end
    return b"".join((*pieces, each.raw[at:])), revision


def _changed(cell: bytes, change: CellChange, delimiter: bytes) -> bytes:
    is_quoted = cell.startswith(b'"')
    if not isinstance(change, TextEdits):
        assert isinstance(change, NewValue), "a cell of CSV has no cells inside"
        new = str(change.new).encode()
        return b'"%b"' % new if is_quoted else new
    edits = in_order(change.items.get(0, ()))
    special = any(sign in edit.new for edit in edits for sign in (delimiter, b'"', b"\n", b"\r"))
    if special and not is_quoted:
        cell, is_quoted = b'"%b"' % cell, True
    pieces: list[bytes] = []
    at = 0
    for edit, (start, end) in zip(edits, _places(cell, edits, is_quoted), strict=True):
        new = edit.new.replace(b'"', b'""') if is_quoted else edit.new
        pieces += (cell[at:start], new)
        at = end
    return b"".join((*pieces, cell[at:]))


def _places(cell: bytes, edits: Sequence[Edit], is_quoted: bool) -> Iterator[Span]:
    """Where the edits of a text stand in its cell, in which each quotation mark is doubled."""
    if not is_quoted:
        yield from ((edit.start, edit.end) for edit in edits)
        return
    doubled = [at - nth for nth, at in enumerate(_doubled(cell))]  # in the text
    for edit in edits:
        before = sum(at < edit.start for at in doubled)
        inside = sum(edit.start <= at < edit.end for at in doubled)
        start = 1 + edit.start + before
        yield start, start + len(edit.old) + inside


def _doubled(cell: bytes) -> list[int]:
    """Where pairs of quotation marks begin, counted from the cell's first character."""
    return [match.start() for match in re.finditer(b'""', cell[1:-1])]


def _open(shard: Shard, *, blanks: bool = False) -> tuple[_Dialect, Iterator[_Row]]:
    """The line of names, and the records after it; blank lines only where they are wanted."""
    rows = _rows(shard)
    first = next(rows, None)
    if first is None:
        raise CorpusError(f"{shard.path}: empty; the first line must name the columns")
    dialect = _dialect(first.raw, shard.name)
    return dialect, (row for row in rows if blanks or not _is_blank(row.raw))


def _rows(shard: Shard) -> Iterator[_Row]:
    """The lines, joined where a line feed stands between quotation marks."""
    waiting: list[bytes] = []
    quotes, line, first = 0, 0, 1
    for block in read_blocks(shard.path):
        if _BETWEEN in block:
            raise CorpusError(f"{shard.path}: holds a NUL byte, so it is no text in UTF-8")
        for each in block.splitlines(keepends=True) if b"\r" not in block else _lines(block):
            line += 1
            first = first if waiting else line
            waiting.append(each)
            quotes += each.count(b'"')
            if quotes % 2 == 0:
                yield _Row(b"".join(waiting), first)
                waiting, quotes = [], 0
    if waiting:
        raise CorpusError(
            f"{shard.name}:{first}: a quotation mark opens here and is never closed; repair the "
            f"record, or write the file anew: {_ANEW.format(shard.path.name)}"
        )


_ANEW = (
    'python -c "import pandas as pd; '
    "pd.read_csv('{0}').to_json('data.jsonl', orient='records', lines=True)\""
)


def _lines(block: bytes) -> list[bytes]:
    """Lines that end in a line feed; a carriage return alone ends none."""
    return [line for line in re.split(rb"(?<=\n)", block) if line]


@lru_cache(maxsize=32)
def _dialect(raw: bytes, shard: str) -> _Dialect:
    delimiter = _usual_delimiter(shard)
    if delimiter == b"," and b"," not in raw and b";" in raw:
        delimiter = b";"
    bare = raw.removeprefix(_BOM)
    names = [_text(bare[a:b], f"{shard}:1") for a, b in _spans(bare, delimiter, f"{shard}:1")]
    if len(set(names)) < len(names):
        raise CorpusError(f"{shard}: two columns have the same name; rename one")
    return _Dialect(raw, tuple(names), delimiter)


def _usual_delimiter(name: str) -> bytes:
    return b"\t" if ".tsv" in name.lower() else b","


def _spans(raw: bytes, delimiter: bytes, where: str) -> list[Span]:
    """Where the cells of a record stand, with their quotation marks."""
    end = len(raw.removesuffix(b"\n").removesuffix(b"\r"))
    quoted, plain = _patterns(delimiter)
    spans: list[Span] = []
    at = 0
    while True:
        match = (quoted if raw.startswith(b'"', at) else plain).match(raw, at, end)
        after = -1 if match is None else match.end()
        if after < 0 or (after < end and raw[after : after + 1] != delimiter):
            raise CorpusError(
                f"{where}: a quotation mark inside a cell without them; repair the record, or "
                "write the file anew with a CSV library"
            )
        spans.append((at, after))
        if after >= end:
            return spans
        at = after + 1


@lru_cache(maxsize=4)
def _patterns(delimiter: bytes) -> tuple[re.Pattern[bytes], re.Pattern[bytes]]:
    return re.compile(rb'"(?:[^"]|"")*"', re.DOTALL), re.compile(rb'[^"%b]*' % delimiter, re.DOTALL)


def _record(
    raw: bytes, dialect: _Dialect, where: str, texts: frozenset[str | None] = frozenset()
) -> dict[str, Any]:
    spans = _spans(raw, dialect.delimiter, where)
    if len(spans) != len(dialect.names):
        raise CorpusError(
            f"{where}: {len(spans)} cells, but {len(dialect.names)} columns; repair the record"
        )
    cells = [_text(raw[start:end], where) for start, end in spans]
    return {
        name: cell if name in texts else _value(cell)
        for name, cell in zip(dialect.names, cells, strict=True)
    }


def _text(cell: bytes, where: str) -> str:
    if cell.startswith(b'"'):
        cell = cell[1:-1].replace(b'""', b'"')
    try:
        return cell.decode()
    except UnicodeDecodeError as exc:
        raise CorpusError(
            f"{where}: not valid UTF-8; convert the file: iconv -f latin1 -t utf-8 OLD > NEW"
        ) from exc


def _value(text: str) -> str | int | float:
    """A number where it is spelled as Python spells it: then it can be computed again."""
    whole = Numeral.of(text)
    if not isinstance(whole, str):
        return whole
    if not text[:1].isdigit() and text[:1] != "-":
        return text
    try:
        value = float(text)
    except ValueError:
        return text
    return value if repr(value) == text else text


def _require(columns: Columns, dialect: _Dialect, shard: Shard) -> None:
    if columns.field not in dialect.names:
        names = ", ".join(dialect.names)
        raise CorpusError(
            f"{shard.name}: no column {columns.field!r} (it has {names}); pass --code-column"
        )
    if columns.inner is not None and columns.inner.steps:
        raise CorpusError(f"{shard.name}: a cell of CSV is a text; nothing is inside of it")


def _is_blank(raw: bytes) -> bool:
    return not raw.strip(b"\r\n")
