"""Many marked variants of one dataset, judged by two detectors that read the rest only once.

The variants differ from the bare dataset in a few records in a hundred. What a detector makes of
a record alone, which is nearly all of its work, is taken from its run on the bare dataset:

    <language>/bare.jsonl.gz, clean.jsonl.gz    the dataset, and clean records that are not in it
    <language>/features.parquet                 measured once, for all variants
    <language>/<detector>.parquet, <detector>/  what it says of the bare dataset, and what it kept
    <language>/<variant>/manifest.jsonl.gz, <detector>.json    a variant, and what was found in it
"""

import json
import logging
import shutil
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from puzzlemark.bench import rq2
from puzzlemark.bench.choices import Choice, choose
from puzzlemark.bench.processes import side_by_side
from puzzlemark.bench.rq1 import record_plan
from puzzlemark.bench.truth import read_truth
from puzzlemark.corpora.base import open_corpus
from puzzlemark.detectors._accuracy import Share, judge
from puzzlemark.detectors._run import detect, load_suspicion
from puzzlemark.detectors.base import Reusing, Suspicion, load_detector
from puzzlemark.embedding.manifest import load_manifest
from puzzlemark.embedding.run import embed
from puzzlemark.embedding.scores import load_scores, score
from puzzlemark.engines.base import open_engine
from puzzlemark.errors import NothingMarked
from puzzlemark.features.measure import FeatureTable
from puzzlemark.progress import no_progress
from puzzlemark.staging import write_text

