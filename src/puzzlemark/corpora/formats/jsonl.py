"""JSON Lines, plain or packed: untouched lines are copied, touched ones edited in place."""

import hashlib
import json
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from puzzlemark.corpora.derived import InnerEdits, NewValue, TextEdits
from puzzlemark.corpora.formats.base import Additions, Fields, Job, require_code
from puzzlemark.corpora.kinds import Value
from puzzlemark.corpora.lines import (
    BLOCK_BYTES,
    PACKINGS,
    Habits,
    Sink,
    Span,
    Spelling,
    edit_literal,
    find_inside,
    find_members,
    find_strings,
    is_plain,
    packing_of,
    read_blocks,
    write_blocks,
)
from puzzlemark.corpora.records import BATCH_RECORDS, Batch, Columns, Record, Rows, choose_rows
from puzzlemark.corpora.revising import Reviser, Revision, Tally
from puzzlemark.corpora.shards import Shard
from puzzlemark.errors import CorpusError

EXTENSIONS = tuple(
    ending + packing for ending in (".jsonl", ".ndjson") for packing in ("", *PACKINGS)
)

NOTE, NOTED_BLOCKS = "written/file.json", 16  # it is noted every so many blocks how far it came
_BOM = b"\xef\xbb\xbf"


def head(shard: Shard) -> Record | None:
    """The first record."""
    for number, line in _numbered_records(shard):
        return decode_line(line, shard.name, number)
    return None


def count(shard: Shard) -> int:
    """How many lines are records: all but blank ones."""
    return sum(_count_records(block) for block in read_blocks(shard.path))


def batches(
    shard: Shard,
    columns: Columns,
    language: str | None,
    *,
    start: int,
    rows: Rows | None,
    whole: bool,  # noqa: ARG001 - a line always has every column
) -> Generator[Batch, None, int]:
    """Stream the lines undecoded."""
    row, first_line = start, 1
    for block in read_blocks(shard.path):
        lines = block.split(b"\n")
        places = [at for at, line in enumerate(lines) if not _is_blank(line)]
        chosen = choose_rows(rows, row, len(places))
        for some in (
            chosen[at : at + BATCH_RECORDS] for at in range(0, len(chosen), BATCH_RECORDS)
        ):
            picked = [places[at] for at in some.tolist()]
            payload = b"\n".join([lines[at] for at in picked])
            numbers = np.asarray(picked, dtype=np.int64) + first_line
            yield Batch("jsonl", shard.name, start, some + row, numbers, payload, columns, language)
        row += len(places)
        first_line += len(lines) - 1
        if rows is not None and (not len(rows) or row > rows[-1]):
            break
    return row - start


def decode(batch: Batch) -> list[Record]:
    """The records of a batch; each must have the code column."""
    return decode_records(batch, split(batch))


def decode_records(batch: Batch, spelled: Iterable[bytes]) -> list[Record]:
    """The records that are spelled so, in a batch that knows where each begins."""
    assert batch.lines is not None
    code = batch.columns.field
    records: list[Record] = []
    numbers: list[int] = batch.lines.tolist()
    for number, line in zip(numbers, spelled, strict=True):
        record = decode_line(line, batch.shard, number)
        if code not in record:
            fields = ", ".join(record)
            raise CorpusError(
                f"{batch.shard}:{number}: no field {code!r} (it has {fields}); pass --code-column"
            )
        if batch.columns.id is not None and isinstance(record.get(batch.columns.id), float):
            # orjson reads an integer beyond 64 bits as a float
            record = _decode_leniently(line.removeprefix(_BOM), f"{batch.shard}:{number}")
        records.append(record)
    return records


def split(batch: Batch) -> list[bytes]:
    """The lines of a batch."""
    return batch.payload.split(b"\n")


def write(job: Job, additions: Additions = ()) -> Iterator[Tally]:
    """Copy the shard block by block, editing the lines that change; then add lines."""
    done = _Done.find(job)
    habits: Habits | None = None
    yield done.tally
    with write_blocks(job.place, done.written) as out:
        for block in read_blocks(job.shard.path, done.read, done.lines + 1):
            row = job.start + done.rows
            if job.rows is not None and (not len(job.rows) or row > job.rows[-1]):
                break
            lines = block.split(b"\n")
            places = [at for at, line in enumerate(lines) if not _is_blank(line)]
            kept = choose_rows(job.rows, row, len(places)).tolist()
            revisions: list[Revision] = []
            changed = block
            if job.reviser is not None:
                habits = habits or Habits(block if not done.read else _first_block(job.shard))
                for each in job.reviser.rows_in(row, row + len(places)):
                    at = places[each - row]
                    where = f"{job.shard.name}:{done.lines + 1 + at}"
                    lines[at], revision = revise_line(lines[at], each, job.reviser, habits, where)
                    revisions.append(revision)
            if job.rows is not None:
                changed = b"".join([lines[places[at]] + b"\n" for at in kept])
            elif revisions:
                changed = b"\n".join(lines)
            out.write(changed)
            tally = Tally.of(len(kept), revisions, job.columns.field)
            yield tally
            done.add(block, changed, len(places), len(lines) - 1, tally)
            if done.blocks % NOTED_BLOCKS == 0:
                done.note(job, out)
        done.note(job, out)
        yield from _add(out, additions, job.columns.field, is_ended=done.is_ended)


