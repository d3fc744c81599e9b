"""RQ4's table of hyper-parameters: is the mark verified at other rates and epochs of a training?

A run is a folder, and goes on where it stopped:

    <label>/<mark>/marked.jsonl.gz, manifest, probes.jsonl   the mark, as in RQ1
    <label>/<mark>/rate-0.008-epochs-2/record.json           a model, by how it was trained
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from puzzlemark.bench import processes
from puzzlemark.bench.choices import Choice, choose
from puzzlemark.bench.rq1 import BUDGETS, Budget, Say, prepare, record_plan
from puzzlemark.bench.trials import Trial, conduct, judge_again, read_record
from puzzlemark.embedding.manifest import load_manifest
from puzzlemark.errors import UsageError
from puzzlemark.staging import write_text
from puzzlemark.training.recipes.base import load_recipe

MARKS = ("P1", "P2", "U1")
FORMAT, VERSION = "puzzlemark hyper-parameters", 1

# tab:rq4_hyperparam, DeepSeek-Coder: rates 1e-3, 1e-4, 1e-5 at 10 epochs; epochs at rate 1e-4
PAPER = {
    "rates": {
        "P1": {"0.001": "3.94E-140", "0.0001": "1.81E-204", "1e-05": "6.83E-145"},
        "P2": {"0.001": "2.39E-164", "0.0001": "2.38E-163", "1e-05": "6.65E-143"},
        "U1": {"0.001": "4.30E-121", "0.0001": "6.35E-156", "1e-05": "6.62E-136"},
    },
    "epochs": {
        "P1": {"1": "4.89E-183", "5": "3.77E-200", "10": "1.81E-204"},
        "P2": {"1": "7.86E-167", "5": "1.08E-211", "10": "2.38E-163"},
        "U1": {"1": "1.15E-169", "5": "1.69E-181", "10": "6.35E-156"},
    },
}


@dataclass(frozen=True, slots=True)
class Grid:
    """The settings that are tried: each rate at `epochs[1]`, each number of epochs at `rates[1]`.

    As in the paper, the rates lie a factor of ten apart, around the recipe's own.
    """

    budget: Budget
    rates: tuple[float, ...]
    epochs: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(self.rates) < 2 or len(self.epochs) < 2:
            raise UsageError("a grid has two rates and two numbers of epochs or more")

    def settings(self) -> list[tuple[float, int]]:
        """Rate and epochs of each model, the usual ones first."""
        usual = self.rates[1], self.epochs[1]
        others = [(rate, usual[1]) for rate in self.rates] + [
            (usual[0], epochs) for epochs in self.epochs
        ]
        return list(dict.fromkeys([usual, *others]))


def make_grid(budget: Budget = BUDGETS["half"], recipe: str = "cpu_fast") -> Grid:
    """Rates ten times, once and a tenth of the recipe's; one, two and four epochs."""
    own = load_recipe(recipe).rate
    return Grid(
        budget.trained_by(recipe),
        tuple(float(f"{own * factor:g}") for factor in (10, 1, 0.1)),
        (1, 2, 4),
    )


@dataclass(frozen=True, slots=True)
class Job:
    """One mark, one rate, one number of epochs."""

    place: Path  # of the run
    choice: Choice
    rate: float
    epochs: int
    budget: Budget
    base: Path

    @property
    def folder(self) -> Path:
        """Where its record is."""
        return self.place / self.choice.name / f"rate-{self.rate:g}-epochs-{self.epochs}"


def run(
    folder: Path,
    corpora: Mapping[str, Path],
    base: Path,
    grid: Grid,
    marks: Sequence[str] = MARKS,
    *,
    side_by_side: int = 1,
    say: Say = print,
) -> Path:
    """Train and ask a model for each setting and mark; returns the run's folder."""
    place = folder / grid.budget.label
    choices = choose(marks, corpora)
    prepare(place, corpora, base, grid.budget, choices, say=say)
    plan = {"rates": list(grid.rates), "epochs": list(grid.epochs), "marks": list(marks)}
    record_plan(place / "plan.json", {**plan, "budget": asdict(grid.budget)})
    jobs = [
        Job(place, choice, rate, epochs, grid.budget, base)
        for rate, epochs in grid.settings()
        for choice in choices
    ]
    left = [job for job in jobs if not (job.folder / "record.json").exists()]
    for job, message in processes.side_by_side(work, left, side_by_side):
        say(f"{job.choice.name} rate {job.rate:g}, {job.epochs} epochs: {message}")
    return place


def work(job: Job) -> str:
    """One model."""
    mark = job.place / job.choice.name
    header = load_manifest(mark / "manifest.jsonl.gz").header
    record = conduct(
        Trial(
            job.folder,
            mark / "marked.jsonl.gz",
            mark / "probes.jsonl",
            job.base,
            {
                **job.budget.recipe,
                "rate": job.rate,
                "epochs": float(job.epochs),
                "seed": job.budget.seed,
            },
            job.budget.terms(),
            cache=job.place.parent / "frozen",
            facts={
                "mark": job.choice.name,
                "rate": job.rate,
                "epochs": job.epochs,
                "counts": {"marks": header.counts["marked"], "functions": header.input.records},
            },
        )
    )
    return judge_again(record).word


def collect(place: Path, records: Path) -> None:
    """One file with the plan, the paper's table and every record that is finished.

    `{"plan": {"rates": [...], "epochs": [...], "marks": [...], "budget": {...}}, "paper": PAPER,
    "trials": [...]}`; a trial has `mark`, `rate`, `epochs`, `counts`, `training` and `verdict`, of
    which `puzzlemark.bench.trials.found_cells` makes the cells of a table.
    """
    trials: list[dict[str, Any]] = [
        read_record(path) for path in sorted(place.glob("*/rate-*/record.json"))
    ]
    whole = {
        "format": FORMAT,
        "version": VERSION,
        "plan": json.loads((place / "plan.json").read_text()),
        "paper": PAPER,
        "trials": trials,
    }
    write_text(records, json.dumps(whole, indent=1) + "\n")
