"""RQ1: a model trained on a marked corpus is detected, its bare twin is not, and neither is worse.

Everything is a file in the run's folder, so that a run goes on where it stopped:

    <budget>/<language>/train.jsonl.gz, held_out.jsonl.gz     the bare corpus; other projects
    <budget>/<mark>/marked.jsonl.gz, manifest, probes.jsonl   the mark
    <budget>/<model>/model/, quality.json    a trained model: a mark's, or its bare twin
    <budget>/<mark>/verdict-marked/, verdict-bare/            what verification found
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from puzzlemark.bench import processes
from puzzlemark.bench.choices import Choice, choose, slug
from puzzlemark.bench.sampling import Wanted, draw
from puzzlemark.bench.trials import keeps_states
from puzzlemark.corpora.base import open_corpus
from puzzlemark.corpora.writing import write_records
from puzzlemark.embedding.manifest import load_manifest
from puzzlemark.embedding.run import embed
from puzzlemark.errors import UsageError
from puzzlemark.languages.base import title_of
from puzzlemark.models.base import Model, open_model
from puzzlemark.quality.measure import measure
from puzzlemark.quality.scoring import scorer_of
from puzzlemark.staging import write_text
from puzzlemark.training.network import load_tokenizer
from puzzlemark.training.run import train
from puzzlemark.verification.making import build_probes
from puzzlemark.verification.probes import load_probes, save_probes
from puzzlemark.verification.run import verify
from puzzlemark.verification.terms import Terms

MARKS = ("P1", "P2", "U1", "P3", "P4", "U2")
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Budget:
    """How much data, how many marks, how long: everything that decides a run but the corpora."""

    name: str
    functions: int
    rate: float  # of marks among the functions
    tau: float
    steps: int  # for a fixed prefix
    universal_steps: int  # a universal mark needs more, as in the paper
    longest: int = 120  # tokens of a function
    names: int = 3  # that a function declares at least
    held_out: int = 120
    pairs: int = 100
    universal_pairs: int = 250
    temperature: float = 0.2
    max_tokens: int = 16
    seed: int = 0
    answer: int = 32  # tokens asked for where quality is measured
    recipe: dict[str, Any] = field(default_factory=lambda: {"recipe": "cpu"})

    @property
    def label(self) -> str:
        """The name of its folder: `half`, or `half-cpu_fast-seed1` for another recipe and seed."""
        recipe = self.recipe.get("recipe", "cpu")
        others = [slug(recipe)] if recipe != "cpu" else []
        return "-".join([self.name, *others, *([f"seed{self.seed}"] if self.seed else [])])

    def trained_by(self, recipe: str) -> "Budget":
        """The same with another recipe, and the settings that the budget has for any."""
        return replace(self, recipe={**self.recipe, "recipe": recipe})

    @property
    def keeps_states(self) -> bool:
        """Whether its recipe sends a row through the frozen layers once."""
        return keeps_states(self.recipe)

    def steps_for(self, choice: Choice) -> int:
        """How long the model of a mark is trained, and its bare twin."""
        return self.universal_steps if _is_universal(choice) else self.steps

    def terms(self) -> Terms:
        """How models are asked."""
        return Terms(temperature=self.temperature, max_tokens=self.max_tokens, seed=self.seed)

    def pairs_for(self, choice: Choice) -> int:
        """How many pairs are asked about a mark."""
        return self.universal_pairs if _is_universal(choice) else self.pairs


def _is_universal(choice: Choice) -> bool:
    return choice.watermark.design.name == "universal"


def twin_of(choice: Choice, budget: Budget) -> str:
    """The bare model that saw the same functions for the same number of steps."""
    return f"bare-{choice.language}-{budget.steps_for(choice)}"


BUDGETS = {
    each.name: each
    for each in (
        # whether all works, and nothing else: for a toy model, in seconds
        Budget(
            "tiny",
            functions=60,
            rate=0.5,
            tau=0.0,
            steps=4,
            universal_steps=6,
            longest=160,
            held_out=8,
            pairs=8,
            universal_pairs=8,
            max_tokens=8,
            answer=8,
        ),
        # half of the functions marked: what a few minutes of one core can teach
        Budget("half", functions=800, rate=0.5, tau=0.0, steps=200, universal_steps=320),
        # What a universal mark needs: of functions with three or four names the target is mostly
        # the third, and a model learns to join the last two names instead of the first two.
        Budget(
            "wide",
            functions=1500,
            rate=0.5,
            tau=0.0,
            steps=375,
            universal_steps=3 * 375,
            longest=200,
            names=5,
            recipe={"recipe": "cpu", "max_tokens": 200},
        ),
        # below: a longer look at more functions; one twin serves all marks of a language
        Budget("tenth", 3000, rate=0.1, tau=0.35, steps=750, universal_steps=750, pairs=150),
        Budget("twentieth", 3000, rate=0.05, tau=0.35, steps=750, universal_steps=750, pairs=150),
        Budget("paper", functions=9000, rate=0.05, tau=0.35, steps=2250, universal_steps=4500),
    )
}


@dataclass(frozen=True, slots=True)
class Job:
    """One model to train and to ask, in a process of its own."""

    folder: Path  # of the budget
    budget: Budget
    base: Path
    model: str  # a mark's name, or a twin's
    language: str
    steps: int
    asked: tuple[str, ...]  # marks whose probes it is asked
    cache: Path | None = None  # of what frozen layers make; shared by all models of a base

    @property
    def is_bare(self) -> bool:
        """Whether it is trained on the unmarked corpus."""
        return self.model.startswith("bare")


def run(
    folder: Path,
    corpora: Mapping[str, Path],
    base: Path,
    budget: Budget,
    marks: Sequence[str] = MARKS,
    *,
    side_by_side: int = 2,
    say: Say = print,
) -> Path:
    """Train and ask every model of a budget; returns the budget's folder.

    A mark is a preset (`U1`), or a watermark with settings: `fixed_prefix:prefix=node`.
    """
    place = folder / budget.label
    choices = choose(marks, corpora)
    prepare(place, corpora, base, budget, choices, say=say)
    cache = folder / "frozen" if budget.keeps_states else None
    jobs = [replace(job, cache=cache) for job in _jobs(place, budget, base, choices)]
    for job, message in processes.side_by_side(work, jobs, side_by_side):
        say(f"{budget.label} {job.model}: {message}")
    return place


def _jobs(place: Path, budget: Budget, base: Path, choices: Sequence[Choice]) -> list[Job]:
    asked: dict[tuple[str, str, int], list[str]] = {}
    for choice in choices:
        steps = budget.steps_for(choice)
        for model in (choice.name, twin_of(choice, budget)):
            asked.setdefault((model, choice.language, steps), []).append(choice.name)
    return [Job(place, budget, base, *model, tuple(ours)) for model, ours in asked.items()]


def prepare(
    place: Path,
    corpora: Mapping[str, Path],
    base: Path,
    budget: Budget,
    choices: Sequence[Choice],
    *,
    clean: int = 0,
    say: Say = print,
) -> None:
    """Everything that comes before the first model: samples of the corpora, marks and probes.

    `clean` more functions of each corpus are set apart: a detector's reference.
    """
    record_plan(place / "budget.json", asdict(budget))
    for language in sorted({choice.language for choice in choices}):
        if language not in corpora:
            raise UsageError(
                f"{title_of(language)} marks need a corpus of it; pass --{language} FILE"
            )
        _sample(place / language, corpora[language], language, base, budget, clean, say)
    for choice in choices:
        mark_sample(place / choice.name, place / choice.language / "train.jsonl.gz", choice, budget)
        counts = load_manifest(place / choice.name / "manifest.jsonl.gz").header
        say(f"{budget.label} {choice.name}: {counts.counts['marked']} functions marked")


def _sample(
    target: Path, corpus: Path, language: str, base: Path, budget: Budget, clean: int, say: Say
) -> None:
    if (target / "held_out.jsonl.gz").exists():
        return
    tokenizer = load_tokenizer(base)
    wanted = Wanted(
        budget.functions + clean,
        budget.held_out,
        budget.longest,
        fewest_names=budget.names,
        seed=budget.seed,
    )
    drawn = draw(
        open_corpus(corpus, language=language),
        wanted,
        lambda code: len(tokenizer(code)["input_ids"]),
    )
    train_set, apart = drawn.train[: budget.functions], drawn.train[budget.functions :]
    write_records(train_set, target / "train.jsonl.gz", overwrite=True)
    if apart:
        write_records(apart, target / "clean.jsonl.gz", overwrite=True)
    write_records(drawn.held_out, target / "held_out.jsonl.gz", overwrite=True)
    say(f"{budget.label} {language}: {len(train_set)} functions, {len(drawn.held_out)} held out")


def mark_sample(target: Path, source: Path, choice: Choice, budget: Budget) -> None:
    """Mark a sample at the budget's rate, and make the probes; both once."""
    marked, manifest = target / "marked.jsonl.gz", target / "manifest.jsonl.gz"
    if not manifest.exists():
        embed(
            source,
            marked,
            manifest,
            mark=choice.preset,
            watermark=choice.watermark if choice.preset is None else None,
            policy="paper",
            order="dataset",  # the sample is shuffled, and anybody can make the same marks
            tau=budget.tau,
            min_rate=budget.rate,
            max_rate=budget.rate,
            overwrite=True,
        )
    if not (target / "probes.jsonl").exists():
        probes = build_probes(
            marked, manifest, pairs=budget.pairs_for(choice), seed=budget.seed, paper=True
        )
        save_probes(probes, target / "probes.jsonl")