def goes_on(name: str) -> bool:
    """Whether a half-written file can be gone on with: the state of a compressor is not kept."""
    return packing_of(name) is None


@dataclass(slots=True)
class _Done:
    """How far a file is written."""

    read: int = 0  # bytes of the shard
    written: int = 0  # bytes of the target
    rows: int = 0  # of the shard
    lines: int = 0
    is_ended: bool = True  # whether the last byte ends a line
    tally: Tally = field(default_factory=Tally)
    digest: Any = field(default_factory=hashlib.sha256)  # of what is written
    blocks: int = 0

    @classmethod
    def find(cls, job: Job) -> "_Done":
        """What an interrupted run has done, if that is there as it was; else nothing."""
        content = None if job.notes is None else job.notes.find(NOTE)
        if content is None or not job.place.is_file():
            return cls()
        facts = orjson.loads(content)
        digest, left = hashlib.sha256(), facts["written"]
        with job.place.open("rb") as stream:
            while some := stream.read(min(left, BLOCK_BYTES)):
                digest.update(some)
                left -= len(some)
        if left or digest.hexdigest() != facts.pop("digest"):
            return cls()
        tally = Tally.from_json(facts.pop("tally"))
        return cls(**facts, tally=tally, digest=digest)

    def add(self, block: bytes, changed: bytes, rows: int, lines: int, tally: Tally) -> None:
        """A block of the shard, and what was made of it."""
        self.read += len(block)
        self.written += len(changed)
        self.rows += rows
        self.lines += lines
        self.is_ended = changed.endswith(b"\n") if changed else self.is_ended
        self.tally += tally
        self.digest.update(changed)
        self.blocks += 1

    def note(self, job: Job, out: Any) -> None:
        """Keep it, for a run that may have to go on from here."""
        if job.notes is None:
            return
        out.flush()
        names = ("read", "written", "rows", "lines", "is_ended")
        facts = {name: getattr(self, name) for name in names}
        facts |= {"tally": self.tally.to_json(), "digest": self.digest.hexdigest()}
        job.notes.keep(NOTE, orjson.dumps(facts))


def _first_block(shard: Shard) -> bytes:
    """Habits are those of the first block, whichever is the first to be written."""
    return next(read_blocks(shard.path))


def create(
    target: Path,
    additions: Additions,
    fields: Fields | None,  # noqa: ARG001 - a line names its columns
) -> Iterator[Tally]:
    """Write each record as a line."""
    with write_blocks(target) as out:
        yield from _add(out, additions)


def _add(
    out: Sink, additions: Additions, code: str | None = None, *, is_ended: bool = True
) -> Iterator[Tally]:
    """Lines of another dataset keep their bytes, other records are spelled as JSON."""
    number = 0
    for each in additions:
        if (
            isinstance(each, Batch)
            and each.format == "jsonl"
            and code in (None, each.columns.field)
            and each.places is None
        ):
            lines, count = each.payload.removeprefix(_BOM) + b"\n", len(each.rows)
        else:
            records = each.records() if isinstance(each, Batch) else [each]
            require_code(records, code, number)
            spelled = [spell_record(record, number + at) for at, record in enumerate(records)]
            lines, count = b"".join([line + b"\n" for line in spelled]), len(records)
        out.write(lines if is_ended else b"\n" + lines)
        is_ended = True
        number += count
        yield Tally(added=count)


def spell_record(record: Record, number: int) -> bytes:
    """A record that is added, as JSON."""
    try:
        return orjson.dumps(dict(record))
    except TypeError:
        pass  # long integers and lone surrogates, which JSON can spell, or what it cannot
    try:
        return json.dumps(dict(record), separators=(",", ":")).encode()
    except (TypeError, ValueError) as exc:
        raise CorpusError(
            f"added record {number}: cannot be written as JSON ({exc}); convert its cells, or "
            "leave them out"
        ) from exc


