"""A source file that carries marks: its text, its functions, and the way back to its bytes."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from puzzlemark.errors import UnparsableSnippet
from puzzlemark.harvesting.functions import (
    count_name,
    function_id,
    outermost_functions,
    qualified_name,
    why_incomplete,
)
from puzzlemark.languages.base import Language, find_by_path
from puzzlemark.snippet import Edit, Snippet, apply_edits
from puzzlemark.syntax.tree import Tree, parse
from puzzlemark.syntax.variables import Function, function_nodes, functions

_COOKIE = re.compile(rb"coding[:=][ \t]*([-\w.]+)")
WRITTEN_BACK = "its encoding cannot be written back exactly"


@dataclass(frozen=True, slots=True)
class Placed:
    """A function at its place: `Placed("a/b.py::Class.method", "a/b.py", ...)`."""

    id: str
    path: str
    name: str  # `Class.method`
    language: str
    start: int  # bytes of the file's text, in UTF-8
    code: bytes
    index: int  # its number among the functions of the file

    @property
    def group(self) -> tuple[str, str]:
        """What it shares with its namesakes in the file."""
        return self.path, self.name

    def at_file(self, edits: Iterable[Edit]) -> tuple[Edit, ...]:
        """Edits of its code as edits of its file's text."""
        return tuple(Edit(edit.start + self.start, edit.old, edit.new) for edit in edits)


@dataclass(frozen=True)
class SourceFile:
    """A file as text; `content` gives the bytes of a file with the same encoding."""

    path: str
    text: bytes  # in UTF-8
    encoding: str  # of the file, with its byte order mark if it has one
    language: Language

    @cached_property
    def tree(self) -> Tree:
        """The whole file, parsed."""
        return parse(Snippet(self.path, self.text.decode(), self.language.name))

    @cached_property
    def functions(self) -> tuple[Placed, ...]:
        """Functions that are not inside another one, in the order of the file."""
        numbers = {
            (node.start_byte, node.end_byte): number
            for number, node in enumerate(function_nodes(self.tree))
        }
        counter: Counter[str] = Counter()
        placed: list[Placed] = []
        for found in outermost_functions(self.tree):
            if why_incomplete(found) is not None:
                continue
            name, node = qualified_name(self.tree, found), found.node
            start, end = node.start_byte, node.end_byte
            placed.append(
                Placed(
                    function_id(self.path, name, count_name(counter, name)),
                    self.path,
                    name,
                    self.language.name,
                    start,
                    self.text[start:end],
                    numbers[start, end],
                )
            )
        return tuple(placed)

    @cached_property
    def resolved(self) -> tuple[Function, ...]:
        """Every function of the file with its variables, by all that the file tells."""
        return tuple(functions(self.tree))

    def edited(self, edits: Iterable[Edit]) -> "SourceFile":
        """The file after edits of its text."""
        changes = tuple(edits)
        return replace(self, text=apply_edits(self.text, changes)) if changes else self

    @property
    def content(self) -> bytes:
        """The bytes of the file."""
        return self.text.decode().encode(self.encoding)


def read_source(folder: Path, path: str) -> SourceFile | str:
    """A file of the repository, or why it cannot be used."""
    try:
        content = (folder / path).read_bytes()
    except OSError as exc:
        return (exc.strerror or "unreadable").lower()
    language = find_by_path(path)
    assert language is not None, "chosen by its extension"
    try:
        text = language.decode(content)
    except ValueError as exc:
        return str(exc)
    encoding = _encoding_of(content, text)
    if encoding is None:
        return WRITTEN_BACK
    file = SourceFile(path, text.encode(), encoding, language)
    try:
        return file if file.tree.offset == 0 else "not a whole file"
    except UnparsableSnippet as exc:
        return str(exc)


def _encoding_of(content: bytes, text: str) -> str | None:
    """The encoding that turns a text into just these bytes again."""
    said = (
        found[1].decode() for line in content.splitlines()[:2] for found in _COOKIE.finditer(line)
    )
    for encoding in ("utf-8", "utf-8-sig", *said):
        try:
            if text.encode(encoding) == content:
                return encoding
        except (LookupError, UnicodeEncodeError):
            continue
    return None


def digest(code: bytes) -> str:
    """By which a function is found again, wherever it went."""
    return hashlib.sha256(code).hexdigest()
