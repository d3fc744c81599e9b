"""Our tables of scopes against other programs that know them, on generated and on real code."""

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import islice
from pathlib import Path

import orjson
import pytest
from isal import igzip

from puzzlemark import plugins
from puzzlemark.errors import UnparsableSnippet
from puzzlemark.snippet import Snippet
from puzzlemark.syntax.resolvers._scopes import Table
from puzzlemark.syntax.resolvers.javascript import TABLE as JAVASCRIPT
from puzzlemark.syntax.tree import Tree, parse
from tests.oracles.scope_mutations import faulty_tables
from tests.oracles.scope_programs import DIRECTED, programs
from tests.oracles.scopes import (
    Answer,
    ask_go,
    ask_node,
    count_renamed,
    different_bindings,
    needs_eslint,
    needs_go,
    needs_typescript,
    wrong_variables,
)

GENERATED = {"go": 160, "javascript": 200, "typescript": 130}  # of which about half are sound
RENAMED = 70  # of them, where TypeScript is asked: it takes its time
ORACLES = [
    pytest.param("go", "go/types", marks=needs_go),
    pytest.param("javascript", "eslint", marks=needs_eslint),
    pytest.param("javascript", "rename", marks=needs_typescript),
    pytest.param("typescript", "rename", marks=needs_typescript),
    pytest.param("tsx", "rename", marks=needs_typescript),
]
oracles = pytest.mark.parametrize(("language", "oracle"), ORACLES)

# Faults that change no binding of a variable, and why.
RECEIVER = (
    "a method stands in no function: its types mean what the package declares, and neither that "
    "nor the receiver is a variable"
)
SIGNATURE = (
    "the function behind it binds the name for all places; what a signature binds besides is no "
    "variable, and a function in a block keeps all variables of its name"
)
HARMLESS_FAULTS = {
    "go": {
        "method_declaration 0: reach body -> after": RECEIVER,
        "method_declaration 0: reach body -> block": RECEIVER,
        "method_declaration 0: reach body -> function": RECEIVER,
    },
    "javascript": {
        "arrow_function 0: reach block -> body": "in `a => a` nothing but `=>` stands between",
        "body statement_block dropped": (
            "no lexical name of a body is a parameter's, and what a body declares is not seen from "
            "parameters anyway; a function in it is taken for one in a block, and refused"
        ),
    },
    "typescript": {
        "function_signature 0: reach outer -> after": SIGNATURE,
        "function_signature 0: reach outer -> block": SIGNATURE,
        "function_signature 0: reach outer -> function": SIGNATURE,
    },
}


def ask(oracle: str, language: str, codes: Sequence[str]) -> list[Answer | None]:
    if oracle == "go/types":
        return ask_go(codes)
    return ask_node(oracle, [(code, language) for code in codes])


@cache
def generated(language: str, oracle: str) -> tuple[tuple[Tree, Answer], ...]:
    """Programs that the oracle finds no fault with, the short ones first, with its answers."""
    made = "typescript" if language == "tsx" else language
    codes = sorted(programs(made, GENERATED[made]), key=len)
    if oracle == "rename" and language != "typescript":
        codes = codes[:RENAMED]
    codes += DIRECTED[made]
    answers = ask(oracle, language, codes)
    return tuple(
        (parse(Snippet("generated", code, language)), answer)
        for code, answer in zip(codes, answers, strict=True)
        if answer is not None and not answer.twice
    )


@oracles
def test_every_binding_of_generated_programs_is_as_the_oracle_says(
    language: str, oracle: str
) -> None:
    pairs = generated(language, oracle)
    assert len(pairs) > 25
    for tree, answer in pairs:
        found = [*different_bindings(tree, answer), *wrong_variables(tree, answer)]
        assert not found, f"{found}\n{tree.snippet.code}"


@pytest.mark.parametrize(
    ("language", "oracle"),
    [
        pytest.param("go", "go/types", marks=needs_go),
        pytest.param("javascript", "eslint", marks=needs_eslint),
        pytest.param("typescript", "rename", marks=needs_typescript),
    ],
)
def test_the_generated_programs_notice_every_fault_in_a_table(language: str, oracle: str) -> None:
    pairs = generated(language, oracle)
    sound: Table = plugins.load("syntax.resolvers", language).TABLE
    missed = [
        fault
        for fault, table in faulty_tables(sound, JAVASCRIPT if language == "typescript" else None)
        if not any(different_bindings(tree, answer, table) for tree, answer in pairs)
    ]
    assert set(missed) == set(HARMLESS_FAULTS[language])


@pytest.mark.parametrize(
    ("language", "oracle", "step"),
    [
        pytest.param("go", "go/types", 5, marks=needs_go),
        pytest.param("javascript", "eslint", 5, marks=needs_eslint),
        pytest.param("javascript", "rename", 40, marks=needs_typescript),
    ],
)
def test_no_variable_of_real_functions_is_renamed_wrongly(
    real_data: Path, language: str, oracle: str, step: int
) -> None:
    trees = list(real_trees(real_data / f"csn_{language}.jsonl.gz", language, step))
    answers = ask(oracle, language, [tree.source.decode() for tree in trees])
    judged = [(t, a) for t, a in zip(trees, answers, strict=True) if a is not None]
    assert len(judged) > 0.95 * len(trees)
    for tree, answer in judged:
        found = list(wrong_variables(tree, answer))
        assert not found, f"{found}\n{tree.snippet.code}"
    free, total = map(sum, zip(*(count_renamed(tree) for tree, _ in judged), strict=True))
    assert free > 0.9 * total


def real_trees(path: Path, language: str, step: int) -> Iterator[Tree]:
    with igzip.open(path, "rb") as lines:  # type: ignore[no-untyped-call]
        for line in islice(lines, 0, None, step):
            record = orjson.loads(line)
            try:
                yield parse(Snippet(record["url"], record["code"], language))
            except UnparsableSnippet:
                continue