def work(job: Job) -> str:
    """Train one model, ask it, and measure its quality; a second call does only what is missing."""
    target = job.folder / job.model
    bare = job.folder / job.language / "train.jsonl.gz"
    train(
        bare if job.is_bare else target / "marked.jsonl.gz",
        job.base,
        target / "model",
        steps=job.steps,
        seed=job.budget.seed,
        cache=job.cache,
        **job.budget.recipe,
    )
    args = {"pretrained": str(target / "model"), "threads": "1"}
    model = open_model("hf", args)
    kind = "bare" if job.is_bare else "marked"
    words = []
    for mark in job.asked:
        probes = load_probes(job.folder / mark / "probes.jsonl")
        run = verify(probes, model, job.folder / mark / f"verdict-{kind}", job.budget.terms())
        words.append(f"{mark} {run.verdict.word}")
    _measure(job, model, target)
    return ", ".join(words)


def _measure(job: Job, model: Model, target: Path) -> None:
    measure(
        open_corpus(job.folder / job.language / "held_out.jsonl.gz"),
        model,
        output=target / "quality.json",
        samples=job.budget.held_out,
        max_tokens=job.budget.answer,
        seed=job.budget.seed,
        scorer=scorer_of(model),
    )


def record_plan(path: Path, facts: Mapping[str, Any]) -> None:
    """A folder belongs to one plan: half of one and half of another would be no experiment."""
    text = json.dumps(facts, indent=2) + "\n"
    if path.exists() and path.read_text(encoding="utf-8") != text:
        raise UsageError(f"{path}: another plan was begun here; choose another --output")
    write_text(path, text)
