"""RQ6 with real models: what a model shows of a mark with a key after one, two, four epochs.

Two keys mark the same functions, and a model is trained with each: each is the other's innocent
twin. Some carriers are left out of the training, as a further control. Everything is a file:

    <budget>/<language>-<seed>/train.jsonl.gz, held_out.jsonl.gz    the bare corpus; other projects
    <cell>/<mark>-<key>/marked.jsonl.gz, manifest.jsonl.gz          what the owner publishes
    <cell>/<mark>-<key>/seen.jsonl.gz                               the same without some carriers
    <cell>/<mark>-<key>/<trained|unseen>.probes.jsonl               about carriers inside, outside
    <cell>/<mark>-a-<attack>/seen.jsonl.gz                          what a thief makes of that
    <cell>/<model>/epoch-<n>/model/, quality.json, verdicts.json    a model: of one of these, "bare"

An epoch is a training of its own that goes on from the model before it, so that the exposures of a
model are looks at one training, and a run that is stopped goes on with the epoch that it was in.
"""

import json
import random
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from puzzlemark import plugins
from puzzlemark.attacks._run import attack
from puzzlemark.bench import processes
from puzzlemark.bench.choices import slug
from puzzlemark.bench.rq6 import Say
from puzzlemark.bench.sampling import Wanted, draw
from puzzlemark.corpora.base import open_corpus
from puzzlemark.corpora.writing import write_records
from puzzlemark.embedding.manifest import Manifest, load_manifest, write_manifest
from puzzlemark.embedding.run import embed
from puzzlemark.errors import UsageError
from puzzlemark.models.base import (
    Answer,
    ChoiceRequest,
    Failure,
    LogProbs,
    Model,
    Request,
    open_model,
)
from puzzlemark.quality.measure import measure
from puzzlemark.quality.scoring import scorer_of
from puzzlemark.staging import write_text
from puzzlemark.training.network import load_tokenizer
from puzzlemark.training.recipes.base import load_recipe, override
from puzzlemark.training.run import train
from puzzlemark.verification.making import build_probes
from puzzlemark.verification.probes import ProbeSet, load_probes, save_probes
from puzzlemark.verification.run import verify
from puzzlemark.verification.terms import Terms

KEYS = ("a", "b")
# by the scheme: what a thief does who knows it, and does not know which functions carry
ATTACKS = {"synonyms": "canonicalise", "prefixes": "rename:detector=concat"}
POOL = 4  # times the functions wanted: among so many are enough that could carry
PROMPTS = 4  # asked at a time
BARE = "bare"
DONE = "verdicts.json"  # written when a model was asked everything
Carriers = Literal["trained", "unseen"]


@dataclass(frozen=True, slots=True)
class Marking:
    """A watermark, and how many of the functions carry it at most."""

    watermark: str
    rate: float

    @property
    def name(self) -> str:
        """Of its folder: `synonyms-share-1-rate-0-1`."""
        return f"{slug(self.watermark)}-rate-{slug(f'{self.rate:g}')}"

    @property
    def scheme(self) -> str:
        """The watermark without its settings."""
        return plugins.parse_spec(self.watermark)[0]

    def least(self, rate: float) -> float | None:
        """Prefixes are introduced up to a rate; drawn names stand where one stood before."""
        return rate if self.scheme == "prefixes" else None


# every eligible function may carry: a sample of short ones is small, and here power is measured
SYNONYMS = "synonyms:share=1"


@dataclass(frozen=True, slots=True)
class Budget:
    """How much data, how many carriers, how long: everything that decides a run but the corpora."""

    name: str
    functions: int
    markings: tuple[Marking, ...]
    exposures: tuple[int, ...] = (1, 2, 4)  # epochs after which a model is asked
    seeds: tuple[int, ...] = (0, 1)
    samples: tuple[int, ...] = (1, 5, 20)  # of each prompt
    sampled: tuple[int, ...] = ()  # exposures after which samples are asked for; none: all
    unseen: float = 0.25  # of the carriers, left out of the training
    longest: int = 120  # tokens of a function
    held_out: int = 120
    pairs: int = 2000  # asked about at most: all carriers
    answer: int = 32  # tokens asked for where quality is measured
    # of the functions drawn, how many could carry where nature has fewer; 0: as nature has them
    eligible: float = 0.0
    recipe: dict[str, Any] = field(default_factory=lambda: {"recipe": "cpu"})


