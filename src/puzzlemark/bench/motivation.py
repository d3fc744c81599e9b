"""The motivation: CodeMark's carriers are flagged before they carry (paper, section 3.1).

A run is a folder, and goes on where it stopped; `variants` says what lies in it. What is found goes
to `<language>.json`: how many carriers are flagged before and after, and for each group of snippets
how many have so many lines of code.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from puzzlemark.bench.variants import (
    METHODS,
    Ground,
    Job,
    Plan,
    Say,
    by_language,
    carriers,
    find_all,
    prepare,
)
from puzzlemark.features.measure import FEATURES
from puzzlemark.staging import write_text

MARKS = ("B1", "B2", "M1", "B3", "B4", "M2")
NLOC = FEATURES.index("nloc")


def run(
    folder: Path,
    corpora: Mapping[str, Path],
    plan: Plan,
    *,
    processes: int = 2,
    say: Say = print,
) -> None:
    """Both languages side by side; `<language>.json` holds what was found."""
    plan = replace(plan, marks=plan.marks or MARKS)
    by_language(work, folder, corpora, plan, processes=processes, say=say)


def work(job: Job) -> str:
    """One language."""
    ground = prepare(job)
    found = find_all(job, ground)
    groups = _groups(ground)
    groups |= {each["mark"]: _rows(ground, each["mark"]) for each in found}
    lines = ground.table().values[:, NLOC]
    facts = {
        "language": job.language,
        "records": len(lines),
        "variants": found,
        "nloc": {name: count_lines(lines[rows]) for name, rows in groups.items()},
    }
    write_text(job.folder / f"{job.language}.json", json.dumps(facts) + "\n")
    return f"{len(found)} marks in {len(lines):,} records"


def _groups(ground: Ground) -> dict[str, NDArray[np.bool_]]:
    """All snippets that can be measured, and those of them that each detector flags."""
    measured = ground.table().measured
    flagged = {method: measured & ground.flagged(method) for method in METHODS}
    return {"all": measured, **flagged}


def _rows(ground: Ground, name: str) -> NDArray[np.bool_]:
    rows = np.zeros(len(ground.table()), np.bool_)
    rows[carriers(ground, name)] = True
    return rows


def count_lines(lines: NDArray[np.int32]) -> dict[str, int]:
    """How many snippets have so many lines: `count_lines([3, 1, 3]) -> {"1": 1, "3": 2}`."""
    numbers, counts = np.unique(lines, return_counts=True)
    return {str(n): int(c) for n, c in zip(numbers.tolist(), counts.tolist(), strict=True)}
