"""Section 6: CoProtector with carrier selection, and what selection and embedding cost.

A run is a folder, and goes on where it stopped; `variants` says what lies in it. What is found goes
to `<language>.json`, the times to `<language>/costs.json`. Times are processor seconds of one
process, taken one language after the other: the machine may be busy with something else.
"""

import json
import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

from puzzlemark.bench import rq2
from puzzlemark.bench.choices import Choice, choose
from puzzlemark.bench.variants import Ground, Job, Plan, Say, by_language, find_all, prepare
from puzzlemark.carriers.selection import TAU
from puzzlemark.embedding.run import embed
from puzzlemark.embedding.scores import score
from puzzlemark.errors import NothingMarked
from puzzlemark.staging import write_text

LOG = logging.getLogger(__name__)
MARKS = ("W1", "S1", "W2", "S2")
TAUS = (0.0, TAU)  # without and with carrier selection
REPEATS = 3  # of each measured time
SCHEMES = {  # whose cost is compared, by language
    "python": {"CoProtector": ("W1", "S1"), "CodeMark": ("M1",), "PuzzleMark": ("P1", "U1")},
    "java": {"CoProtector": ("W2", "S2"), "CodeMark": ("M2",), "PuzzleMark": ("P3", "U2")},
}


def run(
    folder: Path,
    corpora: Mapping[str, Path],
    plan: Plan,
    *,
    processes: int = 2,
    say: Say = print,
) -> None:
    """Variants side by side, then the times, one language after the other."""
    plan = replace(plan, taus=plan.taus or TAUS, marks=plan.marks or MARKS)
    for job in by_language(work, folder, corpora, plan, processes=processes, say=say):
        costs = job.folder / job.language / "costs.json"
        if not costs.exists():
            ground = Ground(job.folder / job.language, job.language)
            text = json.dumps(measure_costs(ground, corpora), indent=1)
            write_text(costs, text + "\n")
        _join(job)
        say(f"{job.language}: times measured")


def work(job: Job) -> str:
    """One language: CoProtector's marks in any carrier, and in selected ones."""
    found = find_all(job, prepare(job))
    text = json.dumps(found, indent=1)
    write_text(job.folder / job.language / "variants.json", text + "\n")
    return f"{len(found)} variants judged"


def measure_costs(
    ground: Ground, corpora: Mapping[str, Path], repeats: int = REPEATS
) -> list[dict[str, Any]]:
    """Processor seconds of selection, and of embedding each mark when selection is done.

    All are taken in turn, as often as `repeats` says: what else the machine does hits them alike.
    Features come from a file for every mark, so that embedding is compared with embedding.
    """
    place = ground.place / "costs"
    steps: dict[tuple[str, str], Callable[[], object]] = {
        ("selection", ""): lambda: score(
            ground.bare, place / "features.parquet", language=ground.language, overwrite=True
        )
    }
    for scheme, marks in SCHEMES[ground.language].items():
        for choice in choose(marks, corpora):
            steps[scheme, choice.name] = _embedding(ground, choice, place)
    times: dict[tuple[str, str], list[float]] = {step: [] for step in steps}
    for _ in range(repeats):
        for step, do in steps.items():
            started = time.process_time()
            try:
                do()
            except NothingMarked as exc:
                LOG.warning("%s: left out: %s", step[1], exc)
            else:
                times[step].append(time.process_time() - started)
    return [
        {"step": step, "mark": mark, "seconds": [round(each, 3) for each in took]}
        for (step, mark), took in times.items()
        if took
    ]


def _embedding(ground: Ground, choice: Choice, place: Path) -> Callable[[], object]:
    return lambda: embed(
        ground.bare,
        place / f"{choice.name}.jsonl.gz",
        place / f"{choice.name}.manifest.jsonl.gz",
        mark=choice.preset,
        policy="paper",
        features=ground.features,
        secret_file=rq2.public_secret(place),
        overwrite=True,
    )


def _join(job: Job) -> None:
    place = job.folder / job.language
    facts = {
        "language": job.language,
        "records": Ground(place, job.language).table().values.shape[0],
        "variants": json.loads((place / "variants.json").read_text()),
        "costs": json.loads((place / "costs.json").read_text()),
    }
    write_text(job.folder / f"{job.language}.json", json.dumps(facts, indent=1) + "\n")


def seconds(costs: list[dict[str, Any]], *marks: str) -> float | None:
    """The median time of one mark, or of several over all their repeats."""
    took = [each for cost in costs if cost["mark"] in marks for each in cost["seconds"]]
    return median(took) if took else None
