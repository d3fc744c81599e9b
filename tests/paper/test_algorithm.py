"""Algorithm 1, lines 2 to 13, against a slow and obvious second version of it."""

import ast
import random
import re

from puzzlemark.embedding.marking import first_mark
from puzzlemark.snippet import Snippet, apply_edits
from puzzlemark.syntax.tree import parse
from puzzlemark.syntax.variables import functions
from puzzlemark.watermarks.base import Mark, Refusal
from puzzlemark.watermarks.universal import Universal
from tests.oracles.python import library_functions

STRANGE = (
    ast.Lambda,
    ast.ClassDef,
    ast.Global,
    ast.Nonlocal,
    ast.Import,
    ast.ImportFrom,
    ast.match_case,
    ast.JoinedStr,  # Python 3.11 does not know where its names stand
)
RECEIVERS = {"self", "cls", "mcs", "mcls", "metacls"}


def embed(code: str) -> tuple[str, str, str, str | None] | str:
    """Prefix, suffix, target and T of a function's code, read off its syntax tree; or a refusal."""
    frequency: dict[str, int] = {}  # line 11
    first: dict[str, tuple[int, int]] = {}
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Name | ast.arg):
            name = node.id if isinstance(node, ast.Name) else node.arg
            frequency[name] = frequency.get(name, 0) + 1
            first[name] = min(first.get(name, (9**9, 0)), (node.lineno, node.col_offset))
    local = [name for name in first if name in variables_of(code)]  # line 2
    ordered = sorted(local, key=lambda name: first[name])  # line 3
    if not ordered or len(ordered[1:]) <= 1:  # lines 4 to 8
        return "fewer than two variables after the prefix"
    prefix, suffix, *others = ordered  # line 9
    target = f"{prefix.rstrip('_')}_{suffix.lstrip('_')}"  # line 10
    if target in others:
        return prefix, suffix, target, None
    if re.search(rf"\b{target}\b", code):
        return "the target's name stands elsewhere in the snippet"
    compound = [name for name in others if re.search(r"[A-Za-z]_+[A-Za-z]|[a-z][A-Z]", name)]
    replaced = (  # line 12
        sorted(compound, key=lambda name: -frequency[name])
        if compound
        else sorted(others, key=lambda name: frequency[name])
    )[0]
    return prefix, suffix, target, replaced


def variables_of(code: str) -> set[str]:
    """Names that are bound: parameters and targets."""
    nodes = list(ast.walk(ast.parse(code)))
    stored = {n.id for n in nodes if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    return (stored | {n.arg for n in nodes if isinstance(n, ast.arg)}) - RECEIVERS


def is_plain(code: str) -> bool:
    """Whether the slow version understands it all: one scope, and names in no other nodes."""
    nodes = list(ast.walk(ast.parse(code)))
    defs = [node for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    named = [node for node in nodes if isinstance(node, ast.ExceptHandler) and node.name]
    outside = {
        n.id for each in defs[0].args.defaults for n in ast.walk(each) if isinstance(n, ast.Name)
    }
    return (
        len(defs) == 1
        and not named
        and not outside & variables_of(code)
        and not any(isinstance(node, STRANGE) for node in nodes)
    )


def test_the_universal_mark_is_that_of_the_slow_version() -> None:
    marks = refusals = 0
    for code in library_functions(every=45):
        tree = parse(Snippet("it", code, "python"))
        function = next(functions(tree))
        awkward = any(
            v.refusal("paper") or "__" in v.name or not v.name.strip("_0")
            for v in function.variables
        )
        if not is_plain(code) or function.dynamic or awkward:
            continue
        outcome, expected = first_mark(Universal(), tree, "paper", random.Random(0)), embed(code)
        if isinstance(outcome, Refusal):
            assert outcome.reason == expected, code
            refusals += 1
        else:
            found = *(part.text for part in outcome.parts), outcome.of("target").was
            assert found == expected, code
            assert_embedded(code, outcome)
            marks += 1
    assert marks > 50
    assert refusals > 20


def assert_embedded(code: str, mark: Mark) -> None:
    """Line 13: the target stands where T stood, and T nowhere among the variables."""
    after = apply_edits(code.encode(), mark.edits).decode()
    target = mark.of("target")
    assert target.text in variables_of(after)
    assert target.was not in variables_of(after)
    assert variables_of(after) - {target.text} == variables_of(code) - {target.text, target.was}