# the top six layers of thirty, as in the pilots; what the others make of a row is kept
FAST = {
    "recipe": "cpu_fast",
    "layers": 6,
    "rate": 5e-4,
    "batch": 8,
    "schedule": "constant",
    "betas": (0.9, 0.999),
}
SHORT: dict[str, Any] = {
    "sampled": (3,),
    "pairs": 200,
    "samples": (1, 5),
    "unseen": 0.1,
    "eligible": 0.13,
    "held_out": 40,
    "answer": 16,
    "recipe": FAST,
}
LONG = {**SHORT, "samples": (1, 5, 20), "sampled": (2, 4), "held_out": 120, "answer": 32}
# every prefix of the pool in five frames; no sample more, since each is another prompt
LOUD = {**LONG, "eligible": 0.1, "pairs": 1000, "samples": (1,), "exposures": (2, 4)}
# ten frames, as `probe` makes them: five were too few to show what a model had learnt
DEEP = {**LOUD, "pairs": 2000, "exposures": (4,), "recipe": {"recipe": "cpu_fast"}}
BOTH_RATES = (Marking(SYNONYMS, 0.1), Marking(SYNONYMS, 0.02))
BUDGETS = {
    each.name: each
    for each in (
        # what a toy model learns in seconds: to see that all of it runs
        Budget("tiny", 40, (Marking("synonyms:share=1,entropy=0", 1.0),), (1, 2), (0,), (1, 2)),
        Budget("cpu", 2000, (Marking(SYNONYMS, 0.1),), (2, 3), (0,), **SHORT),
        Budget("cpu_rare", 2000, (Marking(SYNONYMS, 0.02),), (2, 3), (0,), **SHORT),
        # every cell that a computer without a graphics card can do, model by model (`--jobs`)
        Budget("cpu_all", 2000, BOTH_RATES, **LONG),
        Budget("cpu_loud", 2000, (Marking("prefixes", 0.05),), **LOUD),
        # ten layers, as in RQ1: with six a model learnt to begin names with a prefix, and no more
        Budget("cpu_loud_deep", 2000, (Marking("prefixes", 0.05),), **DEEP),
        Budget("full", 9000, (*BOTH_RATES, Marking("prefixes", 0.05))),
    )
}


@dataclass(frozen=True, slots=True)
class Job:
    """One model to train and to ask, in a process of its own."""

    cell: Path  # <language>-<seed>
    budget: Budget
    base: Path
    model: str  # "<mark>-<key>", or BARE
    asked: tuple[str, ...]  # folders of marks whose probes it is asked
    seed: int
    cache: Path  # what frozen layers made of a row, for all models of all budgets
    attack: str = ""  # on what the model is trained on

    @property
    def mark(self) -> str:
        """The mark in what the model is trained on, attacked or not."""
        return self.model.removesuffix(f"-{slug(self.attack)}") if self.attack else self.model

    @property
    def name(self) -> str:
        """As `--jobs` takes it: `java-0/synonyms-share-1-rate-0-1-a`."""
        return f"{self.cell.name}/{self.model}"

    @property
    def is_done(self) -> bool:
        """Whether the model was asked after its last exposure."""
        return (self.cell / self.model / f"epoch-{max(self.budget.exposures)}" / DONE).exists()


def run(
    folder: Path,
    corpora: Mapping[str, Path],
    base: Path,
    budget: Budget,
    *,
    jobs: Sequence[str] | None = None,
    side_by_side: int = 2,
    say: Say = print,
) -> Path:
    """Train and ask every model of a budget, or those that are named; returns its folder."""
    place = folder / budget.name
    _record_budget(place, budget)
    chosen = processes.named(plan_jobs(folder, corpora, base, budget), jobs)
    for language, corpus in corpora.items():
        for seed in budget.seeds:
            cell = place / f"{language}-{seed}"
            if not any(job.cell == cell for job in chosen):
                continue
            _sample(cell, corpus, language, base, budget, seed, say)
            for marking in budget.markings:
                for key in KEYS:
                    _mark(cell, marking, key, budget, seed, say)
    for job, message in processes.side_by_side(work, chosen, side_by_side):
        say(f"{budget.name} {job.cell.name} {job.model}: {message}")
    return place


