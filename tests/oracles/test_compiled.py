"""Renames of PHP and Ruby against what their compilers make of the code."""

import os
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any

import orjson
import pytest
from isal import igzip

from puzzlemark.errors import EditMismatch, UnparsableSnippet
from puzzlemark.snippet import Snippet
from puzzlemark.syntax.resolvers import php, ruby
from puzzlemark.syntax.tree import Tree, parse
from tests.oracles.compiled import (
    COMPILERS,
    Renamed,
    compile_php,
    compile_ruby,
    judge,
    needs_opcache,
    needs_ruby,
    renamed_versions,
)
from tests.oracles.script_programs import script_programs

GENERATED = {"php": 200, "ruby": 300}
STEPS = {"php": 20, "ruby": 4}  # every so many real functions; all with PUZZLEMARK_EVERY=1
compilers = pytest.mark.parametrize(
    "language",
    [pytest.param("php", marks=needs_opcache), pytest.param("ruby", marks=needs_ruby)],
)


@cache
def generated(language: str) -> tuple[Tree, ...]:
    """Programs that both our grammar and the compiler take."""
    trees = [t for c in script_programs(language, GENERATED[language]) if (t := read(c, language))]
    told = COMPILERS[language]([tree.source.decode() for tree in trees])
    return tuple(tree for tree, each in zip(trees, told, strict=True) if each is not None)


def read(code: str, language: str) -> Tree | None:
    try:
        return parse(Snippet("generated", code, language))
    except UnparsableSnippet:
        return None


@compilers
def test_no_variable_of_generated_programs_is_renamed_wrongly(language: str) -> None:
    judged = judge(generated(language))
    assert judged.snippets > 0.5 * GENERATED[language]
    assert judged.variables > 1.5 * judged.snippets
    assert not judged.wrong, judged.wrong[0].source


@compilers
def test_no_variable_of_real_functions_is_renamed_wrongly(real_data: Path, language: str) -> None:
    step = int(os.environ.get("PUZZLEMARK_EVERY") or STEPS[language])
    trees = list(real_trees(real_data / f"csn_{language}.jsonl.gz", language, step))
    judged = judge(trees)
    print(f"{language}: {len(trees)} parse, {judged.snippets} compile, {judged.variables} renamed")
    assert judged.snippets > 0.98 * len(trees)
    assert judged.variables > 2 * len(trees)
    assert not judged.wrong, judged.wrong[0].source


def real_trees(path: Path, language: str, step: int) -> Iterator[Tree]:
    with igzip.open(path, "rb") as lines:  # type: ignore[no-untyped-call]
        for line in islice(lines, 0, None, step):
            record = orjson.loads(line)
            if (tree := read(record["code"], language)) is not None:
                yield tree


# The oracle itself on trial: it must accept what is right and notice what is not.

GOOD = {
    "php": [
        ("$x = $q; return $x;", "$y = $q; return $y;"),
        ("return fn($x) => $x;", "return fn($y) => $y;"),
        ("$x = 1; return fn() => $x;", "$y = 1; return fn() => $y;"),
        ('$x = 1; return "$x {$x}[0]";', '$y = 1; return "$y {$y}[0]";'),
    ],
    "ruby": [
        ("x = q; x", "y = q; y"),
        ("f { |x| x }", "f { |y| y }"),
        ('x = 1; "#{x}"', 'y = 1; "#{y}"'),
    ],
}
BAD = {
    "php": [
        ("$x = 1; return $x;", "$y = 1; return $x;"),
        ("$x = 1; return A::$x;", "$y = 1; return A::$y;"),
        ("$x = 1; return fn() => $x;", "$y = 1; return fn() => $x;"),
        ("$x = 1; return function () use ($x) { return $x; };",
         "$y = 1; return function () use ($y) { return $x; };"),
        ("$x = 1; $q = 2; return $x;", "$q = 1; $q = 2; return $q;"),
        ("global $x; return $x;", "global $y; return $y;"),
        ("$x = 1; return f(x: $x);", "$y = 1; return f(y: $y);"),
        ("$x = 1; assert($x);", "$y = 1; assert($y);"),
        ('$x = 1; return "$x";', '$y = 1; return "$x";'),
    ],
    "ruby": [
        ("x = 1; x", "y = 1; x"),
        ("x = 1; f { x }", "y = 1; f { x }"),
        ("x = 1; q = 2; x", "q = 1; q = 2; q"),
        ("x; x = 1", "y; y = 1"),
        ("x = 1; f(x: x)", "y = 1; f(y: y)"),
        ("/(?<x>.)/ =~ q; x", "/(?<y>.)/ =~ q; y"),
        ("f { x = 1 }; x", "f { y = 1 }; y"),
        ("->(x:) { x }", "->(y:) { y }"),
    ],
}  # fmt: skip


@compilers
def test_the_compiler_tells_good_renames_from_bad_ones(language: str) -> None:
    compile_all = {"php": compile_php, "ruby": compile_ruby}[language]
    around = {"php": "function f($q) {{ {} }}", "ruby": "def m(q)\n{}\nend"}[language]

    def are_same(pairs: list[tuple[str, str]]) -> list[bool]:
        codes = [around.format(code) for pair in pairs for code in pair]
        told = compile_all(codes)
        assert None not in told
        return [one == other for one, other in zip(told[::2], told[1::2], strict=True)]

    assert all(are_same(GOOD[language]))
    assert not any(are_same(BAD[language]))