def revise_line(
    line: bytes, row: int, reviser: Reviser, habits: Habits, where: str
) -> tuple[bytes, Revision]:
    """A record with its changes, spelled as it was."""
    shard, _, number = where.rpartition(":")
    record = decode_line(line, shard, int(number))
    if reviser.columns.field not in record:
        raise CorpusError(f"{where}: no field {reviser.columns.field!r}; pass --code-column")
    revision = reviser.revise(row, record, where)
    members = find_members(line, len(_BOM) if line.startswith(_BOM) else 0)
    # what is plain is spelled alike by every writer
    spelling = Spelling() if _is_plain(revision) else habits.spelling.learn(line)
    refused: list[str] = []
    patches: list[tuple[Span, bytes]] = []
    for column, spans in _patches(line, revision, members, spelling):
        if spans is None:
            refused.append(column)
        else:
            patches += spans
    return _patch(line, patches), revision.without(refused)


def _is_plain(revision: Revision) -> bool:
    for change in revision.cells.values():
        if isinstance(change, TextEdits | InnerEdits):
            every = change.items if isinstance(change, TextEdits) else change.texts
            texts = [edit.new for edits in every.values() for edit in edits]
        else:
            values = (change.old, change.new)
            texts = [value.encode() for value in values if isinstance(value, str)]
        if not all(map(is_plain, texts)):
            return False
    return True


def _patches(
    line: bytes, revision: Revision, members: dict[str, Span], spelling: Spelling
) -> Iterator[tuple[str, list[tuple[Span, bytes]] | None]]:
    """For each column the new literals of its changed parts; None when it cannot be spelled."""
    for column, change in revision.cells.items():
        start, end = members[column]
        if isinstance(change, NewValue):
            fits = _spell_value(change.old, spelling) == line[start:end]
            yield column, [((start, end), _spell_value(change.new, spelling))] if fits else None
            continue
        if isinstance(change, InnerEdits):
            spans = [find_inside(line, start, at) for at in change.texts]
            yield (
                column,
                [
                    (span, edit_literal(line[slice(*span)], edits, spelling))
                    for span, edits in zip(spans, change.texts.values(), strict=True)
                ],
            )
            continue
        items = find_strings(line, (start, end)) if line[start] == ord("[") else [(start, end)]
        yield (
            column,
            [
                (items[item], edit_literal(line[slice(*items[item])], edits, spelling))
                for item, edits in change.items.items()
            ],
        )


def _spell_value(value: Value, spelling: Spelling) -> bytes:
    return b'"%b"' % spelling.spell(value) if isinstance(value, str) else repr(value).encode()


def _patch(line: bytes, patches: Iterable[tuple[Span, bytes]]) -> bytes:
    pieces: list[bytes] = []
    at = 0
    for (start, end), literal in sorted(patches):
        pieces += (line[at:start], literal)
        at = end
    return b"".join((*pieces, line[at:]))


def decode_line(line: bytes, shard: str, number: int) -> dict[str, Any]:
    """The record of a line; a damaged one is a CorpusError."""
    where = f"{shard}:{number}"
    if number == 1:
        line = line.removeprefix(_BOM)
    try:
        record = orjson.loads(line)
    except orjson.JSONDecodeError:
        record = _decode_leniently(line, where)
    if not isinstance(record, dict):
        raise CorpusError(f"{where}: not a JSON object; each line must be one record in braces")
    return record


def _decode_leniently(line: bytes, where: str) -> Any:
    """Also lone surrogates, NaN and Infinity, which many writers of JSON produce."""
    try:
        return json.loads(line.decode())
    except UnicodeDecodeError as exc:
        raise CorpusError(
            f"{where}: not valid UTF-8 at byte {exc.start}; convert the file"
        ) from exc
    except RecursionError as exc:
        raise CorpusError(
            f"{where}: nested too deep, about 1,000 levels are read; flatten or remove the record"
        ) from exc
    except ValueError as exc:
        raise CorpusError(f"{where}: not a JSON object ({exc}); repair or remove the line") from exc


def _numbered_records(shard: Shard) -> Iterator[tuple[int, bytes]]:
    first_line = 1
    for block in read_blocks(shard.path):
        lines = block.split(b"\n")
        for number, line in enumerate(lines, first_line):
            if not _is_blank(line):
                yield number, line
        first_line += len(lines) - 1


def _count_records(block: bytes) -> int:
    return sum(not _is_blank(line) for line in block.split(b"\n"))


def _is_blank(line: bytes) -> bool:
    return not line or line.isspace() or (len(line) < 8 and line.strip() == _BOM)
