"""What a mark may do to the layout of a file: how long its lines may get, as the project says.

The limit is read from the configuration of the formatters and linters that a project has. Where
several speak, the shortest counts.
"""

import configparser
import json
import re
import tomllib
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from puzzlemark.languages.base import Language
from puzzlemark.snippet import Edit

USUAL = 88  # where neither the project nor the user says anything
TOO_LONG = "a line would grow beyond the line length"
ALIGNED = "a line below is aligned with what the mark would move"

# tables of pyproject.toml, the key in each, and what the tool does without it
_TOML: Sequence[tuple[str, str, int | None]] = (
    ("tool.ruff", "line-length", 88),
    ("tool.ruff.lint.pycodestyle", "max-line-length", None),
    ("tool.black", "line-length", 88),
    ("tool.flake8", "max-line-length", 79),
    ("tool.pycodestyle", "max-line-length", 79),
    ("tool.autopep8", "max_line_length", 79),
    ("tool.yapf", "column_limit", 79),
    ("tool.pylint.format", "max-line-length", 100),
)
_INI: Sequence[tuple[str, str, int]] = (
    ("flake8", "max-line-length", 79),
    ("pycodestyle", "max-line-length", 79),
    ("pep8", "max-line-length", 79),
    ("yapf", "column_limit", 79),
)
_CHECKSTYLE = (
    "checkstyle.xml",
    "config/checkstyle/checkstyle.xml",
    "src/checkstyle/checkstyle.xml",
)
_PRETTIER = (".prettierrc", ".prettierrc.json")


@dataclass(frozen=True, slots=True)
class Limit:
    """How long a line may be, and who says so."""

    columns: int
    source: str


class Limits:
    """The limits of a repository's files; the configuration is read once."""

    def __init__(self, folder: Path, asked: int | None = None) -> None:
        self.asked = asked
        self._said = [] if asked is not None else list(_said(folder))
        self._editor = [] if asked is not None else list(_editorconfig(folder / ".editorconfig"))

    def of(self, path: str, language: Language) -> Limit:
        """The limit of a file: `Limit(100, "pyproject.toml, tool.ruff")`."""
        if self.asked is not None:
            return Limit(self.asked, "--max-line-length")
        found = [
            limit for extensions, limit in self._said if set(extensions) & set(language.extensions)
        ]
        matching = [limit for pattern, limit in self._editor if _is_for(pattern, path)]
        return min(
            [*found, *matching[-1:]],  # of .editorconfig the last section counts
            key=lambda limit: limit.columns,
            default=Limit(USUAL, "nothing in the project; --max-line-length says otherwise"),
        )


_PYTHON, _JAVA, _SCRIPT = (
    (".py", ".pyi"),
    (".java",),
    (".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx"),
)
_Said = tuple[tuple[str, ...], Limit]


def _said(folder: Path) -> Iterator[_Said]:
    for name in ("pyproject.toml", "ruff.toml", ".ruff.toml"):
        tables = _read_toml(folder / name)
        if name != "pyproject.toml":
            tables = {"tool": {"ruff": tables}} if tables else {}
        yield from ((_PYTHON, limit) for limit in _in_toml(tables, name))
    for name in ("setup.cfg", "tox.ini", ".flake8", ".pycodestyle", ".style.yapf"):
        yield from ((_PYTHON, limit) for limit in _in_ini(folder / name))
    for name in _CHECKSTYLE:
        yield from ((_JAVA, limit) for limit in _in_checkstyle(folder / name, name))
    for name in _PRETTIER:
        yield from ((_SCRIPT, limit) for limit in _in_json(_read_json(folder / name), name))
    package = _read_json(folder / "package.json").get("prettier")
    yield from ((_SCRIPT, limit) for limit in _in_json(package, "package.json"))


def _read_toml(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text("utf-8"))
    except (OSError, ValueError):  # not there, or nothing that the tool itself could read
        return {}


def _in_toml(tables: Mapping[str, Any], name: str) -> Iterator[Limit]:
    for path, key, usual in _TOML:
        table: Any = tables
        for part in path.split("."):
            table = table.get(part) if isinstance(table, Mapping) else None
        if isinstance(table, Mapping):
            columns = table.get(key, usual)
            if isinstance(columns, int) and columns > 0:
                yield Limit(columns, f"{name}, {path}")


