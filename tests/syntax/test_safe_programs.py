"""Policy `safe` is put to the test: programs are run before and after, and print the same."""

import json
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from puzzlemark.embedding.marking import first_mark
from puzzlemark.snippet import Snippet, apply_edits
from puzzlemark.syntax.rename import rename
from puzzlemark.syntax.tree import parse
from puzzlemark.syntax.variables import functions
from puzzlemark.watermarks.base import Introducing, Mark, Watermark, named
from tests.syntax.safe_java import PROGRAMS as JAVA
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


def rename_all(code: str, language: str = "python") -> str:
    """The snippet with every variable renamed that policy `safe` lets go."""
    count = len(list(functions(parse(Snippet("it", code, language)))))
    for index in range(count):
        tree = parse(Snippet("it", code, language))
        function = list(functions(tree))[index]
        free = [v.name for v in function.variables if v.refusal("safe") is None]
        if function.dynamic is None and free:
            names = {name: f"zq{index}_{n}" for n, name in enumerate(free)}
            code = apply_edits(tree.code, rename(tree, function, names, "safe")).decode()
    return code


def marked(code: str, watermark: Watermark, language: str = "python") -> Iterator[str]:
    tree = parse(Snippet("it", code, language))
    plans = [first_mark(watermark, tree, "safe", random.Random(0))]
    if isinstance(watermark, Introducing):
        plans.append(first_mark(watermark, tree, "safe", random.Random(0), introduce=True))
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


# -- Java -----------------------------------------------------------------------------------------

JAVA_RUNNER = """
public class Runner {
    public static void main(String[] names) throws Exception {
        for (String name : names) {
            java.lang.reflect.Method go = Class.forName(name + ".Main").getMethod("go");
            System.out.println(name + " " + go.invoke(null));
        }
    }
}
"""
JAVA_MARKS = {name: each.watermark for name, each in named().items() if each.language == "java"}


def run_java(programs: list[str], place: Path) -> list[str]:
    """What `go()` of each program returns; compiled with all names that javac can keep."""
    files = [place / "Runner.java"]
    place.mkdir()
    files[0].write_text(JAVA_RUNNER)
    for number, code in enumerate(programs):
        files.append(place / f"p{number}" / "Main.java")
        files[-1].parent.mkdir()
        files[-1].write_text(code, encoding="utf-8")
    options = ("-g", "-parameters", "-proc:none", "-nowarn", "-encoding", "UTF-8")
    command = ["javac", "-J-XX:TieredStopAtLevel=1", *options, "-d", str(place), *map(str, files)]
    compiled = subprocess.run(command, capture_output=True, text=True)
    assert compiled.returncode == 0, compiled.stderr
    names = [f"p{number}" for number in range(len(programs))]
    command = ["java", "-XX:TieredStopAtLevel=1", "-cp", str(place), "Runner", *names]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [line.partition(" ")[2] for line in done.stdout.splitlines()]


@pytest.mark.skipif(shutil.which("javac") is None, reason="javac is not installed")
def test_java_programs_say_the_same_after_every_rename_and_every_mark(tmp_path: Path) -> None:
    texts = [(program, program.snippet) for program in JAVA]
    texts += [(program, rename_all(program.snippet, "java")) for program in JAVA]
    texts += [
        (program, code)
        for program in JAVA
        for watermark in JAVA_MARKS.values()
        for code in marked(program.snippet, watermark, "java")
    ]
    changed = [text for program, text in texts if text != program.snippet]
    assert len(changed) > 40
    programs = [program.whole(number, text) for number, (program, text) in enumerate(texts)]
    said = run_java(programs, tmp_path / "java")
    before = dict(zip((program.name for program in JAVA), said, strict=False))
    assert {text: before[program.name] for program, text in texts} == dict(
        zip((text for _, text in texts), said, strict=True)
    )