def plan_jobs(folder: Path, languages: Iterable[str], base: Path, budget: Budget) -> list[Job]:
    """Every model of a budget; the cells of one language after the other."""
    return [
        job
        for language in languages
        for seed in budget.seeds
        for job in _jobs(
            folder / budget.name / f"{language}-{seed}", base, budget, seed, folder / "frozen"
        )
    ]


def _jobs(cell: Path, base: Path, budget: Budget, seed: int, cache: Path) -> Iterator[Job]:
    """A model of each key is asked about both; the bare one, for harmlessness, about none.

    Of the first mark there is one more, trained on what a thief left of it.
    """
    for marking in budget.markings:
        names = tuple(f"{marking.name}-{key}" for key in KEYS)
        yield from (Job(cell, budget, base, name, names, seed, cache) for name in names)
    yield Job(cell, budget, base, BARE, (), seed, cache)
    first = budget.markings[0]
    names = tuple(f"{first.name}-{key}" for key in KEYS)
    thief = ATTACKS[first.scheme]
    yield Job(cell, budget, base, f"{names[0]}-{slug(thief)}", names, seed, cache, thief)


def _sample(
    cell: Path, corpus: Path, language: str, base: Path, budget: Budget, seed: int, say: Say
) -> None:
    if (cell / "held_out.jsonl.gz").exists():
        return
    tokenizer = load_tokenizer(base)
    many = POOL * budget.functions if budget.eligible else budget.functions
    wanted = Wanted(many, budget.held_out, budget.longest, seed=seed)
    drawn = draw(
        open_corpus(corpus, language=language),
        wanted,
        lambda code: len(tokenizer(code)["input_ids"]),
    )
    train = _enrich(cell, drawn.train, budget) if budget.eligible else drawn.train
    write_records(train, cell / "train.jsonl.gz", overwrite=True)
    write_records(drawn.held_out, cell / "held_out.jsonl.gz", overwrite=True)
    say(f"{cell.name}: {len(train)} functions, {len(drawn.held_out)} held out")


def _enrich(cell: Path, pool: list[dict[str, Any]], budget: Budget) -> list[dict[str, Any]]:
    """So many functions of a pool that a share of them could carry, in the pool's order.

    Short functions that could carry are rarer than the rate that is asked for. Who could is decided
    without a key of the experiment.
    """
    ends = (".jsonl.gz", ".marked.jsonl.gz", ".manifest.jsonl.gz", ".secret")
    place, marked, manifest, secret = (cell / f"pool{end}" for end in ends)
    write_records(pool, place, overwrite=True)
    secret.touch(mode=0o600)
    secret.write_text("draws nothing that is kept")
    embed(
        place,
        marked,
        manifest,
        watermark=budget.markings[0].watermark,
        policy="safe",
        min_rate=budget.markings[0].least(1.0),
        max_rate=1.0,
        secret_file=secret,
        overwrite=True,
    )
    able = sorted(load_manifest(manifest).lines)
    for path in (place, marked, manifest, secret):
        path.unlink()
    chosen = set(able[: round(budget.eligible * budget.functions)])
    plain = [row for row in range(len(pool)) if row not in set(able)]
    chosen |= set(plain[: budget.functions - len(chosen)])
    return [pool[row] for row in sorted(chosen)]


def shares_layers(budget: Budget) -> bool:
    """Whether the recipe keeps what its frozen layers make."""
    recipe = load_recipe(str(budget.recipe["recipe"]))
    return (
        override(recipe, {k: v for k, v in budget.recipe.items() if k != "recipe"}).frozen == "once"
    )


