"""Every rewriting at every place of real programs: HumanEval in Python and Java still pass.

A mark needs a pair in order, which short programs seldom have; so this rewrites without one.
Needs PUZZLEMARK_DATA, see tests/stories/test_executable_programs.py.
"""

import shutil
from pathlib import Path

import orjson
import pytest
from isal import igzip

from puzzlemark.syntax.variables import POLICIES, Policy
from tests.programs.marking import rewrite_everything
from tests.stories.test_executable_programs import (
    JAVA,
    PYTHON,
    failures_in_java,
    failures_in_python,
)

every_policy = pytest.mark.parametrize("policy", POLICIES)


def rewritten(path: Path, language: str, policy: Policy) -> list[str]:
    """The programs that change, with all rewritings of the language in them at once."""
    with igzip.open(path, "rb") as file:  # type: ignore[no-untyped-call]
        records = [orjson.loads(line) for line in file]
    programs: list[str] = []
    for record in records:
        code = rewrite_everything(record["code"], language, policy)
        if code != record["code"]:
            programs.append(record["pre"] + code + record["post"])
    return programs


@every_policy
def test_python_programs_pass_their_tests(real_data: Path, policy: Policy) -> None:
    programs = rewritten(real_data / PYTHON, "python", policy)
    assert len(programs) > (100 if policy == "paper" else 10)  # safe: methods of literals only
    assert failures_in_python(programs) == []


@pytest.mark.skipif(shutil.which("javac") is None, reason="javac is not installed")
@every_policy
def test_java_programs_pass_their_tests(real_data: Path, policy: Policy) -> None:
    programs = rewritten(real_data / JAVA, "java", policy)
    assert len(programs) > 10
    assert failures_in_java(programs) == []
