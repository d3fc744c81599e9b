"""Records: which columns we read, batches that are cheap to send, entries, and digests of them.

A digest of a corpus is the same for any batching, sharding, format and compression.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from puzzlemark import plugins
from puzzlemark.corpora.kinds import fitting_hashes, is_certain
from puzzlemark.corpora.nested import FENCED, ROLES, CodePath, Piece, is_path, parse_steps
from puzzlemark.errors import UsageError
from puzzlemark.languages.base import find_by_path

Record: TypeAlias = Mapping[str, Any]
Rows: TypeAlias = NDArray[np.int64]

BATCH_BYTES = 1 << 20
BATCH_RECORDS = 1024

CODE = ("code", "func_code_string", "whole_func_string", "original_string", "content", "text")
# Hashes of the content (`hexsha`, `blob_id`) are no ids here: they change with the code.
ID = tuple(
    "id ID Id _id task_id snippet_id sample_id problem_id uid uuid guid idx index "
    "url func_code_url func_url".split()
)
LANGUAGE = ("language", "lang", "programming_language")
# where the file stood: says the language of records that do not, by how its name ends
PATH = tuple("path file_path filepath file_name filename func_path_in_repository".split())
# a text with code in it, and the text of a message
ANSWERS = tuple("response output answer completion solution chosen".split())
SPOKEN = ("content", "value", "text")
PROJECT = tuple(
    "repo repository repo_name repository_name project project_name nwo repo_full_name "
    "max_stars_repo_name".split()
)


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns we read; the others pass through."""

    code: str
    id: str | None = None
    language: str | None = None
    project: str | None = None  # whose code it is; read only by who asks for it
    path: str | None = None  # says the language of records that do not
    file: str | None = None  # where the code stood in its project; read beside it
    inner: CodePath | None = None  # where `code` is a path into a column, or names fenced code

    @property
    def field(self) -> str:
        """The column that the code stands in: of `messages[].content` it is `messages`."""
        return self.code if self.inner is None else self.inner.column

    @property
    def tell_language(self) -> bool:
        """Whether records say their language: in a column, by a path, or on a fence."""
        inner = self.inner is not None and (self.inner.fenced or self.inner.language is not None)
        return inner or self.language is not None or self.path is not None

    @property
    def names(self) -> tuple[str, ...]:
        """All of them, each once."""
        language = self.language
        if self.inner is not None and self.inner.language is not None:
            language = str(self.inner.language[0])
        wanted = (self.field, self.id, language, self.project, self.path, self.file)
        return tuple(dict.fromkeys(name for name in wanted if name is not None))

    def to_json(self) -> dict[str, str | None]:
        """The columns by what they hold; that of the projects only where it is read.

        Those of the paths and files are found again by their names.
        """
        named = asdict(self)
        del named["path"], named["file"], named["inner"]
        return {name: value for name, value in named.items() if name != "project" or value}


@dataclass(frozen=True, slots=True)
class Entry:
    """What we need of one record; `reason` says why its code cannot be used."""

    row: int  # in the whole dataset, from 0
    id: str
    code: str | None
    language: str | None
    reason: str | None = None
    project: str = ""  # whose code it is, where the column of projects is read
    file: str = ""  # where it stood in the project, where that column is read


@dataclass(frozen=True, slots=True)
class Places:
    """Which snippets of which records a batch has; an item for each of its rows."""

    records: Rows  # the record, from 0 in the batch,
    owners: Rows  # and in the dataset
    numbers: Rows  # which of the record's snippets, from 0

    def only(self, at: int) -> "Places":
        """The same for one row, in a batch of its own."""
        some = slice(at, at + 1)
        return Places(np.zeros(1, np.int64), self.owners[some], self.numbers[some])


