"""Every rewriting at every place of real programs: HumanEval in Python and Java still pass.

A mark needs a pair in order, which short programs seldom have; so this rewrites without one.
Needs PUZZLEMARK_DATA, see tests/stories/test_executable_programs.py.
"""

import shutil
from pathlib import Path

import orjson
import pytest
from isal import igzip

from puzzlemark import plugins
from puzzlemark.snippet import Snippet, apply_edits
from puzzlemark.syntax.rewritings.base import compose, load
from puzzlemark.syntax.tree import parse
from puzzlemark.syntax.variables import POLICIES, Policy
from tests.stories.test_executable_programs import (
    JAVA,
    PYTHON,
    failures_in_java,
    failures_in_python,
)

every_policy = pytest.mark.parametrize("policy", POLICIES)


def rewritten(path: Path, language: str, policy: Policy) -> list[str]:
    """The programs that change, with all rewritings of the language in them at once."""
    names = [n for n in plugins.names("syntax.rewritings") if language == load(n).LANGUAGE]
    with igzip.open(path, "rb") as file:  # type: ignore[no-untyped-call]
        records = [orjson.loads(line) for line in file]
    programs: list[str] = []
    for record in records:
        tree = parse(Snippet("program", record["code"], language))
        found = [each for name in names for each in load(name).find(tree, policy)]
        edits = compose(each for each in found if each.form == "original")
        if edits:
            code = apply_edits(tree.code, edits).decode()
            programs.append(record["pre"] + code + record["post"])
    return programs


@every_policy
def test_python_programs_pass_their_tests(real_data: Path, policy: Policy) -> None:
    programs = rewritten(real_data / PYTHON, "python", policy)
    assert len(programs) > 100
    assert failures_in_python(programs) == []


@pytest.mark.skipif(shutil.which("javac") is None, reason="javac is not installed")
@every_policy
def test_java_programs_pass_their_tests(real_data: Path, tmp_path: Path, policy: Policy) -> None:
    programs = rewritten(real_data / JAVA, "java", policy)
    assert len(programs) > 10
    assert failures_in_java(programs, tmp_path / "programs") == []