def _in_ini(file: Path) -> Iterator[Limit]:
    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read_string(file.read_text("utf-8"))
    except (OSError, ValueError, configparser.Error):
        return
    for section, key, usual in _INI:
        if parser.has_section(section):
            said = {name.replace("_", "-"): value for name, value in parser.items(section)}
            found = re.match(r"\d+", said.get(key.replace("_", "-"), str(usual)).strip())
            if found and int(found[0]):
                yield Limit(int(found[0]), f"{file.name}, [{section}]")


def _in_checkstyle(file: Path, name: str) -> Iterator[Limit]:
    try:
        text = file.read_text("utf-8")
        # a document type may define entities that never end
        root = None if "<!ENTITY" in text else ET.fromstring(text)  # noqa: S314
    except (OSError, ValueError, ET.ParseError):
        return
    for module in root.iter("module") if root is not None else ():
        if module.get("name") == "LineLength":
            said = {each.get("name"): each.get("value") for each in module.iter("property")}
            columns = said.get("max") or "80"
            if columns.isdigit():
                yield Limit(int(columns), name)


def _read_json(file: Path) -> dict[str, Any]:
    try:
        read = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return read if isinstance(read, dict) else {}


def _in_json(prettier: Any, name: str) -> Iterator[Limit]:
    if isinstance(prettier, Mapping) and prettier:
        columns = prettier.get("printWidth", 80)
        if isinstance(columns, int) and columns > 0:
            yield Limit(columns, f"{name}, prettier")


def _editorconfig(file: Path) -> Iterator[tuple[str, Limit]]:
    try:
        lines = file.read_text("utf-8").splitlines()
    except (OSError, ValueError):
        return
    section = None
    for line in map(str.strip, lines):
        if line.startswith("[") and line.endswith("]"):
            section = line[1:-1]
        name, equals, value = (part.strip().lower() for part in line.partition("="))
        if section and equals and name == "max_line_length" and value.isdigit():
            yield section, Limit(int(value), f".editorconfig, [{section}]")


def _is_for(section: str, path: str) -> bool:
    """Whether a section such as `*.{js,py}` or `lib/**.py` is about a file."""
    name = path.rsplit("/", 1)[-1]
    return any(
        fnmatchcase(path if "/" in pattern else name, pattern.lstrip("/").replace("**", "*"))
        for pattern in _braces(section)
    )


def _braces(pattern: str) -> Iterator[str]:
    found = re.search(r"\{([^{}]*)\}", pattern)
    if found is None:
        yield pattern
        return
    for each in found[1].split(","):
        yield from _braces(pattern[: found.start()] + each.strip() + pattern[found.end() :])


def rows_of(text: bytes, edits: Sequence[Edit]) -> set[int]:
    """The lines that edits stand in, counted from 0."""
    return {text.count(b"\n", 0, edit.start) for edit in edits}


def why_unfit(text: bytes, edits: Sequence[Edit], limit: int) -> str | None:
    """Why edits of a file would spoil its layout, or None."""
    for start in sorted({text.rfind(b"\n", 0, edit.start) + 1 for edit in edits}):
        end = text.find(b"\n", start)
        end = len(text) if end < 0 else end
        line = text[start:end].rstrip(b"\r").decode()
        inside = [edit for edit in edits if start <= edit.start <= end]
        grown = sum(len(edit.new.decode()) - len(edit.old.decode()) for edit in inside)
        if grown > 0 and len(line) + grown > limit:
            return TOO_LONG
        if grown and _carries_alignment(text, start, end, min(edit.start for edit in inside)):
            return ALIGNED
    return None


def _carries_alignment(text: bytes, start: int, end: int, at: int) -> bool:
    """Whether a bracket behind an edit is what the next line is aligned with."""
    following = text[end + 1 : end + 1 + 4096].split(b"\n", 1)[0]
    indentation = len(following) - len(following.lstrip(b" "))
    if not following.strip() or indentation == 0:
        return False
    column = start + indentation - 1
    return (
        at < column < end
        and text[column : column + 1] in b"([{"
        and text[column + 1 : end].strip() != b""
    )
