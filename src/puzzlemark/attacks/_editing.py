"""Attacks that change code snippet by snippet: the map over all of them, and where edits are kept.

An attack may change every record, so its edits are kept in a file and read back when the record is
written: memory holds some bytes a record, not its code.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TypeAlias

import orjson

from puzzlemark.attacks.base import Given, Plan, Spared
from puzzlemark.corpora.base import Batch, Corpus, Entry
from puzzlemark.corpora.records import Rows
from puzzlemark.detectors.base import snippet_of
from puzzlemark.errors import UnparsableSnippet
from puzzlemark.resuming import Kept, Work, keep_or_find
from puzzlemark.snippet import Edit, Snippet

Notes: TypeAlias = Mapping[int, tuple[str, ...]]  # row -> words about it, for its editor


@dataclass(frozen=True, slots=True)
class Edited:
    """What an editor made of a snippet; without edits it stays as it is."""

    edits: tuple[Edit, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)  # what was done, in words
    spared: str | None = None  # why nothing, or not all, was done


# A pure function of a snippet and of what is noted about it; engines send it to other processes.
Editor: TypeAlias = Callable[[Snippet, tuple[str, ...]], Edited]
# The same for many at once, where calling a tool for each would take long.
Together: TypeAlias = Callable[[Sequence[Snippet], Sequence[tuple[str, ...]]], Sequence[Edited]]
Reader: TypeAlias = Callable[[Entry], Snippet]


def edit_records(
    editor: Editor,
    corpus: Corpus,
    given: Given,
    *,
    rows: Rows | None = None,
    notes: Notes | None = None,
    stage: str = "editing",
    reader: Reader = snippet_of,
) -> Plan:
    """The plan that changes every record, or those of `rows`, as an editor says."""
    together = partial(_one_by_one, editor)
    return edit_together(
        together, corpus, given, rows=rows, notes=notes, stage=stage, reader=reader
    )


def edit_together(
    together: Together,
    corpus: Corpus,
    given: Given,
    *,
    rows: Rows | None = None,
    notes: Notes | None = None,
    stage: str = "editing",
    reader: Reader = snippet_of,
) -> Plan:
    """The same with an editor that takes the snippets of a batch together."""
    counts: Counter[str] = Counter()
    spared: Counter[str] = Counter()

    def edited() -> Iterator[tuple[int, bytes]]:
        done = 0
        works = (_Work(batch, _noted(batch, notes)) for batch in corpus.batches(rows))
        work = partial(_edit_batch, together, reader)
        kept = Kept(Work(given.cache), "parts/edits", _pack, _unpack)
        for result in keep_or_find(works, lambda some: given.engine.map(work, some), kept):
            done += result.records
            counts.update(result.counts)
            spared.update(result.spared)
            yield from result.lines
            given.progress(stage, done, None)

    changes = store_edits(given.cache / "edits", edited())
    return Plan(changes=changes, counts=counts, spared=spared)


def text_of(entry: Entry) -> Snippet:
    """The code of a record in any language, also one we know nothing of."""
    if entry.reason is not None or entry.code is None:
        raise UnparsableSnippet(entry.reason or "null code")
    return Snippet(entry.id, entry.code, entry.language or "")


def exchange(old: bytes, new: bytes) -> tuple[Edit, ...]:
    """The one edit that makes `new` of `old`: whole characters, without what both share."""
    if old == new:
        return ()
    start = next((n for n, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), None)
    start = min(len(old), len(new)) if start is None else start
    most = min(len(old), len(new)) - start
    end = next((n for n in range(most) if old[-1 - n] != new[-1 - n]), most)
    while start and (_is_inside(old, start) or _is_inside(new, start)):
        start -= 1
    while end and (_is_inside(old, len(old) - end) or _is_inside(new, len(new) - end)):
        end -= 1
    return (Edit(start, old[start : len(old) - end], new[start : len(new) - end]),)


def _is_inside(text: bytes, at: int) -> bool:
    """Whether a place is inside of a character of UTF-8."""
    return at < len(text) and text[at] & 0xC0 == 0x80


def store_edits(place: Path, lines: Iterable[tuple[int, bytes]]) -> "StoredEdits":
    """Keep the edits of rows, ascending, each as `spell_edits` spells them."""
    rows: list[int] = []
    starts = [0]
    with place.open("wb") as file:
        for row, line in lines:
            rows.append(row)
            starts.append(starts[-1] + file.write(line))
    return StoredEdits(place, rows, starts)


class StoredEdits(Mapping[int, tuple[Edit, ...]]):
    """The edits of many rows, read from a file when they are asked for."""

    def __init__(self, path: Path, rows: Sequence[int], starts: Sequence[int]) -> None:
        self._path = path
        self._rows = rows  # ascending
        self._starts = starts  # in the file, and its end

    def __getitem__(self, row: int) -> tuple[Edit, ...]:
        at = bisect_left(self._rows, row)
        if at == len(self._rows) or self._rows[at] != row:
            raise KeyError(row)
        with self._path.open("rb") as file:
            file.seek(self._starts[at])
            line = file.read(self._starts[at + 1] - self._starts[at])
        return _read(line)

    def __iter__(self) -> Iterator[int]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)


@dataclass(frozen=True, slots=True)
class _Work:
    """Some records, and what is noted about them: a batch that an engine can send and divide."""

    batch: Batch
    notes: Notes

    def split(self) -> "list[_Work]":
        return [_Work(each, _noted(each, self.notes)) for each in self.batch.split()]

    def describe(self) -> str:
        return self.batch.describe()

    @property
    def name(self) -> str:
        return self.batch.name


@dataclass(frozen=True, slots=True)
class _Done:
    """What became of a batch; a line for each record that changes."""

    records: int
    lines: list[tuple[int, bytes]]
    counts: Counter[str]
    spared: Counter[str]


def _noted(batch: Batch, notes: Notes | None) -> Notes:
    return {row: notes[row] for row in batch.rows.tolist() if row in notes} if notes else {}


def _edit_batch(together: Together, reader: Reader, work: _Work) -> list[_Done]:
    done = _Done(len(work.batch.rows), [], Counter(), Counter())
    rows: list[int] = []
    snippets: list[Snippet] = []
    for entry in work.batch.entries():
        try:
            snippets.append(reader(entry))
            rows.append(entry.row)
        except UnparsableSnippet as reason:
            done.spared[str(reason)] += 1
    noted = [work.notes.get(row, ()) for row in rows]
    for row, edited in zip(rows, together(snippets, noted), strict=True):
        done.counts.update(edited.counts)
        if edited.spared is not None:
            done.spared[edited.spared] += 1
        if edited.edits:
            done.lines.append((row, spell_edits(edited.edits)))
    return [done]


def _pack(parts: list[_Done]) -> bytes:
    """A line of JSON for each batch, and one for each of its records that change."""
    lines: list[bytes] = []
    for each in parts:
        rows = [row for row, _ in each.lines]
        lines.append(orjson.dumps([each.records, rows, each.counts, each.spared]))
        lines += (edits for _, edits in each.lines)
    return b"\n".join(lines)


def _unpack(content: bytes) -> list[_Done]:
    lines = iter(content.split(b"\n"))
    parts: list[_Done] = []
    for line in lines:
        records, rows, counts, spared = orjson.loads(line)
        edits = [(row, next(lines)) for row in rows]
        parts.append(_Done(records, edits, Counter(counts), Counter(spared)))
    return parts


def _one_by_one(
    editor: Editor, snippets: Sequence[Snippet], notes: Sequence[tuple[str, ...]]
) -> list[Edited]:
    return [_edit(editor, *each) for each in zip(snippets, notes, strict=True)]


def _edit(editor: Editor, snippet: Snippet, notes: tuple[str, ...]) -> Edited:
    try:
        return editor(snippet, notes)
    except (Spared, UnparsableSnippet) as reason:
        return Edited(spared=str(reason))


def spell_edits(edits: Sequence[Edit]) -> bytes:
    """One line for the edits of a record; they never cut a character in two."""
    return orjson.dumps([(each.start, each.old.decode(), each.new.decode()) for each in edits])


def _read(line: bytes) -> tuple[Edit, ...]:
    return tuple(Edit(start, old.encode(), new.encode()) for start, old, new in orjson.loads(line))
