"""What the tables of scopes refuse, and why; a row that is lost is noticed."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from puzzlemark import plugins
from puzzlemark.languages.base import find
from puzzlemark.snippet import Snippet
from puzzlemark.syntax.resolvers._scopes import Table, known_types, resolve_by
from puzzlemark.syntax.tree import load_grammar, parse
from puzzlemark.syntax.variables import function_nodes

LANGUAGES = ("go", "javascript", "typescript", "tsx")
# language, code, variable, why it keeps its name; None: it may change
CASES = [
    ("go", "func f() T { x := 1; return T{x: x} }", "x", "may be the name of a field"),
    ("go", "func f() M { x := 1; return map[int]int{x: x} }", "x", None),
    ("go", "func f() { x := 1; var y x }", "x", "spelt like something else in the function"),
    ("go", 'func f() { x := 1; g(x, "x") }', "x", "equal to a string"),
    ("go", "func f() { x := 1; C.g(x) }", "x", "cgo"),
    ("go", "func f() { x := 1; g(x.C) }", "x", None),
    ("go", "func f() { ä := 1; g(ä) }", "ä", "name is not plain ASCII"),
    ("go", "func f() { x := 1; x: for { break x } }", "x", None),
    ("go", "func f(url T) { g(url); var u url.URL }", "url", None),
    ("javascript", "function f() { let x = 1; return {x}; }", "x", "property and variable at once"),
    ("javascript", "function f() { let {x} = g; }", "x", "property and variable at once"),
    ("javascript", "function f() { let x = 1; return {x: x}; }", "x", None),
    ("javascript", "function f() { let x = 1; eval(s); }", "x", "direct eval"),
    ("javascript", "function f() { let x = 1; a.eval(s); }", "x", None),
    ("javascript", "function f() { let x = 1; with (o) { x; } }", "x", "with"),
    ("javascript", "function f() { let x = 1; g('x'); }", "x", "equal to a string"),
    ("javascript", "function f() { let x = 1; g(`x`); }", "x", "equal to a string"),
    ("javascript", "function f() { let x = 1; return <x.y/>; }", "x", "stands in a JSX tag"),
    ("javascript", "function f() { let x; return <x>1</x>; }", "x", "stands in a JSX tag"),
    ("javascript", "function f() { let x; return <a:x/>; }", "x", "stands in a JSX tag"),
    ("javascript", "function f() { let x = 1; return <p x={x}/>; }", "x", None),
    ("javascript", "function f() { let x = () => 1; }", "x", "a function takes its name from it"),
    (
        "javascript",
        "function f() { let x; x = class {}; }",
        "x",
        "a function takes its name from it",
    ),
    (
        "javascript",
        "function f() { let x; x ||= (function () {}); }",
        "x",
        "a function takes its name from it",
    ),
    (
        "javascript",
        "function f() { let [x = () => 1] = g; }",
        "x",
        "a function takes its name from it",
    ),
    ("javascript", "function f() { let x = function y() {}; }", "x", None),
    (
        "javascript",
        "function f() { var x; { function x() {} } }",
        "x",
        "a function in a block has its name",
    ),
    (
        "javascript",
        "function f() { var x; function x() {} }",
        "x",
        "also the name of a function or class",
    ),
    (
        "javascript",
        "function f() { try {} catch (x) { var x = 1; } }",
        "x",
        "declared again inside its own scope",
    ),
    ("javascript", r"function f() { let x = 1; g(\u0078); }", "x", "unicode escape in a name"),
    (
        "javascript",
        "function f() { let of = 1; for (a of b) g(of); }",
        "of",
        "spelt like something else in the function",
    ),
    (
        "typescript",
        "class A { constructor(private x: number) {} }",
        "x",
        "parameter and property at once",
    ),
    (
        "typescript",
        "class A { constructor(readonly x: number) {} }",
        "x",
        "parameter and property at once",
    ),
    (
        "typescript",
        "class A { constructor(override x: number) {} }",
        "x",
        "parameter and property at once",
    ),
    ("typescript", "class A { constructor(@D() x: number) {} }", "x", "decorated parameter"),
    (
        "typescript",
        "class A { constructor(private x?: number) {} }",
        "x",
        "parameter and property at once",
    ),
    (
        "typescript",
        "class A { constructor(readonly x?: number) {} }",
        "x",
        "parameter and property at once",
    ),
    (
        "typescript",
        "class A { constructor(override x?: number) {} }",
        "x",
        "parameter and property at once",
    ),
    ("typescript", "class A { constructor(@D() x?: number) {} }", "x", "decorated parameter"),
    ("typescript", "function f() { let x = 1; let y: typeof x; }", "x", "read by a type"),
    (
        "typescript",
        "function f() { let x = 1; let y: x.T; }",
        "x",
        "may be the name of a namespace",
    ),
    (
        "typescript",
        "function f() { let x = 1; let y: x.T.U; }",
        "x",
        "may be the name of a namespace",
    ),
    (
        "typescript",
        "function f() { let x = 1; enum E { p = x } }",
        "x",
        "may be a member of an enum",
    ),
    ("typescript", "function f(x: any): x is string { return g(x); }", "x", None),
    ("typescript", "function f(x = () => 1) {}", "x", "a function takes its name from it"),
    ("typescript", "function f() { let x: x = 1; }", "x", None),
    ("tsx", "function f() { let x; return <x/>; }", "x", "stands in a JSX tag"),
]


def reason(table: Table, language: str, code: str, name: str) -> str | None:
    tree = parse(Snippet("case", code, language))
    node = next(function_nodes(tree))
    function = resolve_by(table, tree, node)
    variable = next((each for each in function.variables if each.name == name), None)
    if variable is None:
        return "no variable"
    return function.dynamic or variable.fixed or variable.doubtful


def table_of(language: str) -> Table:
    table: Table = plugins.load("syntax.resolvers", language).TABLE
    return table


@pytest.mark.parametrize(("language", "code", "name", "expected"), CASES)
def test_what_keeps_its_name(language: str, code: str, name: str, expected: str | None) -> None:
    assert reason(table_of(language), language, code, name) == expected


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_table_knows_every_node_type_of_its_grammar(language: str) -> None:
    found = find(language)
    assert found is not None
    grammar = load_grammar(found.grammar)
    kinds = range(grammar.node_kind_count)
    named = {
        grammar.node_kind_for_id(kind)
        for kind in kinds
        if grammar.node_kind_is_named(kind) and grammar.node_kind_is_visible(kind)
    }
    known = known_types(table_of(language)) | {"ERROR"}
    assert named - known == set()
    assert known - named <= {"ERROR", "shorthand_property_identifier"}


def poorer_tables(table: Table) -> Iterator[tuple[str, Table]]:
    """The table without one of its reasons to refuse."""
    for kind, places in table.doubtful.items():
        for place in places:
            fewer = {each: why for each, why in places.items() if each != place}
            yield (
                f"doubtful {kind} {place}",
                replace(table, doubtful={**table.doubtful, kind: fewer}),
            )
    for kind in table.dynamic:
        dynamic = {each: why for each, why in table.dynamic.items() if each != kind}
        yield f"dynamic {kind}", replace(table, dynamic=dynamic)
    for field in table.dynamic_words:
        words = {pair: why for pair, why in table.dynamic_words.items() if pair != field}
        yield f"dynamic words {field}", replace(table, dynamic_words=words)
    for kind in table.sure:
        yield f"sure {kind}", replace(table, sure={})
    for kind in table.namers:
        namers = {each: why for each, why in table.namers.items() if each != kind}
        yield f"namer {kind}", replace(table, namers=namers)
    for kind in table.strings:
        yield (
            f"string {kind}",
            replace(table, strings=table.strings - {kind}, harmless=table.harmless | {kind}),
        )
    for kind in table.shorthand:
        yield f"shorthand {kind}", replace(table, shorthand=table.shorthand - {kind})
    for kind, rows in table.binders.items():
        for number, row in enumerate(rows):
            changed = replace(row, leaks=False) if row.leaks else None
            if row.fixed is not None:
                kept = (*rows[:number], *rows[number + 1 :])
                yield (
                    f"fixed {kind} {number}",
                    replace(table, binders={**table.binders, kind: kept}),
                )
            elif changed is not None:
                kept = (*rows[:number], changed, *rows[number + 1 :])
                yield f"leaks {kind}", replace(table, binders={**table.binders, kind: kept})


# a tag that is opened is closed: one of the two rows is enough; names with a colon stand in a tag
UNNOTICED = {"doubtful jsx_closing_element name", "doubtful jsx_opening_element name"}
UNNOTICED |= {"doubtful jsx_namespace_name *"}
# default values in patterns of objects are shorthand, which is refused
UNNOTICED |= {"namer object_assignment_pattern"}
# the same row as of another kind of declaration
UNNOTICED |= {"leaks generator_function_declaration", "leaks function_signature"}
UNNOTICED |= {"string raw_string_literal"}
# `x.T.U` in a type: the whole of it is doubtful already
UNNOTICED |= {"doubtful nested_identifier *"}


@pytest.mark.parametrize("language", ["go", "javascript", "typescript"])
def test_every_reason_of_a_table_is_needed(language: str) -> None:
    cases = [case for case in CASES if case[0] == language]
    if language == "typescript":
        cases += [case for case in CASES if case[0] == "javascript" and "<" not in case[1]]
    unneeded = [
        fault
        for fault, table in poorer_tables(table_of(language))
        if all(reason(table, language, code, name) == why for _, code, name, why in cases)
    ]
    assert set(unneeded) <= UNNOTICED
