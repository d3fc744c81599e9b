"""A JSON file that is one array of records: what stands between and in them keeps its bytes.

Many files called `.json` hold JSON Lines; these are read and written as such.
"""

import codecs
import json
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np

from puzzlemark.corpora.formats import jsonl
from puzzlemark.corpora.formats.base import Additions, Fields, Job, require_code
from puzzlemark.corpora.formats.jsonl import decode_line, decode_records, revise_line, spell_record
from puzzlemark.corpora.lines import (
    LONGEST_LINE,
    PACKINGS,
    Habits,
    Sink,
    read_pieces,
    write_blocks,
)
from puzzlemark.corpora.records import BATCH_RECORDS, Batch, Columns, Record, Rows, choose_rows
from puzzlemark.corpora.revising import Revision, Tally
from puzzlemark.corpora.shards import Shard
from puzzlemark.errors import CorpusError

EXTENSIONS = tuple(f".json{packing}" for packing in ("", *PACKINGS))
BESIDE = True  # where a folder has another format's files, these hold something else

_SPACE = " \t\r\n"
_BETWEEN = b"\0"  # in a batch; no JSON text holds it
_NEAR = 16  # an error so near to the end of what was read may be the end itself


@dataclass(frozen=True, slots=True)
class _Element:
    before: bytes  # what stands between the one before, or the start of the file, and this one
    spelled: bytes  # empty: the end of the file
    line: int


def head(shard: Shard) -> Record | None:
    """The first record."""
    if _has_lines(shard):
        return jsonl.head(shard)
    for element in _elements(shard):
        if element.spelled:
            return decode_line(element.spelled, shard.name, element.line)
    return None


def count(shard: Shard) -> int:
    """How many elements the array has."""
    if _has_lines(shard):
        return jsonl.count(shard)
    return sum(bool(element.spelled) for element in _elements(shard))


def batches(
    shard: Shard,
    columns: Columns,
    language: str | None,
    *,
    start: int,
    rows: Rows | None,
    whole: bool,
) -> Generator[Batch, None, int]:
    """Stream the elements undecoded."""
    if _has_lines(shard):
        return (
            yield from jsonl.batches(shard, columns, language, start=start, rows=rows, whole=whole)
        )
    row = start
    elements = (element for element in _elements(shard) if element.spelled)
    while some := list(islice(elements, BATCH_RECORDS)):
        chosen = choose_rows(rows, row, len(some))
        if len(chosen):
            picked = [some[at] for at in chosen.tolist()]
            payload = _BETWEEN.join([element.spelled for element in picked])
            numbers = np.array([element.line for element in picked], np.int64)
            yield Batch(
                "json", shard.name, start, chosen + row, numbers, payload, columns, language
            )
        row += len(some)
        if rows is not None and (not len(rows) or row > rows[-1]):
            break
    return row - start


def decode(batch: Batch) -> list[Record]:
    """The records of a batch; each must have the code column."""
    return decode_records(batch, split(batch))


def split(batch: Batch) -> list[bytes]:
    """The elements of a batch."""
    return batch.payload.split(_BETWEEN)


def write(job: Job, additions: Additions = ()) -> Iterator[Tally]:
    """Copy the file element by element, editing those that change; then add some."""
    if _has_lines(job.shard):
        yield from jsonl.write(job, additions)
        return
    row, is_first = job.start, True
    opening, between, end = b"[\n", b",\n", b"\n]\n"
    habits = Habits(b"")
    with write_blocks(job.place) as out:
        for element in _elements(job.shard):
            if not element.spelled:
                end = element.before
                break
            habits = habits if row > job.start else Habits(element.spelled)
            opening = element.before if row == job.start else opening
            between = element.before if row == job.start + 1 else between
            revisions: list[Revision] = []
            spelled = element.spelled
            is_kept = bool(len(choose_rows(job.rows, row, 1)))
            if is_kept and job.reviser is not None and job.reviser.rows_in(row, row + 1):
                where = f"{job.shard.name}:{element.line}"
                spelled, revision = revise_line(spelled, row, job.reviser, habits, where)
                revisions.append(revision)
            if is_kept:
                out.write((opening if is_first else element.before) + spelled)
                is_first = False
            yield Tally.of(int(is_kept), revisions, job.columns.field)
            row += 1
        first = opening if is_first else between
        yield from _add(out, additions, job.columns.field, first, between)
        out.write(end)


def create(
    target: Path,
    additions: Additions,
    fields: Fields | None,  # noqa: ARG001 - a record names its columns
) -> Iterator[Tally]:
    """Write an array with each record on a line of its own."""
    with write_blocks(target) as out:
        yield from _add(out, additions, None, b"[\n", b",\n")
        out.write(b"\n]\n")


