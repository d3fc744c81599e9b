"""Policy `safe` is put to the test: programs are run before and after, and print the same."""

import json
import random
import subprocess
import sys
from collections.abc import Iterator

import pytest

from puzzlemark.snippet import Snippet, apply_edits
from puzzlemark.syntax.rename import rename
from puzzlemark.syntax.tree import parse
from puzzlemark.syntax.variables import functions
from puzzlemark.watermarks.base import Introducing, Mark, Watermark, named
from tests.syntax.safe_python import PROGRAMS, READERS, Program

RUNNER = """
import contextlib, io, json, sys
for program in json.load(sys.stdin):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        try:
            exec(compile(program, "program", "exec"), {"__name__": "it"})
        except BaseException as exc:
            print("ended by", type(exc).__name__, exc)
    print(json.dumps(printed.getvalue()))
"""
MARKS = {name: each.watermark for name, each in named().items() if each.language == "python"}


def run(programs: list[str]) -> list[str]:
    """What each program prints."""
    done = subprocess.run(
        [sys.executable, "-I", "-c", RUNNER],
        input=json.dumps(programs),
        capture_output=True,
        text=True,
        check=True,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def rename_all(code: str) -> str:
    """The snippet with every variable renamed that policy `safe` lets go."""
    count = len(list(functions(parse(Snippet("it", code, "python")))))
    for index in range(count):
        tree = parse(Snippet("it", code, "python"))
        function = list(functions(tree))[index]
        free = [v.name for v in function.variables if v.refusal("safe") is None]
        if function.dynamic is None and free:
            names = {name: f"zq{index}_{n}" for n, name in enumerate(free)}
            code = apply_edits(tree.code, rename(tree, function, names, "safe")).decode()
    return code


def marked(code: str, watermark: Watermark) -> Iterator[str]:
    tree = parse(Snippet("it", code, "python"))
    plans = [watermark.plan(tree, "safe", random.Random(0))]
    if isinstance(watermark, Introducing):
        plans.append(watermark.introduce(tree, "safe", random.Random(0)))
    for plan in plans:
        if isinstance(plan, Mark):
            yield apply_edits(tree.code, plan.edits).decode()


@pytest.fixture(scope="module")
def printed() -> dict[str, str]:
    """What the programs print before anything is done to them."""
    outputs = run([program.whole() for program in PROGRAMS])
    return {program.name: text for program, text in zip(PROGRAMS, outputs, strict=True)}


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_a_program_prints_something_and_does_not_fail(
    program: Program, printed: dict[str, str]
) -> None:
    assert printed[program.name]
    assert "ended by" not in printed[program.name]


def test_every_variable_that_may_be_renamed_can_be(printed: dict[str, str]) -> None:
    outputs = run([program.whole(rename_all(program.snippet)) for program in PROGRAMS])
    after = {program.name: text for program, text in zip(PROGRAMS, outputs, strict=True)}
    assert after == printed


def test_every_mark_can_be_made(printed: dict[str, str]) -> None:
    made = [
        (f"{program.name} [{name}]", program, code)
        for program in PROGRAMS
        for name, watermark in MARKS.items()
        for code in marked(program.snippet, watermark)
    ]
    assert len(made) > 20
    outputs = run([program.whole(code) for _, program, code in made])
    after = {label: text for (label, _, _), text in zip(made, outputs, strict=True)}
    assert after == {label: printed[program.name] for label, program, _ in made}


@pytest.mark.parametrize("program", READERS, ids=lambda program: program.name)
def test_the_programs_would_notice_a_renamed_variable(
    program: Program, printed: dict[str, str]
) -> None:
    spoiled = program.snippet.replace("df = [", "zq = [").replace(" name =", " zq =")
    assert spoiled != program.snippet
    assert run([program.whole(spoiled)]) != [printed[program.name]]


def test_much_of_it_is_renamed_all_the_same() -> None:
    changed = [each.name for each in PROGRAMS if rename_all(each.snippet) != each.snippet]
    assert len(changed) > len(PROGRAMS) // 2
