"""Code that stands deeper in a record than a column: a path to it, and fences around it.

`messages[].content:fenced` is the code between the fences of each answer of a conversation. A
record then holds several snippets, or none. Each is known by its place in the record, from 0.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

from puzzlemark.errors import EditMismatch, UsageError
from puzzlemark.snippet import Edit, apply_edits, in_order

At: TypeAlias = tuple[str | int, ...]  # ("messages", 2, "content")

FENCED = ":fenced"
ROLES = ("role", "from")  # where a message says who speaks
ANSWERS = frozenset({"assistant", "gpt", "model"})

NO_CELL = "nothing at the path of the code"
NO_ANSWER = "no answer of an assistant"
NO_FENCE = "no fenced code"
UNSAID = "no language on the fence"

_STEP = re.compile(r"\.?([^.\[\]]+)|\[(\*?|-?\d+|[^\[\]=]+=[^\[\]=]+)\]")


@dataclass(frozen=True, slots=True)
class Items:
    """Items of a list: `[]` all, or the answers of a conversation; `[*]`; `[-1]`; `[role=user]`."""

    nth: int | None = None
    key: str | None = None
    values: frozenset[str] = frozenset()
    every: bool = False

    def chosen(self, cells: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        """Each such item with its place."""
        if self.nth is not None:
            at = self.nth if self.nth >= 0 else self.nth + len(cells)
            yield from [(at, cells[at])] if 0 <= at < len(cells) else []
            return
        for at, cell in enumerate(cells):
            if self.every or self._is_wanted(cell):
                yield at, cell

    def _is_wanted(self, cell: Any) -> bool:
        if not isinstance(cell, Mapping):
            return self.key is None
        if self.key is not None:
            return cell.get(self.key) in self.values
        spoken = [cell[name] for name in ROLES if isinstance(cell.get(name), str)]
        return not spoken or spoken[0].lower() in ANSWERS


Step: TypeAlias = str | Items


@dataclass(frozen=True, slots=True)
class Cell:
    """A text that a path leads to; `indices` are its places in the lists on the way."""

    at: At
    value: Any
    indices: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CodePath:
    """Where the code of a record stands: `CodePath.parse("messages[].content:fenced")`."""

    spelled: str
    column: str
    steps: tuple[Step, ...]
    fenced: bool
    language: tuple[Step, ...] | None = None  # the path of its language, through the same lists

    @staticmethod
    def parse(text: str, columns: Iterable[str] = ()) -> "CodePath":
        """A path as it is spelled; a column of that very name comes first."""
        bare = text.removesuffix(FENCED)
        if bare in columns:
            return CodePath(text, bare, (), text != bare)
        column, *steps = parse_steps(bare)
        assert isinstance(column, str)
        return CodePath(text, column, tuple(steps), text != bare)

    @property
    def is_deep(self) -> bool:
        """Whether it leads into a column, not only to it."""
        return bool(self.steps)

    def cells(self, record: Mapping[str, Any]) -> list[Cell]:
        """The texts at the path, in the order of the record."""
        found = [Cell((self.column,), record.get(self.column), ())]
        for step in self.steps:
            found = [inner for cell in found for inner in _inside(cell, step)]
        return [cell for cell in found if cell.value is not None]

    def language_of(self, record: Mapping[str, Any], cell: Cell) -> str | None:
        """What the record says of the language of a cell, where a path leads to it."""
        if self.language is None:
            return None
        value: Any = record
        indices = iter(cell.indices)
        for step in self.language:
            key = next(indices, None) if isinstance(step, Items) else step
            try:
                value = value[key]
            except (KeyError, IndexError, TypeError):
                return None
        return value if isinstance(value, str) and value else None

    def pieces(self, record: Mapping[str, Any]) -> "list[Piece]":
        """Every snippet of a record; one without code, which says why, where there is none."""
        cells = self.cells(record)
        found = [piece for cell in cells for piece in self._pieces(record, cell)]
        return found or [Piece((self.column,), None, None, self._why_none(record, cells))]

    def _pieces(self, record: Mapping[str, Any], cell: Cell) -> "Iterator[Piece]":
        if not self.fenced:
            yield Piece(cell.at, cell.value, self.language_of(record, cell))
            return
        text = cell.value
        if isinstance(text, bytes):
            try:
                text = text.decode()
            except UnicodeDecodeError:
                return
        if isinstance(text, str):
            for block in find_blocks(text):
                said = block.language or self.language_of(record, cell)
                reason = None if said else UNSAID
                yield Piece(cell.at, block.code, said, reason, block)

    def _why_none(self, record: Mapping[str, Any], cells: Sequence[Cell]) -> str:
        if cells:
            return NO_FENCE
        everyone = [Items(every=True) if isinstance(step, Items) else step for step in self.steps]
        every = CodePath(self.spelled, self.column, tuple(everyone), self.fenced)
        return NO_ANSWER if every.cells(record) else NO_CELL


@lru_cache(maxsize=64)
def parse_steps(text: str) -> tuple[Step, ...]:
    """`"messages[].content" -> ("messages", Items(), "content")`."""
    steps: list[Step] = []
    at = 0
    while at < len(text):
        match = _STEP.match(text, at)
        if match is None or (at == 0) != (match.group(1) is not None and match.start(1) == 0):
            raise UsageError(
                f"{text!r} is no path to code; spell it like 'messages[].content', "
                "'messages[*].content', 'messages[role=user].content' or 'answers[0].code'"
            )
        name, inside = match.groups()
        steps.append(name if name is not None else _items(inside))
        at = match.end()
    return tuple(steps)


def is_path(text: str) -> bool:
    """Whether a name is spelled like a path: one with brackets, dots or `:fenced`."""
    return text.endswith(FENCED) or any(sign in text for sign in ".[")


def _items(inside: str) -> Items:
    if inside in ("", "*"):
        return Items(every=inside == "*")
    if "=" in inside:
        key, _, values = inside.partition("=")
        return Items(key=key, values=frozenset(values.split("|")))
    return Items(nth=int(inside))


def _inside(cell: Cell, step: Step) -> Iterator[Cell]:
    if isinstance(step, str):
        if isinstance(cell.value, Mapping) and step in cell.value:
            yield Cell((*cell.at, step), cell.value[step], cell.indices)
    elif isinstance(cell.value, list | tuple):
        for at, inner in step.chosen(cell.value):
            yield Cell((*cell.at, at), inner, (*cell.indices, at))


@dataclass(frozen=True, slots=True)
class Block:
    """The code between two fences: line after line, without the indentation of the fence."""

    code: str
    language: str | None  # the first word after the opening fence
    indent: bytes
    starts: tuple[int, ...]  # where each line begins in the code, in bytes,
    raws: tuple[int, ...]  # and in the text around it

    def place(self, edit: Edit) -> tuple[int, int]:
        """Where the bytes of an edit of the code stand in the text."""
        start = self._raw(edit.start)
        return start, self._raw(edit.end - 1) + 1 if edit.old else start

    def _raw(self, offset: int) -> int:
        line = next(at for at in reversed(range(len(self.starts))) if self.starts[at] <= offset)
        return self.raws[line] + offset - self.starts[line]


@dataclass(frozen=True, slots=True)
class Piece:
    """One snippet of a record, and how its edits are those of the cell that it stands in."""

    at: At
    code: Any
    language: str | None
    reason: str | None = None  # why there is no code, or none that can be used
    block: Block | None = None

    def in_cell(self, cell: bytes, edits: Iterable[Edit]) -> tuple[Edit, ...]:
        """The edits of the snippet as edits of the text around it."""
        if self.block is None:
            return tuple(in_order(edits))
        moved: list[Edit] = []
        indented = b"\n" + self.block.indent
        for edit in in_order(edits):
            if edit.end > len(self.block.code.encode()):
                raise EditMismatch(f"byte {edit.start}: beyond the end of the code")
            start, end = self.block.place(edit)
            moved.append(Edit(start, cell[start:end], edit.new.replace(b"\n", indented)))
            code = self.block.code.encode()
            if code[edit.start : edit.end] != edit.old:
                apply_edits(code, [edit])  # raises, in the same words as for a flat column
        return tuple(moved)


_FENCE = re.compile(r"^([ \t]*)(`{3,}|~{3,})[ \t]*(.*?)[ \t\r]*$")
_WORD = re.compile(r"\{?\s*\.?([^\s{}:,;()\"'`=]+)")


def find_blocks(text: str) -> list[Block]:
    """The fenced code blocks of a Markdown text (CommonMark, also indented as in lists).

    `find_blocks("So:\\n```py\\nx = 1\\n```\\n")[0].code -> "x = 1\\n"`. A block without an end is
    none: what was cut off cannot be parsed.
    """
    if "```" not in text and "~~~" not in text:
        return []
    found: list[Block] = []
    opened: tuple[str, str, str] | None = None
    lines: list[tuple[int, str]] = []
    at = 0
    for line in text.split("\n"):
        fence = _FENCE.match(line)
        if opened is None:
            if fence is not None and not (fence[2][0] == "`" and "`" in fence[3]):
                opened, lines = (fence[1], fence[2], fence[3]), []
        elif fence is not None and not fence[3] and fence[2].startswith(opened[1]):
            found.append(_block(opened, lines))
            opened = None
        else:
            lines.append((at, line + "\n"))
        at += len(line.encode("utf-8", "surrogatepass")) + 1
    return found


def _block(opened: tuple[str, str, str], lines: Sequence[tuple[int, str]]) -> Block:
    indent, _, info = opened
    starts: list[int] = []
    raws: list[int] = []
    code: list[str] = []
    length = 0
    for raw, line in lines:
        skipped = _indentation(line, indent)
        starts.append(length)
        raws.append(raw + skipped)
        code.append(line[skipped:])
        length += len(line[skipped:].encode("utf-8", "surrogatepass"))
    word = _WORD.match(info)
    language = word[1].lower() if word else None
    return Block("".join(code), language, indent.encode(), tuple(starts), tuple(raws))


def _indentation(line: str, indent: str) -> int:
    """How much of the fence's indentation a line has, too."""
    if line.startswith(indent):
        return len(indent)
    return min(len(line) - len(line.lstrip(" \t")), len(indent))


_SPAN = re.compile(r"(?<!`)(`{1,2})(?!`)(.+?)(?<!`)\1(?!`)")


def named_around(texts: Iterable[str], names: Iterable[str]) -> bool:
    """Whether a text speaks of one of the names as code: "`total` holds the sum"."""
    wanted = {name for name in names if name.isidentifier()}
    spans = (span[2] for text in texts for span in _SPAN.finditer(_prose(text)))
    return any(not wanted.isdisjoint(re.findall(r"\w+", span)) for span in spans)


def _prose(text: str) -> str:
    """A Markdown text without its fenced blocks."""
    kept: list[str] = []
    fence = ""
    for line in text.split("\n"):
        found = _FENCE.match(line)
        if fence:
            if found is not None and not found[3] and found[2].startswith(fence):
                fence = ""
        elif found is not None and not (found[2][0] == "`" and "`" in found[3]):
            fence = found[2]
        else:
            kept.append(line)
    return "\n".join(kept)
