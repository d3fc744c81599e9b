"""Records: which columns we read, batches that are cheap to send, entries, and digests of them.

A digest of a corpus is the same for any batching, sharding, format and compression.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from puzzlemark import plugins
from puzzlemark.corpora.kinds import fitting_hashes, is_certain
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
    path: str | None = None  # read only where no column says the language of the first record

    @property
    def names(self) -> tuple[str, ...]:
        """All of them, each once."""
        wanted = (self.code, self.id, self.language, self.project, self.path)
        return tuple(dict.fromkeys(name for name in wanted if name is not None))

    def to_json(self) -> dict[str, str | None]:
        """The columns by what they hold; that of the projects only where it is read.

        That of the paths is found again by its name.
        """
        named = asdict(self)
        del named["path"]
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

    def records(self) -> list[Record]:
        """The records as mappings; a damaged one is a CorpusError that says where it stands."""
        decoded: list[Record] = plugins.find("corpora.formats", self.format).decode(self)
        assert len(decoded) == len(self.rows)
        return decoded

    def entries(self) -> list[Entry]:
        """The records' ids, codes and languages, in order; no record is left out."""
        rows: list[int] = self.rows.tolist()
        return [self.entry(row, record) for row, record in zip(rows, self.records(), strict=True)]

    def split(self) -> "list[Batch]":
        """One batch for each record."""
        payloads: list[bytes] = plugins.find("corpora.formats", self.format).split(self)
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
            f"{self.shard}: row {self.rows[0] - self.start}"
            if self.lines is None
            else f"{self.shard}:{self.lines[0]}"
        )
        return f"{where} (id {self.entries()[0].id!r})"

    def entry(self, row: int, record: Record) -> Entry:
        """One of them, from its decoded record."""
        columns = self.columns
        code, reason = _read_code(record[columns.code])
        spoken = record.get(columns.language) if columns.language is not None else None
        language = spoken if isinstance(spoken, str) and spoken else None
        if language is None and columns.path is not None:
            language = _language_by_path(record.get(columns.path))
        language = language or self.language
        if language is None and reason is None:
            reason = "no language"
        name = record.get(columns.id) if columns.id is not None else None
        owner = record.get(columns.project) if columns.project is not None else None
        project = owner if isinstance(owner, str) else "" if owner is None else str(owner)
        return Entry(row, self._id(row, name), code, language, reason, project)

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
    for option, name in (("code", code), ("id", id), ("language", language)):
        if name is not None and name not in head:
            raise UsageError(f"{where}: no column {name!r} for --{option}-column; {_listing(head)}")
    code = code or next((name for name in CODE if _may_be_text(head, name)), None)
    if code is None:
        raise UsageError(
            f"{where}: no column looks like code; {_listing(head)}; pass --code-column"
        )
    id = id or next((name for name in ID if _may_be_id(head, name, code)), None)  # noqa: A001
    language = language or next((name for name in LANGUAGE if name in head), None)
    path = next((name for name in PATH if isinstance(head.get(name), str)), None)
    is_said = language is not None and isinstance(head[language], str) and head[language]
    return Columns(code, id, language, path=None if is_said else path)


def _language_by_path(cell: Any) -> str | None:
    found = find_by_path(cell) if isinstance(cell, str) else None
    return None if found is None else found.name


def choose_rows(rows: Rows | None, start: int, length: int) -> Rows:
    """Which of the records `start` to `start + length` are among the sorted rows, from 0."""
    if rows is None:
        return np.arange(length, dtype=np.int64)
    first, last = np.searchsorted(rows, (start, start + length))
    return rows[first:last] - start


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