# Faults in the resolvers, one at a time: a rule is lost.

TABLES = {
    "php": (php, ("_READERS", "FIXED", "TARGETS", "GIVEN", "OTHERS", "STRINGS")),
    "ruby": (ruby, ("_READERS", "OTHERS", "BLOCKS", "PATTERNS")),
}
# Faults of which these programs show nothing, and why.
REFUSES = "only refuses: tests/syntax/test_{}_resolver.py has a case"
UNSEEN = {
    "php": {
        "_READERS object_creation_expression": REFUSES,
        "_READERS property_promotion_parameter": "only in classes, which are others",
        "TARGETS function_static_declaration": "kept for another reason",
        "TARGETS global_declaration": "kept for another reason",
        **dict.fromkeys(
            "OTHERS enum_declaration,OTHERS enum_declaration_list,OTHERS interface_declaration,"
            "OTHERS method_declaration,OTHERS property_hook_list,OTHERS trait_declaration".split(
                ","
            ),
            "stand in no function, or inside of another of these",
        ),
    },
    "ruby": {
        "_READERS constant": REFUSES,
        "PATTERNS alternative_pattern": "alternatives bind nothing",
        "OTHERS class": "stand in no method",
        "OTHERS module": "stand in no method",
    },
}


def faults(language: str) -> Iterator[tuple[str, str, Any]]:
    module, names = TABLES[language]
    for name in names:
        table = getattr(module, name)
        for row in sorted(table):
            if isinstance(table, Mapping):
                yield f"{name} {row}", name, {k: v for k, v in table.items() if k != row}
            else:
                yield f"{name} {row}", name, table - {row}


@compilers
def test_every_lost_rule_is_noticed(language: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module, _ = TABLES[language]
    sound = list(all_renamed(language))
    unseen = set()
    for label, name, faulty in faults(language):
        with monkeypatch.context() as patched:
            patched.setattr(module, name, faulty)
            if all(one == other for one, other in zip_longest(all_renamed(language), sound)):
                unseen.add(label)
    assert unseen <= set(UNSEEN[language])


def all_renamed(language: str) -> Iterator[str]:
    """Every rename, or that it cannot be made: a place that is noted twice."""
    for tree in generated(language):
        try:
            yield from (each.source for each in renamed_versions(tree))
        except EditMismatch as exc:
            yield str(exc)


# faults after which a wrong place is renamed, or one is missed
DANGEROUS = {
    "php": (
        "_READERS scoped_property_access_expression",
        "_READERS function_call_expression",
        "FIXED global_declaration",
    ),
    "ruby": (
        "_READERS call",
        "_READERS pair",
        "_READERS regex",
        "_READERS in_clause",
        "_READERS match_pattern",
        "_READERS heredoc_beginning",
        "_READERS alias",
        "BLOCKS block",
        "BLOCKS do_block",
        "PATTERNS keyword_pattern",
        "PATTERNS hash_pattern",
        "scopes leak",
        "texts are read where they stand",
        "keyword parameters are renamed",
        "methods are variables",
    ),
}


@compilers
def test_the_compiler_notices_every_dangerous_fault(
    language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    module, _ = TABLES[language]
    tables: dict[str, tuple[object, str, Any]] = {
        label: (module, name, faulty) for label, name, faulty in faults(language)
    }
    tables |= MORE_FAULTS.get(language, {})
    told = COMPILERS[language]([tree.source.decode() for tree in generated(language)])
    sound = dict(zip(map(id, generated(language)), told, strict=True))
    tried: list[tuple[str, Renamed]] = []
    before = {each.source for each in renamed(language)}
    for label in DANGEROUS[language]:
        with monkeypatch.context() as patched:
            patched.setattr(*tables[label])
            changed = [each for each in renamed(language) if each.source not in before]
        tried += ((label, each) for each in sorted(changed, key=lambda e: len(e.source))[:40])
    compiled = COMPILERS[language]([each.source for _, each in tried])
    noticed = {
        label
        for (label, each), told in zip(tried, compiled, strict=True)
        if told != sound[id(each.tree)]
    }
    assert noticed == set(DANGEROUS[language])


def renamed(language: str) -> list[Renamed]:
    return [each for tree in generated(language) for each in renamed_versions(tree)]


class Leaking(ruby.Scope):
    """What is bound in a block is seen outside of it."""

    def __init__(self, parent: ruby.Scope | None) -> None:
        super().__init__(parent)
        if parent is not None:
            self.names = parent.names


MORE_FAULTS: dict[str, dict[str, tuple[object, str, Any]]] = {
    "ruby": {
        "scopes leak": (ruby, "Scope", Leaking),
        "texts are read where they stand": (
            ruby,
            "_READERS",
            {k: v for k, v in ruby._READERS.items() if not k.startswith("heredoc_b")},
        ),
        "keyword parameters are renamed": (ruby, "BY_KEYWORD", None),
        "methods are variables": (ruby, "IS_METHOD", None),
    },
}
