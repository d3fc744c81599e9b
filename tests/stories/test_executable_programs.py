"""Marked programs still pass their own tests: HumanEval in Python and Java, marked at a 100 % rate.

Needs PUZZLEMARK_DATA, a folder with the two files below; each record is a program in three parts,
`pre` + `code` + `post`, of which `code` is marked.
"""

import shutil
from collections.abc import Sequence
from pathlib import Path

import orjson
import pytest
from isal import igzip

from puzzlemark.syntax.variables import Policy
from puzzlemark.watermarks.base import Watermark
from tests.programs.marking import mark_everything, schemes
from tests.programs.running import Ending, run_java, run_python

PYTHON = "exec_python_humaneval.jsonl.gz"
JAVA = "exec_java_humaneval_x.jsonl.gz"
STRATEGIES = ("fixed_prefix:prefix=key", "universal")
WORDS = "coprotector_word"
FEWEST = 30  # programs that a renaming or inserting scheme changes
# few names are in a set whose other names are all free; a key draws four prefixes
# (and with a prior that knows the context few of these names are in doubt: 5 in Java)
FEWER = {"synonyms": 4, "prefixes": 8}
# Pairs of expressions in order: these programs are too short for most of them. The rewritings
# themselves are run at every place, without pairs, in tests/syntax/rewritings/test_executable.py.
NO_PAIRS = ("B1", "B2", "B3", "B4", "M1", "M2")  # and `safe` refuses B1, B2, B3 and M1
KEYWORD_CALL = "unexpected keyword argument"


def programs(path: Path) -> list[str]:
    with igzip.open(path, "rb") as file:  # type: ignore[no-untyped-call]
        records = [orjson.loads(line) for line in file]
    return [record["pre"] + record["code"] + record["post"] for record in records]


def marked_programs(
    source: Path, place: Path, language: str, watermark: str | Watermark, policy: Policy
) -> list[str]:
    """The programs that a mark changes."""
    marked = place / "marked.jsonl.gz"
    summary = mark_everything(source, marked, language, watermark, policy)
    assert summary.marked > 0
    pairs = zip(programs(marked), programs(source), strict=True)
    return [after for after, before in pairs if after != before]


def failures_in_python(sources: Sequence[str]) -> list[Ending]:
    return [ending for ending in run_python(sources) if ending.code]


def failures_in_java(sources: Sequence[str]) -> list[Ending]:
    return [ending for ending in run_java([("Main", source) for source in sources]) if ending.code]


def watermarks(language: str) -> dict[str, str | Watermark]:
    """Every scheme that finds something here, and words for any two variables."""
    found = {name: each for name, each in schemes(language).items() if name not in NO_PAIRS}
    return {**found, WORDS: WORDS}


def cases(language: str) -> list[tuple[str, Policy]]:
    """Every scheme under `safe`; the renaming and the inserting ones under `paper` as well."""
    names = watermarks(language)
    return [(name, policy) for name in names for policy in ("safe", "paper")]


@pytest.mark.parametrize(("scheme", "policy"), cases("python"))
def test_python_programs_pass_their_tests(
    real_data: Path, tmp_path: Path, scheme: str, policy: Policy
) -> None:
    watermark = watermarks("python")[scheme]
    changed = marked_programs(real_data / PYTHON, tmp_path, "python", watermark, policy)
    failed = failures_in_python(changed)
    if policy == "paper":  # a renamed parameter may be passed by keyword in `post`; nothing else
        failed = [ending for ending in failed if KEYWORD_CALL not in ending.error]
    assert failed == []
    assert len(changed) > FEWER.get(scheme, FEWEST)


@pytest.mark.skipif(shutil.which("javac") is None, reason="javac is not installed")
@pytest.mark.parametrize(("scheme", "policy"), cases("java"))
def test_java_programs_pass_their_tests(
    real_data: Path, tmp_path: Path, scheme: str, policy: Policy
) -> None:
    watermark = watermarks("java")[scheme]
    changed = marked_programs(real_data / JAVA, tmp_path, "java", watermark, policy)
    assert failures_in_java(changed) == []
    assert len(changed) > FEWER.get(scheme, FEWEST)


def test_a_broken_program_would_be_noticed(real_data: Path) -> None:
    source = programs(real_data / PYTHON)[0]
    assert len(failures_in_python([source, source.replace("distance =", "nearness =")])) == 1
