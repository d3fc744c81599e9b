"""RQ5: only the functions of one project are marked; the rest of the corpus is others' code.

A run is a folder, and goes on where it stopped:

    <project>/own.jsonl.gz, others.jsonl.gz           the project's functions; those of others
    <project>/<mark>/marked.jsonl.gz, manifest        the project, marked
    <project>/<mark>/corpus.jsonl.gz, probes.jsonl    with the others; what is asked about it
    <project>/<mark>/power.json                       what can be shown, written before the training
    <project>/<mark>/record.json                      what came out
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from puzzlemark.bench import processes
from puzzlemark.bench.choices import Choice, choose
from puzzlemark.bench.rq1 import Budget, Say, mark_sample, record_plan
from puzzlemark.bench.sampling import Wanted, fitting_records
from puzzlemark.bench.trials import Trial, conduct, judge_again
from puzzlemark.corpora.base import open_corpus
from puzzlemark.corpora.writing import write_records
from puzzlemark.embedding.manifest import load_manifest
from puzzlemark.errors import UsageError
from puzzlemark.training.network import load_tokenizer
from puzzlemark.verification.power import smallest_effect
from puzzlemark.verification.probes import load_probes
from puzzlemark.verification.terms import Terms

MARKS = ("P1", "P2", "U1")
LANGUAGE = "python"  # of the paper's three projects


def _budget(name: str, functions: int, **more: Any) -> Budget:
    """All of a project that can carry a mark does; longer functions, since projects are small."""
    values = {
        "rate": 1.0,
        "tau": 0.0,
        "steps": -(-functions // 4),
        "universal_steps": 2 * -(-functions // 4),
        "longest": 300,
        "held_out": 0,
        "pairs": 150,
        "recipe": {"recipe": "cpu_fast", "max_tokens": 300},
    }
    return Budget(name, functions, **{**values, **more})


SCALES = {
    "tiny": _budget("tiny", 60, steps=2, universal_steps=2, pairs=20, universal_pairs=20),
    "small": _budget("small", 2000),
    "full": _budget("full", 8000),
}


@dataclass(frozen=True, slots=True)
class Job:
    """One mark in one project."""

    place: Path  # of the project
    project: str
    choice: Choice
    budget: Budget
    base: Path


def run(
    folder: Path,
    projects: Mapping[str, Path],
    others: Path,
    base: Path,
    budget: Budget,
    marks: Sequence[str] = MARKS,
    *,
    side_by_side: int = 1,
    say: Say = print,
) -> Path:
    """Mark each project, train on it among others' functions, verify; returns the folder."""
    place = folder / budget.label
    choices = choose(marks, [LANGUAGE])
    if wrong := [choice.name for choice in choices if choice.language != LANGUAGE]:
        raise UsageError(f"{', '.join(wrong)}: the projects are {LANGUAGE}; leave it out")
    record_plan(place / "budget.json", asdict(budget))
    for name, path in projects.items():
        _divide(place / name, name, path, others, base, budget, say)
    jobs = [
        Job(place / name, name, choice, budget, base) for name in projects for choice in choices
    ]
    left = [job for job in jobs if not (job.place / job.choice.name / "record.json").exists()]
    for job, message in processes.side_by_side(work, left, side_by_side):
        say(f"{job.project} {job.choice.name}: {message}")
    return place


def _divide(
    target: Path, name: str, project: Path, others: Path, base: Path, budget: Budget, say: Say
) -> None:
    """The project's functions that fit, and so many of other repositories that the rest is full."""
    if (target / "others.jsonl.gz").exists():
        return
    tokenizer = load_tokenizer(base)
    wanted = Wanted(budget.functions, 0, budget.longest, seed=budget.seed)

    def count(code: str) -> int:
        return len(tokenizer(code)["input_ids"])

    fitting = fitting_records(open_corpus(project, language=LANGUAGE), wanted, count)
    own = list(islice(fitting, budget.functions // 2))  # a project is never most of a corpus
    repositories = {record["repo"] for record in own}
    codes = {record["code"] for record in own}
    rest: list[dict[str, Any]] = []
    for record in fitting_records(open_corpus(others, language=LANGUAGE), wanted, count):
        if len(own) + len(rest) >= budget.functions:
            break
        if record["repo"] not in repositories and record["code"] not in codes:
            rest.append(record)
    if not own or not rest:
        raise UsageError(f"{project}: no function of it, or none of others, fits the budget")
    write_records(own, target / "own.jsonl.gz", overwrite=True)
    write_records(rest, target / "others.jsonl.gz", overwrite=True)
    say(f"{budget.label} {name}: {len(own)} functions among {len(rest)} of others")


def work(job: Job) -> str:
    """Mark the project, say what can be shown, and only then train and ask."""
    place = job.place / job.choice.name
    mark_sample(place, job.place / "own.jsonl.gz", job.choice, job.budget)
    if not (place / "corpus.jsonl.gz").exists():
        parts = (place / "marked.jsonl.gz", job.place / "others.jsonl.gz")
        records = [dict(record) for part in parts for record in open_corpus(part).records()]
        random.Random(job.budget.seed).shuffle(records)
        write_records(records, place / "corpus.jsonl.gz", overwrite=True)
    header = load_manifest(place / "manifest.jsonl.gz").header
    power = foresee(place / "probes.jsonl", job.budget.terms())
    record_plan(place / "power.json", power)
    functions = open_corpus(place / "corpus.jsonl.gz").count()
    steps = job.budget.steps_for(job.choice) * functions / job.budget.functions
    record = conduct(
        Trial(
            place,
            place / "corpus.jsonl.gz",
            place / "probes.jsonl",
            job.base,
            {**job.budget.recipe, "steps": max(1, round(steps)), "seed": job.budget.seed},
            job.budget.terms(),
            cache=job.place.parent.parent / "frozen",
            facts={
                "project": job.project,
                "mark": job.choice.name,
                "counts": {
                    "own": header.input.records,
                    "marks": header.counts["marked"],
                    "functions": functions,
                },
                "power": power,
            },
        )
    )
    return judge_again(record).word


def foresee(probes: Path, terms: Terms) -> dict[str, Any]:
    """What `puzzlemark power` says before any model is asked: the smallest rate that would show.

    With 0 hits in the control, so many pairs show an armed hit rate of `smallest` with 80 %
    probability; None where not even a rate of 1 would.
    """
    asked = load_probes(probes)
    test, ratio = terms.decision(asked.design).test, terms.null_ratio(asked.design)
    pairs = len(asked.probes)
    enough = pairs >= terms.min_pairs
    smallest = smallest_effect(test, pairs, alpha=terms.alpha, ratio=ratio) if enough else None
    return {
        "pairs": pairs,
        "least_pairs": terms.min_pairs,
        "test": test,
        "ratio": float(ratio),
        "smallest": smallest,
    }
