"""javac as an oracle: a rename of locals changed nothing when all class files stay byte-identical.

Each program gets a package of its own, so that one start of javac compiles many of them.
"""

import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from puzzlemark.snippet import Edit, Snippet, apply_edits
from puzzlemark.syntax.tree import Tree, parse
from puzzlemark.syntax.variables import Variable, functions

JAVAC = shutil.which("javac")
needs_javac = pytest.mark.skipif(JAVAC is None, reason="javac is not installed")

Classes = dict[str, bytes]

_PUBLIC_TYPE = re.compile(r"^public [\w ]*\b(?:class|interface|record|enum) (\w+)", re.MULTILINE)
_FLAGS = (
    *("-g:none", "-proc:none", "-nowarn", "-Xmaxerrs", "100000", "-encoding", "UTF-8"),
    *("-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC"),  # starts sooner, compiles the same
)
_FAILED = re.compile(r"^p(\d+)/\w+\.java:\d+: error", re.MULTILINE)


def compile_programs(sources: Sequence[str]) -> list[Classes | None]:
    """The class files of each one-file program, by name; None for one that does not compile."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        paths = [_write(root, number, source) for number, source in enumerate(sources)]
        failed = _run_javac(root, paths)
        return [
            None if number in failed else _read_classes(root / "out" / _package(number))
            for number in range(len(sources))
        ]


def keep_classes(pairs: Sequence[tuple[str, str]]) -> list[bool]:
    """For each (before, after) whether both compile, to the same class files."""
    distinct = list(dict.fromkeys(before for before, _ in pairs))
    befores = dict(zip(distinct, compile_programs(distinct), strict=True))
    afters = compile_programs([after for _, after in pairs])
    assert None not in befores.values(), "a program does not compile even before the rename"
    return [befores[before] == after for (before, _), after in zip(pairs, afters, strict=True)]


def rename(code: str, variable: Variable, new: str) -> str:
    """The code with every occurrence of a variable replaced, and nothing else."""
    old = variable.name.encode()
    edits = [Edit(start, old, new.encode()) for start in variable.starts]
    return apply_edits(code.encode(), edits).decode()


def rename_all(code: str) -> str:
    """The code with every variable renamed that may be, each to a name of its own."""
    edits = [
        Edit(start, variable.name.encode(), f"fresh{number}x{index}".encode())
        for number, function in enumerate(functions(parse_java(code)))
        if function.dynamic is None
        for index, variable in enumerate(function.variables)
        if variable.fixed is None
        for start in variable.starts
    ]
    return apply_edits(code.encode(), edits).decode()


def parse_java(code: str) -> Tree:
    """The tree of a Java snippet."""
    return parse(Snippet("test", code, "java"))


def _write(root: Path, number: int, source: str) -> Path:
    public = _PUBLIC_TYPE.search(source)
    path = root / _package(number) / f"{public[1] if public else 'Program'}.java"
    path.parent.mkdir()
    path.write_text(f"package {_package(number)}; {source}", encoding="utf-8")
    return path.relative_to(root)


def _run_javac(root: Path, paths: Sequence[Path]) -> set[int]:
    failed: set[int] = set()
    while left := [path for number, path in enumerate(paths) if number not in failed]:
        assert JAVAC is not None, "javac is not installed"
        command = [JAVAC, *_FLAGS, "-d", "out", *map(str, left)]
        run = subprocess.run(command, cwd=root, capture_output=True, text=True)
        if run.returncode == 0:
            break
        # a class that does not compile keeps the others from being written: try again without it
        named = {int(number) for number in _FAILED.findall(run.stderr)} - failed
        assert named, run.stderr
        failed |= named
        shutil.rmtree(root / "out", ignore_errors=True)
    return failed


def _package(number: int) -> str:
    return f"p{number:06}"


def _read_classes(folder: Path) -> Classes:
    # the package is not the program's: take its name out, always as many bytes
    package = folder.name.encode()
    paths = sorted(folder.glob("*.class"))
    return {path.name: path.read_bytes().replace(package, b"PACKAGE") for path in paths}