@dataclass(frozen=True, slots=True)
class Batch:
    """Some records of one shard, still undecoded."""

    format: str
    shard: str
    start: int  # the dataset's row number of the shard's first record
    rows: Rows
    lines: Rows | None  # line numbers from 1, where the format has lines
    payload: bytes
    columns: Columns
    language: str | None
    places: "Places | None" = None  # where a record holds several snippets: which of them these are

    def records(self) -> list[Record]:
        """The records as mappings; a damaged one is a CorpusError that says where it stands.

        One for each row: a record with several snippets comes once for each of them.
        """
        decoded: list[Record] = plugins.find("corpora.formats", self.format).decode(self)
        if self.places is not None:
            decoded = [decoded[at] for at in self.places.records.tolist()]
        assert len(decoded) == len(self.rows)
        return decoded

    def entries(self, records: Sequence[Record] | None = None) -> list[Entry]:
        """The snippets' ids, codes and languages, in order; no record is left out.

        Whoever has the batch's `records` already saves decoding them again.
        """
        rows: list[int] = self.rows.tolist()
        records = self.records() if records is None else records
        if self.places is not None:
            return list(self._nested_entries(rows, records))
        return [self.entry(row, record) for row, record in zip(rows, records, strict=True)]

    def _nested_entries(self, rows: list[int], records: Sequence[Record]) -> Iterator[Entry]:
        """Each record is searched for its snippets once."""
        assert self.places is not None
        last: Record | None = None
        pieces: list[Piece] = []
        numbers = self.places.numbers.tolist()
        for row, number, record in zip(rows, numbers, records, strict=True):
            if record is not last:
                last, pieces = record, self._pieces(record)
            yield self._nested_entry(row, number, record, pieces)

    def _pieces(self, record: Record) -> list[Piece]:
        assert self.columns.inner is not None
        return self.columns.inner.pieces(record)

    def owners(self) -> tuple[list[int], list[int | None]]:
        """For each row its record in the dataset, and which of the record's snippets it is."""
        if self.places is None:
            return self.rows.tolist(), [None] * len(self.rows)
        return self.places.owners.tolist(), self.places.numbers.tolist()

    def split(self) -> "list[Batch]":
        """One batch for each row."""
        payloads: list[bytes] = plugins.find("corpora.formats", self.format).split(self)
        if self.places is not None:
            return [
                replace(
                    self,
                    rows=self.rows[at : at + 1],
                    lines=None if self.lines is None else self.lines[record : record + 1],
                    payload=payloads[record],
                    places=self.places.only(at),
                )
                for at, record in enumerate(self.places.records.tolist())
            ]
        return [
            replace(
                self,
                rows=self.rows[at : at + 1],
                lines=None if self.lines is None else self.lines[at : at + 1],
                payload=payload,
            )
            for at, payload in enumerate(payloads)
        ]

    def describe(self) -> str:
        """Where its first record stands: `train.jsonl:812 (id 'f17')`, or a row of the shard."""
        where = (
            f"{self.shard}: row {self._first_record() - self.start}"
            if self.lines is None
            else f"{self.shard}:{self.lines[0]}"
        )
        return f"{where} (id {self.entries()[0].id!r})"

    @property
    def name(self) -> str:
        """By its rows, to keep its results under."""
        return f"{self.rows[0]}-{self.rows[-1]}"

    def _first_record(self) -> int:
        return int(self.rows[0] if self.places is None else self.places.owners[0])

    def entry(self, row: int, record: Record) -> Entry:
        """One of them, from its decoded record."""
        if self.places is not None:
            number = int(self.places.numbers[np.searchsorted(self.rows, row)])
            return self._nested_entry(row, number, record, self._pieces(record))
        columns = self.columns
        code, reason = _read_code(record[columns.code])
        language = self._language(record)
        if language is None and reason is None:
            reason = "no language"
        name = self._id(row, record.get(columns.id) if columns.id is not None else None)
        reason = reason or _why_nameless(name)
        return Entry(row, name, code, language, reason, *self._place(record))

    def _nested_entry(self, row: int, number: int, record: Record, pieces: list[Piece]) -> Entry:
        """The snippet that is number so and so of its record, called `id#number`."""
        assert self.places is not None
        piece = pieces[number]
        code, reason = (None, piece.reason) if piece.code is None else _read_code(piece.code)
        language = piece.language
        if language is None:
            fenced = self.columns.inner is not None and self.columns.inner.fenced
            language = self.language if fenced else self._language(record)
            if language is None and reason is None:
                reason = piece.reason or "no language"
        name = record.get(self.columns.id) if self.columns.id is not None else None
        owner = self._id(int(self.places.owners[np.searchsorted(self.rows, row)]), name)
        reason = reason or _why_nameless(owner)
        return Entry(row, f"{owner}#{number}", code, language, reason, *self._place(record))

    def _language(self, record: Record) -> str | None:
        columns = self.columns
        spoken = record.get(columns.language) if columns.language is not None else None
        language = spoken if isinstance(spoken, str) and spoken else None
        if language is None and columns.path is not None:
            language = _language_by_path(record.get(columns.path))
        return language or self.language

    def _place(self, record: Record) -> tuple[str, str]:
        """Whose code it is, and in which file it stood, as far as that is read."""
        return _text(record, self.columns.project), _text(record, self.columns.file)

    def _id(self, row: int, cell: Any) -> str:
        if type(cell) is str:
            return cell
        if cell is None:
            return f"row:{row}"  # no file name in it: the output and its shards may be renamed
        return cell.decode("utf-8", "replace") if isinstance(cell, bytes) else str(cell)


