"""Lay code out anew with a real formatter: ruff for Python, prettier-plugin-java for Java."""

import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import ClassVar, TypeAlias

from puzzlemark.attacks._editing import Edited, edit_together, exchange
from puzzlemark.attacks.base import NOTHING, Given, Input, Plan
from puzzlemark.corpora.base import Corpus
from puzzlemark.errors import UnparsableSnippet, UsageError
from puzzlemark.languages.base import Language, find
from puzzlemark.snippet import Snippet
from puzzlemark.syntax.tree import Tree, parse

REFUSED = "the formatter cannot read it"
UNKNOWN = "no formatter for the language"
NOT_THE_SAME = "does not parse any more when it is formatted"
TIMEOUT = 600  # seconds for a batch of a thousand snippets, which takes one or two
INDENTATION = "  "  # of prettier
NOT_FORMATTED = b"\n\n\n\n"  # no formatter leaves a file with such an end


@dataclass(frozen=True, slots=True)
class Format:
    """`Format(width=100)`. Java needs a folder with prettier and prettier-plugin-java."""

    width: int = 88
    node_modules: str = "node_modules"  # where `npm install prettier prettier-plugin-java` put them
    name: ClassVar[str] = "format"
    needs: ClassVar[frozenset[Input]] = NOTHING
    takes: ClassVar[frozenset[Input]] = NOTHING

    def __post_init__(self) -> None:
        if not 20 <= self.width <= 320:
            raise UsageError(f"format: width={self.width}: 20 to 320 characters")

    def plan(self, corpus: Corpus, given: Given) -> Plan:
        """Format every record that its formatter can read."""
        absolute = replace(self, node_modules=str(Path(self.node_modules).expanduser().absolute()))
        return edit_together(partial(_format, absolute), corpus, given, stage="formatting")


# Formats all files of a folder in place; one that it cannot read stays as it is.
Formatter: TypeAlias = Callable[[Format, Path], None]


def _ruff(settings: Format, folder: Path) -> None:
    if find_spec("ruff") is None:
        raise UsageError("format: Python is formatted by ruff; pip install 'puzzlemark[attack]'")
    _run([sys.executable, "-m", "ruff", "format", "--isolated", "--no-cache", "--quiet",
          "--line-length", str(settings.width), str(folder)])  # fmt: skip


def _prettier(settings: Format, folder: Path) -> None:
    modules = Path(settings.node_modules)
    program = modules / "prettier" / "bin" / "prettier.cjs"
    plugin = modules / "prettier-plugin-java" / "dist" / "index.mjs"
    node = shutil.which("node")
    if node is None or not program.exists() or not plugin.exists():
        raise UsageError(
            "format: Java is formatted by prettier, which needs Node.js; run `npm install prettier "
            "prettier-plugin-java` and pass the folder: format:node_modules=FOLDER"
        )
    _run([node, str(program), f"--plugin={plugin}", "--no-config", "--no-editorconfig",
          "--ignore-path=", f"--print-width={settings.width}", f"--tab-width={len(INDENTATION)}",
          "--log-level=silent", "--write", str(folder)])  # fmt: skip


# by the name that a language gives in its table `formatter`
FORMATTERS: Mapping[str | None, Formatter] = {"ruff": _ruff, "prettier": _prettier}


def _run(command: Sequence[str]) -> None:
    """Run a formatter; that it could not read some file is seen in the file itself."""
    try:
        subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=TIMEOUT
        )
    except (OSError, subprocess.TimeoutExpired) as exc:
        raise UsageError(f"format: {Path(command[0]).name} cannot be run: {exc}") from exc


def _format(
    settings: Format, snippets: Sequence[Snippet], _notes: Sequence[tuple[str, ...]]
) -> list[Edited]:
    results: dict[int, Edited] = {}
    trees: dict[Language, dict[int, Tree]] = defaultdict(dict)
    for at, snippet in enumerate(snippets):
        language = find(snippet.language)
        if language is None or language.formatter not in FORMATTERS:
            results[at] = Edited(spared=UNKNOWN)
            continue
        try:
            trees[language][at] = parse(snippet)
        except UnparsableSnippet as exc:
            results[at] = Edited(spared=str(exc))
    for language, some in trees.items():
        results |= _format_language(settings, language, some)
    return [results[at] for at in range(len(snippets))]


def _format_language(
    settings: Format, language: Language, trees: Mapping[int, Tree]
) -> dict[int, Edited]:
    formatter, ending = FORMATTERS[language.formatter], language.extensions[0]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        paths = {at: folder / f"{at}{ending}" for at in trees}
        for at, path in paths.items():
            path.write_bytes(trees[at].source + NOT_FORMATTED)
        formatter(settings, folder)
        return {at: _compare(trees[at], path.read_bytes()) for at, path in paths.items()}


def _compare(tree: Tree, formatted: bytes) -> Edited:
    """The change of a snippet; it keeps whether it ends in a line feed."""
    if formatted == tree.source + NOT_FORMATTED:
        return Edited(spared=REFUSED)
    text = _unwrap(formatted) if tree.offset else formatted
    if not tree.code.endswith(b"\n"):
        text = text.rstrip(b"\r\n")
    try:
        parse(replace(tree.snippet, code=text.decode()))
    except (UnparsableSnippet, UnicodeDecodeError):
        return Edited(spared=NOT_THE_SAME)
    edits = exchange(tree.code, text)
    return Edited(edits, {"snippets formatted": 1} if edits else {})


def _unwrap(formatted: bytes) -> bytes:
    """A method without the class around it, and without its indentation."""
    lines = formatted.decode().rstrip().splitlines(keepends=True)[1:-1]
    while lines and not lines[0].strip():
        lines.pop(0)
    return "".join(line.removeprefix(INDENTATION) for line in lines).encode()


PLUGIN = Format
