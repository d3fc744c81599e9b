"""The fast walk against other ways to count, on the functions of the running Python's library."""

import ast
import importlib
import inspect
import io
import textwrap
import tokenize
from collections.abc import Iterator
from functools import cache

import pytest

from puzzlemark.features.measure import FEATURES, measure
from puzzlemark.snippet import Snippet
from puzzlemark.syntax.tree import Tree, parse
from tests.features.naive import naive_measure

MODULES = ["argparse", "ast", "collections", "dataclasses", "difflib", "inspect", "json.decoder"]
MODULES += ["logging", "statistics", "tarfile", "textwrap", "tokenize", "typing", "zipfile"]


@cache
def functions(module: str) -> tuple[str, ...]:
    source = inspect.getsource(importlib.import_module(module))
    lines = source.splitlines(keepends=True)
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            code = textwrap.dedent("".join(lines[node.lineno - 1 : node.end_lineno]))
            if _parses(code):
                found.append(code)
    return tuple(found)


def _parses(code: str) -> bool:
    # a string whose lines start further left than the function keeps it from being dedented
    try:
        ast.parse(code)
    except SyntaxError:
        return False
    return True


def measured(code: str) -> tuple[Tree, dict[str, int]]:
    tree = parse(Snippet("it", code, "python"))
    return tree, dict(zip(FEATURES, measure(tree), strict=True))


@pytest.mark.parametrize("module", MODULES)
def test_fast_and_slow_agree(module: str) -> None:
    assert functions(module)
    for code in functions(module):
        tree, _ = measured(code)
        assert measure(tree) == naive_measure(tree), code


@pytest.mark.parametrize("module", MODULES)
def test_pythons_own_tokenizer_counts_the_same_tokens(module: str) -> None:
    for code in functions(module):
        if not _has_formatted_string(code):  # one token to us, many to Python 3.12 and later
            assert measured(code)[1]["tc"] == _count_tokens(code), code


@pytest.mark.parametrize("module", MODULES)
def test_pythons_own_syntax_tree_counts_the_same(module: str) -> None:
    for code in functions(module):
        _, fast = measured(code)
        names = list(_declared(ast.parse(code)))
        called = set(_called(ast.parse(code)))
        assert (fast["vc"], fast["dvc"]) == (len(names), len(set(names))), code
        assert fast["ufcc"] == len(called), code
        assert fast["cc"] == 1 + sum(map(_decisions, _walk(ast.parse(code)))), code


def _count_tokens(code: str) -> int:
    layout = {tokenize.NEWLINE, tokenize.NL, tokenize.INDENT, tokenize.DEDENT}
    layout |= {tokenize.COMMENT, tokenize.ENDMARKER}
    tokens = tokenize.generate_tokens(io.StringIO(code).readline)
    return sum(token.type not in layout for token in tokens)


def _has_formatted_string(code: str) -> bool:
    return any(isinstance(node, ast.JoinedStr) for node in ast.walk(ast.parse(code)))


def _walk(node: ast.AST) -> Iterator[ast.AST]:
    yield node
    if not isinstance(node, ast.JoinedStr):  # the inside of an f-string is not measured
        for child in ast.iter_child_nodes(node):
            yield from _walk(child)


def _declared(tree: ast.AST) -> Iterator[str]:
    augmented = {id(node.target) for node in _walk(tree) if isinstance(node, ast.AugAssign)}
    for node in _walk(tree):
        if isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            if id(node) not in augmented:
                yield node.id
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
            yield node.name


def _called(tree: ast.AST) -> Iterator[str]:
    for node in _walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            yield node.func.id
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            yield node.func.attr


def _decisions(node: ast.AST) -> int:
    if isinstance(node, ast.BoolOp):
        return len(node.values) - 1
    if isinstance(node, ast.comprehension):
        return 1 + len(node.ifs)
    if isinstance(node, ast.match_case):
        return 1 + (node.guard is not None)
    branches = (ast.If, ast.IfExp, ast.For, ast.AsyncFor, ast.While, ast.ExceptHandler, ast.Assert)
    return int(isinstance(node, branches))
