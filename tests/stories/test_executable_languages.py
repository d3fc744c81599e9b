"""Marked programs of the languages beyond the paper's still pass their own tests.

Needs PUZZLEMARK_DATA; `benchmarks/executable.py` runs every program with every scheme.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from puzzlemark.syntax.variables import Policy
from tests.oracles.compiled import needs_php, needs_ruby
from tests.oracles.scopes import needs_go, needs_node, needs_typescript
from tests.programs.marking import schemes
from tests.programs.running import Ending, run_go, run_node, run_php, run_ruby
from tests.stories.test_executable_programs import marked_programs


@dataclass(frozen=True, slots=True)
class Programs:
    """Programs of one language: their file, how they are run, and how many of them are."""

    file: str
    run: Callable[[Sequence[str]], list[Ending]]
    needs: pytest.MarkDecorator
    every: int = 1  # of those that a scheme changes
    fewest: int = 100  # of all schemes together
    policies: tuple[Policy, ...] = ("safe", "paper")
    unmarked: frozenset[str] = frozenset()  # schemes that find nothing in them
    chance: str | None = None  # what the program has that fails now and then unmarked


def in_node(language: str) -> Callable[[Sequence[str]], list[Ending]]:
    return lambda sources: run_node([(source, language) for source in sources])


LANGUAGES = {
    "go": Programs(
        "exec_go_humaneval_x.jsonl.gz",
        run_go,
        needs_go,
        every=30,  # each is a package of its own, and compiling it takes a while
        fewest=15,
        policies=("safe",),
        chance="func CheckDictCase(",  # it follows the order of a map
    ),
    "javascript": Programs(
        "exec_javascript_humaneval_x.jsonl.gz", in_node("javascript"), needs_node, every=2
    ),
    "typescript": Programs(
        "exec_typescript_mbxp_third.jsonl.gz", in_node("typescript"), needs_typescript, every=4
    ),
    "php": Programs("exec_php_mbxp_third.jsonl.gz", run_php, needs_php, every=8, fewest=40),
    "ruby": Programs(
        "exec_ruby_mbxp_third.jsonl.gz",
        run_ruby,
        needs_ruby,
        every=4,
        fewest=40,
        unmarked=frozenset({"prefixes"}),  # no variable of theirs is called as the key draws
    ),
}


def failures(language: str, sources: Sequence[str]) -> list[Ending]:
    return [ending for ending in LANGUAGES[language].run(sources) if ending.code]


def changed_programs(
    data: Path, place: Path, language: str, scheme: str, policy: Policy
) -> list[str]:
    """What a scheme makes of the programs that it changes, but those that fail by chance."""
    its = LANGUAGES[language]
    changed = marked_programs(data / its.file, place, language, schemes(language)[scheme], policy)
    return [each for each in changed if its.chance is None or its.chance not in each]


@pytest.mark.parametrize(
    ("language", "policy"),
    [
        pytest.param(language, policy, marks=its.needs)
        for language, its in LANGUAGES.items()
        for policy in its.policies
    ],
)
def test_programs_pass_their_tests_with_every_scheme(
    real_data: Path, tmp_path: Path, language: str, policy: Policy
) -> None:
    its = LANGUAGES[language]
    sampled: list[str] = []
    for number, scheme in enumerate(sorted(schemes(language).keys() - its.unmarked)):
        changed = changed_programs(real_data, tmp_path, language, scheme, policy)
        assert changed, scheme
        sampled += changed[number % its.every :: its.every]
    assert len(sampled) > its.fewest
    assert failures(language, sampled) == []


@needs_node
def test_a_broken_program_would_be_noticed() -> None:
    good, bad = "let a = 1; console.log(a);", "let a = 1; console.log(b);"
    assert len(failures("javascript", [good, bad])) == 1
