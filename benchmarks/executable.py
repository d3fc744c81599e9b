"""How many programs are marked, and how many still pass: `executable.py DATA [--mark W1 ...]`.

DATA is a folder with `exec_python_humaneval.jsonl.gz` and `exec_java_humaneval_x.jsonl.gz`; see
CONTRIBUTING.md. Every program that can carry a mark gets one; each marked program is run. Without
`--mark`: our two strategies in both languages. `--language go` runs another language's programs
with every scheme, or with those of `--mark`.
"""

import argparse
import tempfile
from pathlib import Path

from puzzlemark.syntax.variables import POLICIES, Policy
from puzzlemark.watermarks.base import Watermark, named
from tests.programs.marking import schemes
from tests.stories import test_executable_languages as others
from tests.stories.test_executable_programs import (
    JAVA,
    KEYWORD_CALL,
    PYTHON,
    STRATEGIES,
    failures_in_java,
    failures_in_python,
    marked_programs,
    programs,
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--mark", nargs="+", choices=sorted(named()), help="the paper's names")
    parser.add_argument("--language", choices=sorted(others.LANGUAGES), help="another language")
    parser.add_argument("--policy", nargs="+", choices=POLICIES, default=POLICIES)
    arguments = parser.parse_args()
    folder, files = arguments.data, {"python": PYTHON, "java": JAVA}
    print(
        "| language | watermark | policy | programs | changed | failed | of these by keyword call |"
    )
    print("|---|---|---|---|---|---|---|")
    if arguments.language:
        unmarked = others.LANGUAGES[arguments.language].unmarked
        for mark in arguments.mark or sorted(schemes(arguments.language).keys() - unmarked):
            for policy in arguments.policy:
                measure_other(folder, arguments.language, mark, policy)
        return
    chosen: list[tuple[str, str, str | Watermark]]
    if arguments.mark:
        chosen = [
            (named()[mark].language, mark, named()[mark].watermark) for mark in arguments.mark
        ]
    else:
        chosen = [(language, spec, spec) for language in files for spec in STRATEGIES]
    for language, label, watermark in chosen:
        for policy in arguments.policy:
            measure(folder / files[language], language, label, watermark, policy)


def measure(
    source: Path, language: str, label: str, watermark: str | Watermark, policy: Policy
) -> None:
    with tempfile.TemporaryDirectory() as place:
        changed = marked_programs(source, Path(place), language, watermark, policy)
    failed = failures_in_python(changed) if language == "python" else failures_in_java(changed)
    by_keyword = sum(KEYWORD_CALL in ending.error for ending in failed)
    total = len(programs(source))
    row = (language, label, policy, total, len(changed), len(failed), by_keyword)
    print("| " + " | ".join(map(str, row)) + " |", flush=True)


def measure_other(folder: Path, language: str, mark: str, policy: Policy) -> None:
    with tempfile.TemporaryDirectory() as place:
        changed = others.changed_programs(folder, Path(place), language, mark, policy)
    failed = others.failures(language, changed)
    total = len(programs(folder / others.LANGUAGES[language].file))
    row = (language, mark, policy, total, len(changed), len(failed), 0)
    print("| " + " | ".join(map(str, row)) + " |", flush=True)


if __name__ == "__main__":
    main()