def _add(
    out: Sink, additions: Additions, code: str | None, first: bytes, between: bytes
) -> Iterator[Tally]:
    number = 0
    for each in additions:
        records = each.records() if isinstance(each, Batch) else [each]
        require_code(records, code, number)
        for record in records:
            out.write(between if number else first)
            out.write(spell_record(record, number))
            number += 1
        yield Tally(added=len(records))


def _has_lines(shard: Shard) -> bool:
    """Whether the file holds JSON Lines: it begins with a brace, and its first line is whole."""
    start = next(read_pieces(shard.path), b"").removeprefix(codecs.BOM_UTF8).lstrip()
    if not start.startswith(b"{"):
        return False
    first, _, _ = start.partition(b"\n")
    try:
        json.loads(first)
    except ValueError as exc:
        raise CorpusError(
            f"{shard.path}: one JSON object, not an array of records; convert it, with the name of "
            f"its list: jq -c '.data[]' {shard.path.name} > {Path(shard.name).stem}.jsonl"
        ) from exc
    return True


def _elements(shard: Shard) -> Iterator[_Element]:
    """The elements of the array, then what stands after the last."""
    text = _Text(shard)
    line, before = 1, text.skip(_SPACE + "\ufeff")
    if text.peek() != "[":
        what = text.peek() or "nothing"
        raise CorpusError(f"{shard.path}: begins with {what}, not with an array of records")
    before += text.take(1) + text.skip(_SPACE)
    while text.peek() != "]":
        if not text.peek():
            raise CorpusError(f"{shard.path}: ends inside its array; fetch it again")
        line += before.count("\n")
        spelled = text.value(line)
        yield _Element(before.encode(), spelled.encode(), line)
        line += spelled.count("\n")
        before = text.skip(_SPACE)
        if text.peek() == ",":
            before += text.take(1) + text.skip(_SPACE)
            if text.peek() != "]":
                continue
        if text.peek() != "]":
            raise CorpusError(f"{shard.path}:{line}: no comma after a record; repair the file")
    rest = before + text.take(1) + text.skip(_SPACE)
    if text.peek():
        raise CorpusError(f"{shard.path}: something stands after its array; repair the file")
    yield _Element(rest.encode(), b"", line)


class _Text:
    """A text that is read from the front, as much at a time as is needed."""

    def __init__(self, shard: Shard) -> None:
        self._shard = shard
        self._pieces: Iterator[str] = _decoded(shard)
        self._text, self._at = "", 0
        self._decoder = json.JSONDecoder()

    def _more(self) -> bool:
        """Read on, at least as much as waits: a long value is tried again a few times only."""
        waiting = self._text[self._at :]
        if len(waiting) > LONGEST_LINE:
            raise CorpusError(
                f"{self._shard.path}: a record of more than {LONGEST_LINE >> 20} MiB; split it, or "
                "leave it out"
            )
        read: list[str] = []
        while sum(map(len, read)) <= len(waiting):
            piece = next(self._pieces, None)
            if piece is None:
                break
            read.append(piece)
        self._text, self._at = "".join((waiting, *read)), 0
        return bool(read)

    def peek(self) -> str:
        if self._at >= len(self._text):
            self._more()
        return self._text[self._at : self._at + 1]

    def take(self, length: int) -> str:
        taken = self._text[self._at : self._at + length]
        self._at += length
        return taken

    def skip(self, characters: str) -> str:
        skipped: list[str] = []
        while (char := self.peek()) and char in characters:
            skipped.append(self.take(1))
        return "".join(skipped)

    def value(self, line: int) -> str:
        """The next value, as it is spelled."""
        while True:
            try:
                _, end = self._decoder.raw_decode(self._text, self._at)
                if end < len(self._text) or not self._more():
                    return self.take(end - self._at)
            except RecursionError as exc:
                raise CorpusError(
                    f"{self._shard.path}:{line}: nested too deep; flatten or remove the record"
                ) from exc
            except json.JSONDecodeError as exc:
                is_cut = "Unterminated" in exc.msg or exc.pos >= len(self._text) - _NEAR
                if not is_cut or not self._more():
                    raise CorpusError(
                        f"{self._shard.path}:{line}: not valid JSON ({exc.msg}); repair the record"
                    ) from exc


def _decoded(shard: Shard) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder("utf-8")()
    pieces: Iterable[bytes] = read_pieces(shard.path)
    try:
        for piece in pieces:
            yield decoder.decode(piece)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError as exc:
        raise CorpusError(f"{shard.path}: not valid UTF-8; convert the file") from exc