def _mark(cell: Path, marking: Marking, key: str, budget: Budget, seed: int, say: Say) -> None:
    target = cell / f"{marking.name}-{key}"
    if (target / "marks.json").exists():
        return
    target.mkdir(parents=True, exist_ok=True)
    secret = _secret(target)
    secret.touch(mode=0o600)
    secret.write_text(f"the key {key} of a published experiment is public, seed {seed}")
    marked, manifest = target / "marked.jsonl.gz", target / "manifest.jsonl.gz"
    summary = embed(
        cell / "train.jsonl.gz",
        marked,
        manifest,
        watermark=marking.watermark,
        policy="safe",
        min_rate=marking.least(marking.rate),
        max_rate=marking.rate,
        secret_file=secret,
        overwrite=True,
    )
    whole = load_manifest(manifest)
    rows = sorted(whole.lines)
    away = set(random.Random(seed).sample(rows, round(budget.unseen * len(rows))))
    opened = open_corpus(marked)
    staying = np.setdiff1d(np.arange(opened.count()), sorted(away))
    opened.rewrite(target / "seen.jsonl.gz", rows=staying, overwrite=True)
    for kind, some in (("trained", set(rows) - away), ("unseen", away)):
        part = target / f"{kind}.manifest.jsonl.gz"
        part.unlink(missing_ok=True)  # of a run that was stopped here
        write_manifest(_some_of(whole, some), part)
        probes = build_probes(
            marked, part, pairs=budget.pairs, seed=budget.seeds[0], secret_file=secret
        )
        path = target / f"{kind}.probes.jsonl"
        path.unlink(missing_ok=True)
        save_probes(probes, path)
    facts = {"records": summary.records, "marked": summary.marked, "unseen": len(away)}
    facts["edited"] = sum(bool(carrier.edits) for carrier in whole)
    write_text(target / "marks.json", json.dumps(facts, indent=1) + "\n")
    say(f"{cell.name} {target.name}: {summary.marked} of {summary.records} functions marked")


def _some_of(manifest: Manifest, rows: Collection[int]) -> Manifest:
    """The same with the marks of some rows only."""
    counts = {**manifest.header.counts, "marked": len(rows)}
    lines = {row: line for row, line in manifest.lines.items() if row in rows}
    return Manifest(manifest.header.model_copy(update={"counts": counts}), lines)


def work(job: Job) -> str:
    """Train one model epoch by epoch and ask it; a second call does only what is missing."""
    corpus = job.cell / ("train.jsonl.gz" if job.model == BARE else f"{job.model}/seen.jsonl.gz")
    if job.attack:
        _attack(job, corpus)
    before, said = job.base, []
    for epoch in range(1, max(job.budget.exposures) + 1):
        place = job.cell / job.model / f"epoch-{epoch}"
        train(
            corpus,
            before,
            place / "model",
            epochs=1.0,
            seed=job.seed + epoch,  # another order of the functions
            cache=job.cache if shares_layers(job.budget) else None,
            **job.budget.recipe,
        )
        before = place / "model"
        if epoch in job.budget.exposures:
            said.append(f"after {epoch}: {_ask(job, place, epoch)}")
    return "; ".join(said)


def _attack(job: Job, corpus: Path) -> None:
    """What the thief trains on; who carries is what it was."""
    facts = corpus.with_name("marks.json")
    if facts.exists():
        return
    source = job.cell / job.mark
    done = attack(source / "seen.jsonl.gz", corpus, attack=job.attack, overwrite=True)
    before = json.loads((source / "marks.json").read_text())
    after = {**before, "attack": job.attack, "changed": done.changed}
    write_text(facts, json.dumps(after, indent=1) + "\n")


@dataclass(slots=True)
class Remembering:
    """A model that is not asked the same question twice: five samples are among twenty."""

    model: Any  # one that tells log-probabilities, too
    answers: dict[str, Answer] = field(default_factory=dict)
    scores: dict[ChoiceRequest, LogProbs | Failure] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The model's own."""
        return str(self.model.name)

    @property
    def batch_size(self) -> int:
        """The model's own."""
        return int(self.model.batch_size)

    def describe(self) -> dict[str, Any]:
        """The model's own."""
        return dict(self.model.describe())

    def complete(self, requests: Sequence[Request]) -> list[Answer]:
        """Ask what is new."""
        new = [each for each in requests if each.key not in self.answers]
        for each, answer in zip(new, self.model.complete(new) if new else (), strict=True):
            self.answers[each.key] = answer
        return [self.answers[each.key] for each in requests]

    def stream(self, requests: Sequence[Request]) -> Iterator[list[tuple[int, Answer]]]:
        """The same, as the answers come."""
        known = [(n, self.answers[r.key]) for n, r in enumerate(requests) if r.key in self.answers]
        if known:
            yield known
        new = [(n, each) for n, each in enumerate(requests) if each.key not in self.answers]
        for arrived in self.model.stream([each for _, each in new]):
            for place, answer in arrived:
                self.answers[new[place][1].key] = answer
            yield [(new[place][0], answer) for place, answer in arrived]

    def score(self, requests: Sequence[ChoiceRequest]) -> list[LogProbs | Failure]:
        """The same: both keys ask about the same names in the same prompts."""
        new = [each for each in requests if each not in self.scores]
        for each, score in zip(new, self.model.score(new) if new else (), strict=True):
            self.scores[each] = score
        return [self.scores[each] for each in requests]