LOG = logging.getLogger(__name__)
METHODS = ("killbadcode", "decoma")  # the two most effective detectors of the paper
Say = Callable[[str], None]
Flags = NDArray[np.bool_]
Rows = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that decides a run but the corpora."""

    records: int | None = None  # drawn from each corpus; None: all of them
    clean_share: float = 0.2
    seed: int = 0
    taus: tuple[float, ...] = ()  # none: what is usual for the mark
    marks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Job:
    """One language, in a process of its own."""

    folder: Path
    corpus: Path
    language: str
    choices: tuple[Choice, ...]
    plan: Plan


@dataclass(frozen=True, slots=True)
class Ground:
    """The bare dataset of one language: measured, and judged by both detectors."""

    place: Path
    language: str

    @property
    def bare(self) -> Path:
        """The dataset."""
        return self.place / "bare.jsonl.gz"

    @property
    def clean(self) -> Path:
        """What the detectors compare with."""
        return self.place / "clean.jsonl.gz"

    @property
    def features(self) -> Path:
        """The ten features of every record."""
        return self.place / "features.parquet"

    def table(self) -> FeatureTable:
        """The features, in the order of the dataset."""
        scores = load_scores(self.features)
        return scores.measured().take(int(scores.about["records"]))[0]

    def flagged(self, method: str) -> Flags:
        """What a detector flags of the bare dataset."""
        return load_suspicion(self.place / f"{method}.parquet").flagged


def by_language(
    work: Callable[[Job], str],
    folder: Path,
    corpora: Mapping[str, Path],
    plan: Plan,
    *,
    processes: int = 2,
    say: Say = print,
) -> list[Job]:
    """Do the work of each language side by side; the folder belongs to this plan."""
    record_plan(folder / "plan.json", asdict(plan))
    chosen = choose(plan.marks, corpora)
    jobs = [
        Job(folder, corpus, language, tuple(c for c in chosen if c.language == language), plan)
        for language, corpus in corpora.items()
    ]
    for job, message in side_by_side(work, jobs, processes):
        say(f"{job.language}: {message}")
    return jobs


def prepare(job: Job) -> Ground:
    """Draw the records, measure them, and let both detectors judge them unmarked."""
    ground = Ground(job.folder / job.language, job.language)
    division = rq2.Plan(
        records=job.plan.records, clean_share=job.plan.clean_share, seed=job.plan.seed
    )
    rq2.divide(ground.place, job.corpus, job.language, division, LOG.info)
    if not ground.features.exists():
        score(ground.bare, ground.features, language=job.language)
    for method in METHODS:
        judged = ground.place / f"{method}.parquet"
        if not judged.exists():
            detect(
                ground.bare,
                judged,
                method=method,
                clean=ground.clean,
                cache=ground.place / method,  # and it stays: the variants are judged from it
            )
    return ground


def find_all(job: Job, ground: Ground) -> list[dict[str, Any]]:
    """What each detector finds in every variant of a plan.

    A marked dataset does not stay: its `manifest.jsonl.gz` makes it again.
    """
    found: list[dict[str, Any]] = []
    for choice, tau in product(job.choices, job.plan.taus or (None,)):
        target = ground.place / variant_name(choice.name, tau)
        result = target / "found.json"
        try:
            if not result.exists():
                text = json.dumps(_find(ground, target, choice, tau), indent=1)
                write_text(result, text + "\n")
        except NothingMarked as exc:  # CodeMark's forms are rare in a small dataset
            LOG.warning("%s: left out: %s", target.name, exc)
        else:
            found.append(json.loads(result.read_text()))
    return found


def variant_name(mark: str, tau: float | None = None) -> str:
    """Its folder: `variant_name("P1", 0.35) -> "P1-tau-0.35"`."""
    return mark if tau is None else f"{mark}-tau-{tau:g}"


def carriers(ground: Ground, name: str) -> Rows:
    """The rows that carry a mark in a variant."""
    return np.array(
        sorted(load_manifest(ground.place / name / "manifest.jsonl.gz").lines), np.int64
    )


def _find(ground: Ground, target: Path, choice: Choice, tau: float | None) -> dict[str, Any]:
    marked, manifest = target / "marked.jsonl.gz", target / "manifest.jsonl.gz"
    summary = embed(
        ground.bare,
        marked,
        manifest,
        mark=choice.preset,
        watermark=choice.watermark if choice.preset is None else None,
        policy="paper",
        tau=tau,
        features=ground.features,
        secret_file=rq2.public_secret(target),
        overwrite=True,
    )
    truth = read_truth(manifest)
    rows = np.array(sorted(truth.rows), np.int64)
    found: dict[str, Any] = {
        "mark": choice.name,
        "tau": load_manifest(manifest).header.tau,
        "records": summary.records,
        "marked": summary.marked,
        "counts": dict(summary.counts),
        "detectors": {},
    }
    for method in METHODS:
        suspicion = _suspect(ground, method, marked, rows, target / method)
        accuracy = judge(suspicion, truth)
        found["detectors"][method] = {
            "recall": accuracy.recall.to_json(),
            "fpr": accuracy.fpr.to_json(),
            "before": Share(int(ground.flagged(method)[rows].sum()), len(rows)).to_json(),
        }
        shutil.rmtree(target / method)
    marked.unlink()
    return found


def _suspect(ground: Ground, method: str, marked: Path, changed: Rows, cache: Path) -> Suspicion:
    """Judge a variant, from what is known of the bare dataset where the detector can."""
    detector = load_detector(method)
    corpus, clean = open_corpus(marked), open_corpus(ground.clean)
    cache.mkdir(parents=True, exist_ok=True)
    with open_engine("serial") as engine:
        if isinstance(detector, Reusing):
            (earlier,) = (ground.place / method).iterdir()
            detector.reuse(earlier, cache, corpus, changed, engine)
        return detector.suspect(
            corpus, clean=clean, engine=engine, progress=no_progress, cache=cache
        )


def load(records: Path) -> list[dict[str, Any]]:
    """What a run recorded of each language, Python first."""
    paths = (records / f"{language}.json" for language in ("python", "java"))
    return [json.loads(path.read_text()) for path in paths if path.exists()]


def collect(run: Path, records: Path) -> None:
    """Copy what a page is made from; it names no snippet."""
    for path in sorted(run.glob("*.json")):
        write_text(records / path.name, path.read_text())
