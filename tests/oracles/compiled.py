"""What PHP and Ruby compile code to, without the names of variables: an oracle for renames.

A good rename leaves the instructions as they were. A place that was missed, or something that was
taken for the variable and is none, changes them. Neither program knows of our resolvers.
"""

import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from puzzlemark.snippet import Edit, apply_edits
from puzzlemark.syntax.tree import Tree
from puzzlemark.syntax.variables import Function, Variable, functions

HERE = Path(__file__).parent
TIMEOUT = 900
MARK = "\n" + "@" * 9 + " "
PHP, RUBY = shutil.which("php"), shutil.which("ruby")


def _has_opcache() -> bool:
    if PHP is None:
        return False
    told = subprocess.run([PHP, "-m"], capture_output=True, text=True, timeout=60, check=False)
    return "Zend OPcache" in told.stdout


needs_php = pytest.mark.skipif(PHP is None, reason="php is not installed (apt-get install php-cli)")
needs_opcache = pytest.mark.skipif(
    not _has_opcache(), reason="php with opcache is not installed (apt-get install php-cli)"
)
needs_ruby = pytest.mark.skipif(RUBY is None, reason="ruby is not installed (apt-get install ruby)")

_CLASS = re.compile(r"\Aclass X \{")
_VARIABLE = re.compile(r"\b(CV\d+)\(\$[^)]*\)")
_PLACE = re.compile(r"/\d+\.php\b|\b[nN]\d+\b")  # the file, and the namespace
_OPTIONS = (
    "opcache.enable_cli=1",
    "opcache.opt_debug_level=0x10000",  # print what was compiled, before it is optimised
    "opcache.file_update_protection=0",
    "opcache.memory_consumption=512",
    "opcache.max_accelerated_files=100000",
    "zend.assertions=1",
)


def compile_php(sources: Sequence[str]) -> list[str | None]:
    """The opcodes of each source without `<?php`; None of what PHP does not compile."""
    assert PHP is not None, "php is not installed"
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        for number, source in enumerate(sources):
            # a namespace of its own: two snippets may define the same function; and a class that
            # may have methods without bodies, and a parent
            inside = _CLASS.sub("abstract class X extends Y {", source)
            (place / f"{number}.php").write_bytes(f"<?php namespace N{number}; {inside}".encode())
        parts: list[str] = []
        while len(parts) < len(sources):  # some errors end the process: go on behind them
            parts += _dump(place, len(parts), len(sources))
    return [_opcodes(part) for part in parts]


def _dump(place: Path, first: int, end: int) -> list[str]:
    """What opcache prints of the files `<first>.php` and so on, until PHP gives up."""
    assert PHP is not None, "php is not installed"
    options = (part for option in _OPTIONS for part in ("-d", option))
    with (place / "told").open("wb") as told:
        subprocess.run(
            [PHP, *options, str(HERE / "compile.php"), str(first), str(end)],
            cwd=place,
            check=False,
            timeout=TIMEOUT,
            stdout=subprocess.DEVNULL,
            stderr=told,
        )
    printed = (place / "told").read_text(errors="replace").replace(str(place), "")
    parts = printed.split(MARK)[1:]
    assert parts, "php does not start"
    return parts


def _opcodes(told: str) -> str | None:
    if "$_main:" not in told:
        return None
    return _PLACE.sub("", _VARIABLE.sub(r"\1", told.partition("\n")[2]))


def compile_ruby(sources: Sequence[str]) -> list[str | None]:
    """A digest of the instructions of each source; None of what Ruby does not compile."""
    assert RUBY is not None, "ruby is not installed"
    done = subprocess.run(
        [RUBY, "--disable-gems", str(HERE / "compile.rb")],
        input=json.dumps(list(sources)),
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told: list[str | None] = json.loads(done.stdout)
    return told


COMPILERS = {"php": compile_php, "ruby": compile_ruby}


@dataclass(frozen=True, slots=True)
class Renamed:
    """A snippet of which the free variables of one function have other names."""

    tree: Tree
    function: Function
    variables: tuple[Variable, ...]
    source: str


def renamed_versions(tree: Tree) -> Iterator[Renamed]:
    """For each function: all variables at once that no policy keeps."""
    for function in functions(tree):
        free = tuple(each for each in function.variables if each.fixed is None)
        if free and function.dynamic is None:
            yield _renamed(tree, function, free)


def _renamed(tree: Tree, function: Function, free: tuple[Variable, ...]) -> Renamed:
    edits = [
        Edit(tree.offset + start, each.name.encode(), f"other{number}x".encode())
        for number, each in enumerate(free)
        for start in each.starts
    ]
    return Renamed(tree, function, free, apply_edits(tree.source, edits).decode())


@dataclass(frozen=True, slots=True)
class Judged:
    """What a compiler says of renames."""

    snippets: int  # that it compiles
    variables: int  # that were renamed in them
    wrong: tuple[Renamed, ...]  # one variable each


def judge(trees: Sequence[Tree]) -> Judged:
    """Rename all that may be renamed, and compare what is compiled."""
    if not trees:
        return Judged(0, 0, ())
    compile_all = COMPILERS[trees[0].language.name]
    before = compile_all([tree.source.decode() for tree in trees])
    known = {id(tree): told for tree, told in zip(trees, before, strict=True) if told is not None}
    versions = [each for tree in trees if id(tree) in known for each in renamed_versions(tree)]
    wrong = [
        v
        for v, told in zip(versions, _compile(versions), strict=True)
        if told != known_of(known, v)
    ]
    alone = [_renamed(v.tree, v.function, (one,)) for v in wrong for one in v.variables]
    told_alone = _compile(alone)
    found = [v for v, told in zip(alone, told_alone, strict=True) if told != known_of(known, v)]
    return Judged(len(known), sum(len(v.variables) for v in versions), tuple(found or wrong))


def known_of(known: dict[int, str], version: Renamed) -> str:
    return known[id(version.tree)]


def _compile(versions: Sequence[Renamed]) -> list[str | None]:
    if not versions:
        return []
    compile_all = COMPILERS[versions[0].tree.language.name]
    return compile_all([each.source for each in versions])
