"""RQ3: what is left of a mark when the dataset was attacked before the training.

A run is a folder, and goes on where it stopped:

    <language>/train.jsonl.gz, clean.jsonl.gz   the bare corpus, and an attacker's clean functions
    <language>/crowd.jsonl.gz, apart.jsonl.gz   what else he has: other functions, and clean ones
    <mark>/marked.jsonl.gz, manifest, probes    the mark
    <mark>/<attempt>/left.jsonl.gz              the dataset after the attack
    <mark>/<attempt>/record.json                what a model that was trained on it answered

An attempt is `none`, a detector whose flags are removed (also one that sees a crowd of other
functions around the marked ones), an attack with its settings, or a rate to which the mark is
diluted. Each is a job that can be done alone, in a process of its own.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from puzzlemark.attacks._run import attack
from puzzlemark.attacks.base import load_attack
from puzzlemark.bench import processes
from puzzlemark.bench.choices import Choice, choose, slug
from puzzlemark.bench.damage import count_damage
from puzzlemark.bench.rq1 import BUDGETS, Budget, Say, mark_sample, prepare, record_plan
from puzzlemark.bench.sampling import other_records
from puzzlemark.bench.trials import Trial, conduct
from puzzlemark.bench.truth import read_truth
from puzzlemark.corpora.base import Corpus, open_corpus
from puzzlemark.corpora.writing import write_records
from puzzlemark.detectors._accuracy import judge
from puzzlemark.detectors._run import detect, write_suspicion
from puzzlemark.detectors.base import load_detector
from puzzlemark.embedding.manifest import load_manifest
from puzzlemark.errors import PuzzleMarkError

Kind = Literal["none", "removal", "crowd", "attack", "dilution"]
MODEL_BASED = ("spectral_signature", "activation_clustering")
COUNTING = ("decoma", "killbadcode")  # what they flag depends on how much they see
ATTACKS = (
    "rename:scope=all",
    "rename:detector=concat",
    "rename_natural",
    "format",
    "comments",
    "dedup",
)
RATES = (0.1, 0.05, 0.02, 0.01, 0.005)
MARKS = ("P1", "P3", "U1", "U2", "P2", "P4")


@dataclass(frozen=True, slots=True)
class Scale:
    """How large the experiment is: a budget as RQ1's, and the clean functions of an attacker."""

    budget: Budget
    clean: int
    rates: tuple[float, ...] = RATES
    marks: tuple[str, ...] = MARKS  # that it is meant for
    crowd: int = 20_000  # other functions that a counting detector sees around the marked ones


