"""How many programs are marked, and how many still pass their tests: `executable.py DATA`.

DATA is a folder with `exec_python_humaneval.jsonl.gz` and `exec_java_humaneval_x.jsonl.gz`; see
CONTRIBUTING.md. Every program that can carry a mark gets one; each marked program is run.
"""

import argparse
import tempfile
from pathlib import Path

from tests.stories.test_executable_programs import (
    JAVA,
    PYTHON,
    STRATEGIES,
    failures_in_java,
    failures_in_python,
    keyword_calls_broken,
    mark_everything,
    programs,
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("data", type=Path)
    folder = parser.parse_args().data
    print(
        "| language | watermark | policy | programs | changed | failed | of these by keyword call |"
    )
    print("|---|---|---|---|---|---|---|")
    for language, name in (("python", PYTHON), ("java", JAVA)):
        for watermark in STRATEGIES:
            for policy in ("safe", "paper"):
                measure(folder / name, language, watermark, policy)


def measure(source: Path, language: str, watermark: str, policy: str) -> None:
    with tempfile.TemporaryDirectory() as place:
        before = programs(source)
        after = programs(mark_everything(source, Path(place), language, watermark, policy))
        changed = [new for new, old in zip(after, before, strict=True) if new != old]
        if language == "python":
            failed = failures_in_python(changed)
            by_keyword = sum(keyword_calls_broken(changed[number]) for number in failed)
        else:
            failed, by_keyword = failures_in_java(changed, Path(place) / "programs"), 0
        row = (language, watermark, policy, len(before), len(changed), len(failed), by_keyword)
        print("| " + " | ".join(map(str, row)) + " |", flush=True)


if __name__ == "__main__":
    main()