def recognise(
    head: Mapping[str, Any],
    where: str,
    *,
    code: str | None = None,
    id: str | None = None,  # noqa: A002
    language: str | None = None,
) -> Columns:
    """The columns of a dataset whose first record is `head`; named ones are taken at their word."""
    if code is not None and code not in head and is_path(code):
        return _recognise_inner(head, where, code, id, language)
    for option, name in (("code", code), ("id", id), ("language", language)):
        if name is not None and name not in head:
            raise UsageError(f"{where}: no column {name!r} for --{option}-column; {_listing(head)}")
    code = code or next((name for name in CODE if _may_be_text(head, name)), None)
    if code is None:
        spoken = _find_conversation(head)
        answer = next((name for name in ANSWERS if isinstance(head.get(name), str)), None)
        hint = f" {spoken!r} --fenced" if spoken else ""
        if answer is not None and not spoken:
            hint = (
                f" {answer}, and --fenced if the code stands between the fences of a Markdown text"
            )
        raise UsageError(
            f"{where}: no column looks like code; {_listing(head)}; pass --code-column{hint}"
        )
    id = id or next((name for name in ID if _may_be_id(head, name, code)), None)  # noqa: A001
    language = language or next((name for name in LANGUAGE if name in head), None)
    path = next((name for name in PATH if isinstance(head.get(name), str)), None)
    return Columns(code, id, language, path=path)


def _recognise_inner(
    head: Mapping[str, Any],
    where: str,
    code: str,
    id: str | None,  # noqa: A002
    language: str | None,
) -> Columns:
    """The same for code that stands inside a column."""
    if code == FENCED:
        found = _find_conversation(head) or next(
            (name for name in (*ANSWERS, *CODE) if isinstance(head.get(name), str)), None
        )
        if found is None:
            raise UsageError(
                f"{where}: no column looks like a text with code; {_listing(head)}; "
                "pass --code-column"
            )
        code = found + FENCED
    inner = CodePath.parse(code, head)
    if inner.column not in head:
        raise UsageError(
            f"{where}: no column {inner.column!r} for --code-column {code}; {_listing(head)}"
        )
    if id is not None and id not in head:
        raise UsageError(f"{where}: no column {id!r} for --id-column; {_listing(head)}")
    if language is not None and language not in head:
        steps = parse_steps(language)
        if steps[0] not in head or len(steps) == 1:
            raise UsageError(
                f"{where}: no column {language!r} for --language-column; {_listing(head)}"
            )
        inner = replace(inner, language=steps)
    elif language is None and not inner.fenced and inner.steps:
        inner = replace(inner, language=_language_beside(head, inner))
    if inner.language is None:
        language = language or next((name for name in LANGUAGE if name in head), None)
    id = id or next((name for name in ID if name in head), None)  # noqa: A001
    path = next((name for name in PATH if isinstance(head.get(name), str)), None)
    return Columns(code, id, language, path=path, inner=inner)


def _language_beside(head: Mapping[str, Any], inner: CodePath) -> tuple[Any, ...] | None:
    """The path of a field with a usual name for languages, in the same struct as the code."""
    before = (inner.column, *inner.steps[:-1])
    for name in LANGUAGE if isinstance(inner.steps[-1], str) else ():
        beside = replace(inner, language=(*before, name))
        if any(beside.language_of(head, cell) for cell in inner.cells(head)):
            return beside.language
    return None


def _find_conversation(head: Mapping[str, Any]) -> str | None:
    """The path of the texts of a conversation: `messages[].content`."""
    for name, cell in head.items():
        first = cell[0] if isinstance(cell, list) and cell else None
        if isinstance(first, Mapping) and any(isinstance(first.get(each), str) for each in ROLES):
            text = next((key for key in SPOKEN if isinstance(first.get(key), str)), None)
            if text is not None:
                return f"{name}[].{text}"
    return None


def _language_by_path(cell: Any) -> str | None:
    found = find_by_path(cell) if isinstance(cell, str) else None
    return None if found is None else found.name