def _ask(job: Job, place: Path, epoch: int) -> str:
    result = place / DONE
    if not result.exists():
        # all samples of some prompts in one batch: reading the weights takes longer than computing
        rows = PROMPTS * max(16, *job.budget.samples)
        about = {"pretrained": str(place / "model"), "threads": 1, "batch_size": rows}
        model = open_model("hf", about)
        asked = Remembering(model)
        found: list[dict[str, Any]] = []
        for name in job.asked:
            # prefixes are asked about in anybody's functions: no carrier has a part in it
            of_carriers = name == job.mark and not name.startswith("prefixes")
            kinds: tuple[Carriers, ...] = ("trained", "unseen") if of_carriers else ("trained",)
            for kind in kinds:
                found += _verdicts(job, asked, name, kind, place, epoch)
        measure(
            open_corpus(job.cell / "held_out.jsonl.gz"),
            model,
            output=place / "quality.json",
            samples=job.budget.held_out,
            max_tokens=job.budget.answer,
            seed=job.seed,
            scorer=scorer_of(model),
        )
        write_text(result, json.dumps(found, indent=1, default=str) + "\n")
    return in_words(json.loads(result.read_text()))


def _verdicts(
    job: Job, model: Model, name: str, kind: Carriers, place: Path, epoch: int
) -> Iterator[dict[str, Any]]:
    """What every number of samples shows, and log-probabilities where the design has them."""
    probes = load_probes(job.cell / name / f"{kind}.probes.jsonl")
    for way, terms in _ways(probes, job.budget, job.seed, epoch):
        folder = place / f"{name}-{kind}-{way}"
        run = verify(probes, model, folder, terms, secret_file=_secret(job.cell / name))
        yield {
            "mark": name,
            "role": "unseen" if kind == "unseen" else "own" if name == job.mark else "twin",
            "way": way,
            "verdict": run.to_json()["verdict"],
        }


def _ways(probes: ProbeSet, budget: Budget, seed: int, epoch: int) -> Iterator[tuple[str, Terms]]:
    sampling = probes.design.sampling
    common: dict[str, Any] = {
        "alpha": probes.design.alpha,
        "temperature": sampling.temperature,
        "max_tokens": sampling.max_tokens,
        "seed": seed,
    }
    has_logprobs = "logprobs" in probes.design.decisions
    for samples in sorted(budget.samples, reverse=True):  # fewer are among them, and remembered
        if has_logprobs and budget.sampled and epoch not in budget.sampled:
            continue
        yield f"{samples} samples", Terms(**common, samples=samples)
    if has_logprobs:
        yield "log-probabilities", Terms("logprobs", **common)


def evidence(verdict: Mapping[str, Any]) -> float | None:
    """The logarithm (base 10) of the e-value, or of 1 / p; None where nothing was decided."""
    for finding in verdict["decisive"]:
        if "log10_e" in finding["statistic"]:
            return float(finding["statistic"]["log10_e"])
    return None if verdict["log10_p"] is None else -float(verdict["log10_p"])


def in_words(found: Sequence[Mapping[str, Any]]) -> str:
    """`own 5 samples +7.0, twin 5 samples -0.2`."""
    values = [(each, evidence(each["verdict"])) for each in found]
    return ", ".join(
        f"{each['role']} {each['way']} {value:+.1f}" for each, value in values if value is not None
    )


def _secret(target: Path) -> Path:
    return target / "secret"


def _record_budget(place: Path, budget: Budget) -> None:
    """The folder belongs to one budget: half of one and half of another would be no experiment."""
    path = place / "budget.json"
    text = json.dumps(asdict(budget), indent=2) + "\n"
    if path.exists() and path.read_text() != text:
        raise UsageError(f"{path}: another budget was begun here; choose another --output")
    write_text(path, text)