def _budget(name: str, functions: int, rate: float, **more: Any) -> Budget:
    """One epoch for a fixed prefix and two for a universal mark, with the faster recipe."""
    epoch = -(-functions // 4)
    fast = {"recipe": "cpu_fast"}
    values = {"steps": epoch, "universal_steps": 2 * epoch, "tau": 0.35, "held_out": 1}
    return Budget(name, functions, rate, **{**values, "recipe": fast, **more})


SCALES = {
    # a look at every part of it; nothing is learnt
    "tiny": Scale(
        _budget("tiny", 60, 0.3, steps=2, universal_steps=2, pairs=20, universal_pairs=20),
        clean=40,
        rates=(0.1,),
        crowd=200,
    ),
    # six minutes of one core for a model
    "small": Scale(_budget("small", 1200, 0.25, pairs=100, universal_pairs=150), clean=300),
    # the rates of the paper's kind: a quarter of an hour for a model
    "full": Scale(_budget("full", 3000, 0.1, pairs=150, universal_pairs=250), clean=750),
    # for universal marks: as in RQ1
    "wide": Scale(
        replace(BUDGETS["wide"].trained_by("cpu_fast"), held_out=1),
        clean=400,
        rates=(0.25, 0.1, 0.05),
        marks=("U1", "U2"),
    ),
}


@dataclass(frozen=True, slots=True)
class Attempt:
    """What is done to the marked dataset: `Attempt("removal", "decoma")`."""

    kind: Kind
    spec: str = ""  # a detector, an attack with settings, or a rate

    @property
    def name(self) -> str:
        """Its folder: `removal-decoma`."""
        return "-".join(filter(None, (self.kind, slug(self.spec))))


@dataclass(frozen=True, slots=True)
class Job:
    """The attempts of one process: one, or the falling rates of a dilution, until it fails."""

    place: Path
    choice: Choice
    attempts: tuple[Attempt, ...]
    scale: Scale
    base: Path

    @property
    def name(self) -> str:
        """As `--jobs` takes it: `P1/removal-decoma`, `U1/dilution`."""
        first = self.attempts[0]
        return f"{self.choice.name}/{'dilution' if first.kind == 'dilution' else first.name}"

    @property
    def is_done(self) -> bool:
        """Whether nothing is left to do."""
        records = [self.place / self.choice.name / each.name for each in self.attempts]
        if self.attempts[0].kind != "dilution":
            return (records[0] / "record.json").exists()
        words = [conduct_word(each) for each in records]
        return all(words) or any(word is not None and word != "detected" for word in words)


def conduct_word(folder: Path) -> str | None:
    """The verdict of an attempt that is done."""
    from puzzlemark.bench.trials import judge_again, read_record

    path = folder / "record.json"
    if not path.exists():
        return None
    record = read_record(path)
    return judge_again(record).word if "verdict" in record else "refused"


def plan_jobs(place: Path, choices: Sequence[Choice], scale: Scale, base: Path) -> list[Job]:
    """Every job, the most telling first; a table that is not finished has those that matter."""
    none = Attempt("none")
    removals = [Attempt("removal", each) for each in ("decoma", "killbadcode", "concat")]
    by_model = [Attempt("removal", each) for each in MODEL_BASED]
    in_crowd = [Attempt("crowd", each) for each in COUNTING]
    attacks = [Attempt("attack", each) for each in ATTACKS]
    rates = tuple(Attempt("dilution", f"{rate:g}") for rate in scale.rates)
    named = {choice.name: choice for choice in choices}
    fixed = [named[name] for name in ("P1", "P3") if name in named]
    universal = [named[name] for name in ("U1", "U2") if name in named]
    others = [each for each in choices if each not in (*fixed, *universal)]

    def ordered() -> Iterator[tuple[Choice, tuple[Attempt, ...]]]:
        for group, attempts in (
            (fixed, (none, *removals)),
            *(((each,), (none, *removals)) for each in universal),
            ((*fixed, *universal), (*by_model, *in_crowd)),
            (fixed, tuple(attacks)),
        ):
            for attempt in attempts:
                yield from ((choice, (attempt,)) for choice in group)
        yield from ((choice, rates) for choice in (*fixed, *universal))
        for choice in others:
            yield from ((choice, (attempt,)) for attempt in (none, *removals, *by_model))

    return [Job(place, choice, attempts, scale, base) for choice, attempts in ordered()]


def run(
    folder: Path,
    corpora: Mapping[str, Path],
    base: Path,
    scale: Scale,
    marks: Sequence[str] = MARKS,
    *,
    jobs: Sequence[str] | None = None,
    side_by_side: int = 1,
    say: Say = print,
) -> Path:
    """Do every job that is not done, or those that are named; returns the scale's folder."""
    place = folder / scale.budget.label
    choices = choose(marks, corpora)
    planned = processes.named(plan_jobs(place, choices, scale, base), jobs)
    prepare(place, corpora, base, scale.budget, choices, clean=scale.clean, say=say)
    record_plan(place / "plan.json", {**asdict(scale), "rates": list(scale.rates)})
    for language in {job.choice.language for job in planned if job.attempts[0].kind == "crowd"}:
        _gather(place / language, open_corpus(corpora[language], language=language), scale)
    left = [job for job in planned if not job.is_done]
    say(f"{len(planned)} jobs, {len(planned) - len(left)} done before")
    for job, message in processes.side_by_side(work, left, side_by_side):
        say(f"{job.name}: {message}")
    return place


def _gather(target: Path, corpus: Corpus, scale: Scale) -> None:
    """What else an attacker has, of all lengths; a sixth of it he knows to be clean."""
    if (target / "apart.jsonl.gz").exists():
        return
    names = ("train.jsonl.gz", "clean.jsonl.gz", "held_out.jsonl.gz")
    own = {each.code or "" for name in names for each in open_corpus(target / name).entries()}
    clean = scale.crowd // 5
    others = other_records(corpus, own, scale.budget.seed)[: scale.crowd + clean]
    write_records(others[clean:], target / "crowd.jsonl.gz", overwrite=True)
    write_records(others[:clean], target / "apart.jsonl.gz", overwrite=True)


def work(job: Job) -> str:
    """Attack, train, ask; what an attack cannot do is recorded in its own words."""
    words = []
    for attempt in job.attempts:
        words.append(_try(job, attempt))
        if job.attempts[0].kind == "dilution" and words[-1] != "detected":
            break
    return ", ".join(words)


def _try(job: Job, attempt: Attempt) -> str:
    place = job.place / job.choice.name / attempt.name
    facts = {
        "mark": job.choice.name,
        "language": job.choice.language,
        "attempt": asdict(attempt),
    }
    if not (place / "record.json").exists():
        if attempt.kind == "dilution":
            source, damage = _diluted(job, attempt, place)
        else:
            try:
                source, damage = _attacked(job, attempt, place)
            except PuzzleMarkError as exc:
                refused = {**facts, "refused": str(exc).replace(str(job.place), "")}
                record_plan(place / "record.json", refused)
                return "refused"
        conduct(_trial(job, attempt, place, source, {**facts, **damage}))
    return conduct_word(place) or ""


def _trial(
    job: Job, attempt: Attempt, place: Path, dataset: Path, facts: Mapping[str, Any]
) -> Trial:
    budget = job.scale.budget
    mark = place if attempt.kind == "dilution" else place.parent
    left = open_corpus(dataset).count()
    steps = max(1, round(budget.steps_for(job.choice) * left / budget.functions))
    return Trial(
        place,
        dataset,
        mark / "probes.jsonl",
        job.base,
        {**budget.recipe, "steps": steps, "seed": budget.seed},
        budget.terms(),
        # of all scales: their functions are the same
        cache=job.place.parent / "frozen",
        facts={**facts, "functions": left},
        keeps_model=attempt.kind == "none",  # SS and AC look into it
    )


def _attacked(job: Job, attempt: Attempt, place: Path) -> tuple[Path, dict[str, Any]]:
    """The dataset after an attack, and what the attack did to marks and other functions."""
    marked = place.parent / "marked.jsonl.gz"
    if attempt.kind == "none":
        header = load_manifest(place.parent / "manifest.jsonl.gz").header
        return marked, {"counts": {"marks": header.counts["marked"]}}
    place.mkdir(parents=True, exist_ok=True)
    left, facts = place / "left.jsonl.gz", {}
    if attempt.kind in ("removal", "crowd"):
        suspicion = place / "suspicion.parquet"
        find = _suspect if attempt.kind == "removal" else _suspect_in_crowd
        facts["detector"] = find(job, attempt.spec, marked, suspicion)
        done = attack(marked, left, attack="removal", suspicion=suspicion, overwrite=True)
    else:
        clean = job.place / job.choice.language / "clean.jsonl.gz"
        takes = load_attack(attempt.spec).takes
        done = attack(
            marked,
            left,
            attack=attempt.spec,
            clean=clean if "clean" in takes else None,
            overwrite=True,
        )
    facts["damage"] = count_damage(done, place.parent / "manifest.jsonl.gz").to_json()
    return left, facts


def _suspect(job: Job, method: str, marked: Path, suspicion: Path) -> dict[str, Any]:
    """Run a detector on the marked dataset, as an attacker would; judged by the truth beside."""
    settings: dict[str, Any] = {}
    if method in MODEL_BASED:
        _try(job, Attempt("none"))  # the model that an attacker would train first
        reference = marked.parent / Attempt("none").name
        settings = {
            "model": str(reference / "model"),
            "states": str(reference / "states"),
            "encoder_args": "threads=1",
        }
    detector = load_detector(method, settings)
    clean = job.place / job.choice.language / "clean.jsonl.gz"
    found = detect(
        marked,
        suspicion,
        method=detector,
        clean=clean if detector.takes_clean else None,
        truth=read_truth(marked.parent / "manifest.jsonl.gz"),
        overwrite=True,
    )
    accuracy = found.accuracy.to_json() if found.accuracy else {}
    return {"flagged": found.flagged, "records": found.records, **accuracy}


def _suspect_in_crowd(job: Job, method: str, marked: Path, suspicion: Path) -> dict[str, Any]:
    """What a detector says of the marked dataset when it sees it among other functions."""
    beside = job.place / job.choice.language
    whole = suspicion.with_name("seen.jsonl.gz")
    parts = (marked, beside / "crowd.jsonl.gz")
    seen = [dict(record) for part in parts for record in open_corpus(part).records()]
    write_records(seen, whole, overwrite=True)
    found = detect(
        whole,
        suspicion.with_name("seen.suspicion.parquet"),
        method=method,
        clean=beside / "apart.jsonl.gz",
        overwrite=True,
    )
    truth = read_truth(marked.parent / "manifest.jsonl.gz")
    own = open_corpus(marked).count()
    said = replace(
        found.suspicion,
        ids=found.suspicion.ids[:own],
        flagged=found.suspicion.flagged[:own],
        scores=found.suspicion.scores[:own],
        reasons=found.suspicion.reasons[:own],
        names=None,
    )
    accuracy, flagged = judge(said, truth), int(np.count_nonzero(said.flagged))
    part = replace(
        found, digest=truth.digest, records=own, flagged=flagged, accuracy=accuracy, suspicion=said
    )
    write_suspicion(part, suspicion)
    facts = {"seen": found.records, "flagged_of_seen": found.flagged}
    return {**facts, "flagged": flagged, "records": own, **accuracy.to_json()}


def _diluted(job: Job, attempt: Attempt, place: Path) -> tuple[Path, dict[str, Any]]:
    """As the paper does it: the same corpus, marked at a lower rate."""
    budget = replace(job.scale.budget, rate=float(attempt.spec))
    source = job.place / job.choice.language / "train.jsonl.gz"
    mark_sample(place, source, job.choice, budget)
    header = load_manifest(place / "manifest.jsonl.gz").header
    facts = {"counts": {"marks": header.counts["marked"]}, "rate": float(attempt.spec)}
    return place / "marked.jsonl.gz", facts