def choose_rows(rows: Rows | None, start: int, length: int) -> Rows:
    """Which of the records `start` to `start + length` are among the sorted rows, from 0."""
    if rows is None:
        return np.arange(length, dtype=np.int64)
    first, last = np.searchsorted(rows, (start, start + length))
    return rows[first:last] - start


def _text(record: Record, column: str | None) -> str:
    """What a column says, as text; nothing where it is not read, or says nothing."""
    said = record.get(column) if column is not None else None
    return said if isinstance(said, str) else "" if said is None else str(said)


def _read_code(cell: Any) -> tuple[str | None, str | None]:
    if isinstance(cell, bytes):
        try:
            cell = cell.decode()
        except UnicodeDecodeError:
            return None, "code is not valid UTF-8"
    if cell is None:
        return None, "null code"
    if not isinstance(cell, str):
        return None, "code is not text"
    if not cell or cell.isspace():
        return cell, "empty code"
    if not cell.isascii() and not _is_encodable(cell):
        return cell, "code is not valid Unicode"
    return cell, None


def _why_nameless(name: str) -> str | None:
    """Why a record cannot be named in a manifest; JSON can spell what is no text."""
    return None if name.isascii() or _is_encodable(name) else "id is not valid Unicode"


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:  # a lone surrogate
        return False
    return True


def _may_be_text(head: Mapping[str, Any], name: str) -> bool:
    return name in head and (head[name] is None or isinstance(head[name], str | bytes))


def _may_be_id(head: Mapping[str, Any], name: str, code: str) -> bool:
    # an id that is a hash of the code would change with it
    text = head[code]
    if name not in head or not isinstance(text, str) or not isinstance(head[name], str):
        return name in head
    content = text.encode("utf-8", "replace").decode()  # without lone surrogates
    return not (is_certain(head[name]) and any(fitting_hashes(content, head[name])))


def _listing(head: Mapping[str, Any]) -> str:
    return f"its columns are {', '.join(map(str, head)) or 'none'}"


@dataclass(slots=True)
class Index:
    """How many records each file of a dataset has, and which snippets they hold, once read."""

    firsts: Rows | None = None
    counts: dict[str, int] = field(default_factory=dict)  # by the name of the shard


def count_snippets(counts: Iterable[Iterable[int]]) -> Rows:
    """The row of each record's first snippet, and the one after the last, from their numbers."""
    every = np.fromiter((count for some in counts for count in some), np.int64)
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(every)))


def owners_of(firsts: Rows, rows: Rows) -> Rows:
    """The records that hold the snippets of these rows."""
    return np.asarray(np.searchsorted(firsts, rows, side="right") - 1, dtype=np.int64)


def with_places(batch: Batch, firsts: Rows, rows: Rows | None) -> Batch:
    """A batch of records as one of their snippets, of which only some rows may be wanted."""
    starts, counts = firsts[batch.rows], firsts[batch.rows + 1] - firsts[batch.rows]
    at = np.repeat(np.arange(len(batch.rows), dtype=np.int64), counts)
    within = np.arange(len(at), dtype=np.int64) - np.repeat(np.cumsum(counts) - counts, counts)
    snippets = starts[at] + within
    if rows is not None:
        wanted = np.isin(snippets, rows)
        at, within, snippets = at[wanted], within[wanted], snippets[wanted]
    return replace(batch, rows=snippets, places=Places(at, batch.rows[at], within))


RECORD_BYTES = 16


def record_digest(id: str, code: str | None) -> bytes:  # noqa: A002
    """Sixteen bytes for one record; a null code and an empty code differ."""
    # JSON can spell a lone surrogate, which strict UTF-8 refuses
    name = id.encode("utf-8", "surrogatepass")
    state = hashlib.blake2b(digest_size=RECORD_BYTES)
    # the length keeps ("ab", "c") apart from ("a", "bc")
    state.update(len(name).to_bytes(8, "little") + name)
    if code is not None:
        state.update(b"\x01" + code.encode("utf-8", "surrogatepass"))
    return state.digest()


def corpus_digest(records: bytes | memoryview | Iterable[bytes]) -> str:
    """Hexadecimal SHA-256 of the records' digests in dataset order, concatenated or one by one."""
    state = hashlib.sha256()
    for piece in (records,) if isinstance(records, bytes | memoryview) else records:
        state.update(piece)
    return state.hexdigest()
