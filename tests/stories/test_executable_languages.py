"""Marked programs of Go, JavaScript and TypeScript still pass their own tests.

Needs PUZZLEMARK_DATA; `benchmarks/executable.py` runs every program with every scheme.
"""

from collections.abc import Sequence
from pathlib import Path

import pytest

from puzzlemark.syntax.variables import Policy
from puzzlemark.watermarks.base import named
from tests.oracles.scopes import needs_go, needs_node, needs_typescript
from tests.programs.running import Ending, run_go, run_node
from tests.stories.test_executable_programs import marked_programs

FILES = {
    "go": "exec_go_humaneval_x.jsonl.gz",
    "javascript": "exec_javascript_humaneval_x.jsonl.gz",
    "typescript": "exec_typescript_mbxp_third.jsonl.gz",
}
MARKS = ("P1", "P2", "U1", "W1")  # those of Python: a mark follows the record's language
SAMPLED = {"go": 12, "javascript": 1, "typescript": 3}  # every so many: Go is linked each time
CHANCE = "func CheckDictCase("  # fails now and then unmarked, too: it follows the order of a map
FEWEST = {"go": 5, "javascript": 50, "typescript": 15}


def failures(language: str, sources: Sequence[str]) -> list[Ending]:
    ended = run_go(sources) if language == "go" else run_node([(s, language) for s in sources])
    return [ending for ending in ended if ending.code]


@pytest.mark.parametrize(
    ("language", "mark", "policy"),
    [
        pytest.param(language, mark, policy, marks=needs)
        for language, needs, policies in (
            ("go", needs_go, ("safe",)),
            ("javascript", needs_node, ("safe", "paper")),
            ("typescript", needs_typescript, ("safe", "paper")),
        )
        for mark in (MARKS if language != "go" else ("U1", "W1"))
        for policy in policies
    ],
)
def test_programs_pass_their_tests(
    real_data: Path, tmp_path: Path, language: str, mark: str, policy: Policy
) -> None:
    source = real_data / FILES[language]
    changed = marked_programs(source, tmp_path, language, named()[mark].watermark, policy)
    sampled = [each for each in changed if CHANCE not in each][:: SAMPLED[language]]
    assert len(sampled) > FEWEST[language]
    assert failures(language, sampled) == []


@needs_node
def test_a_broken_program_would_be_noticed() -> None:
    good, bad = "let a = 1; console.log(a);", "let a = 1; console.log(b);"
    assert len(failures("javascript", [good, bad])) == 1
