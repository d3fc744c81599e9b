"""RQ2: what four detectors, and one that has read the paper, find of the sixteen watermarks.

A run is a folder, and goes on where it stopped:

    <language>/bare.jsonl.gz, clean.jsonl.gz     the dataset, and clean records that are not in it
    <mark>/marked.jsonl.gz, manifest.jsonl.gz    every record as the owner publishes it
    <set>/<detector>.json                        what was found; a set is a mark, or bare-python
    <set>/tuned/                                 a model trained on a sample of it: for SS and AC
"""

import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from puzzlemark.bench.choices import Choice, choose, slug
from puzzlemark.bench.truth import read_truth
from puzzlemark.bench.tuned import NEEDS_MODEL, Suspect, Tuning, look_into
from puzzlemark.corpora.base import open_corpus
from puzzlemark.corpora.writing import write_records
from puzzlemark.detectors._accuracy import Truth
from puzzlemark.detectors._run import detect, load_suspicion
from puzzlemark.detectors.base import load_detector
from puzzlemark.embedding.run import embed
from puzzlemark.engines.base import Engine
from puzzlemark.errors import NothingMarked, UsageError
from puzzlemark.staging import write_text

METHODS = ("spectral_signature", "activation_clustering", "killbadcode", "decoma", "concat")
SIDE_BY_SIDE = 2  # models that are trained at the same time, if nobody says how many
SECRET = b"the secret of a published experiment is public"
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that decides a run but the corpora."""

    records: int | None = None  # drawn from each corpus; None: all of them
    clean_share: float = 0.2
    seed: int = 0
    methods: tuple[str, ...] = METHODS
    tuning: Tuning = field(default_factory=Tuning)  # of the models that SS and AC look into
    workers: int | None = None
    engine: str | Engine | None = None  # of the detectors


def run(
    folder: Path,
    corpora: Mapping[str, Path],
    marks: Sequence[str],
    plan: Plan,
    *,
    base: Path | None = None,
    say: Say = print,
) -> None:
    """Embed every mark and run every detector; without a `base` model, those that need none.

    A mark is a preset (`U1`), or a watermark with settings: `fixed_prefix:prefix=node`.
    """
    _record_plan(folder, plan)
    for language, corpus in corpora.items():
        divide(folder / language, corpus, language, plan, say)
    sets = {f"bare-{language}": language for language in corpora}
    for choice in choose(marks, corpora):
        if choice.language in corpora:
            try:
                _mark(folder, choice, say)
            except NothingMarked as exc:  # CodeMark's forms are rare in a small dataset
                say(f"{choice.name}: left out: {exc}")
            else:
                sets[choice.name] = choice.language
    for name, language in sets.items():
        for method in plan.methods:
            if method not in NEEDS_MODEL:
                say(f"{name} {method}: {_detect(folder, name, language, method, plan)}")
    if base is not None:
        _look(folder, sets, base, plan, say)
    elif left_out := [method for method in plan.methods if method in NEEDS_MODEL]:
        say(f"{', '.join(left_out)}: left out, for want of a model to fine-tune (--base)")


def divide(target: Path, corpus: Path, language: str, plan: Plan, say: Say) -> None:
    """Draw records, and set clean ones apart: an attacker's reference is not in the dataset."""
    if (target / "clean.jsonl.gz").exists():
        return
    opened = open_corpus(corpus, language=language)
    columns = opened.columns
    records = [
        {"id": f"row:{row}", "language": language, "code": record[columns.code]}
        for row, record in enumerate(opened.records())
    ]
    random.Random(plan.seed).shuffle(records)
    records = records[: plan.records]
    clean = round(plan.clean_share * len(records))
    write_records(records[clean:], target / "bare.jsonl.gz", overwrite=True)
    write_records(records[:clean], target / "clean.jsonl.gz", overwrite=True)
    say(f"{language}: {len(records) - clean:,} records, {clean:,} clean ones apart")


def _mark(folder: Path, choice: Choice, say: Say) -> None:
    target = folder / choice.name
    if (target / "manifest.jsonl.gz").exists():
        return
    summary = embed(
        folder / choice.language / "bare.jsonl.gz",
        target / "marked.jsonl.gz",
        target / "manifest.jsonl.gz",
        mark=choice.preset,
        watermark=choice.watermark if choice.preset is None else None,
        policy="paper",
        secret_file=public_secret(target),
        overwrite=True,
    )
    marked = f"{summary.marked:,} of {summary.records:,} records marked"
    say(f"{choice.name}: {marked} ({summary.rate:.2%})")


def public_secret(folder: Path) -> Path:
    """The secret of published experiments, as a file: anybody can make the same marks."""
    folder.mkdir(parents=True, exist_ok=True)
    secret = folder / "secret"
    secret.touch(mode=0o600)
    secret.write_bytes(SECRET)
    return secret


def _detect(folder: Path, name: str, language: str, method: str, plan: Plan) -> str:
    target = folder / name
    file = slug(method)
    result = target / f"{file}.json"
    if not result.exists():
        manifest = target / "manifest.jsonl.gz"
        truth = read_truth(manifest) if manifest.exists() else None
        detector = load_detector(method)
        found = detect(
            _records(folder, name, language),
            target / f"{file}.parquet",
            method=detector,
            clean=folder / language / "clean.jsonl.gz" if detector.takes_clean else None,
            truth=truth,
            workers=plan.workers,
            engine=plan.engine,
            overwrite=True,
        )
        facts = found.to_json()
        if truth is not None:
            facts["before"] = _flagged_before(folder, language, method, truth)
        _write(result, facts)
    return _in_words(json.loads(result.read_text()))


def _look(folder: Path, sets: Mapping[str, str], base: Path, plan: Plan, say: Say) -> None:
    """SS and AC, each model in a process of its own."""
    methods = tuple(method for method in plan.methods if method in NEEDS_MODEL)
    suspects = []
    for name, language in sets.items():
        if all((folder / name / f"{method}.json").exists() for method in methods):
            continue
        manifest = folder / name / "manifest.jsonl.gz"
        marked = frozenset(read_truth(manifest).rows) if manifest.exists() else frozenset()
        records = _records(folder, name, language)
        suspects.append(Suspect(name, records, marked, folder / name / "tuned"))
    at_once = plan.workers or SIDE_BY_SIDE
    looked = look_into(suspects, base, plan.tuning, methods, plan.seed, at_once=at_once)
    for suspect, found in looked:
        for method, facts in found.items():
            _write(folder / suspect.name / f"{method}.json", facts)
            say(f"{suspect.name} {method}: {_in_words(facts)}")


def _records(folder: Path, name: str, language: str) -> Path:
    marked = folder / name / "marked.jsonl.gz"
    return marked if marked.exists() else folder / language / "bare.jsonl.gz"


def _write(path: Path, facts: Mapping[str, Any]) -> None:
    kept = {name: fact for name, fact in facts.items() if name not in ("input", "output")}
    write_text(path, json.dumps(kept, indent=1, default=str) + "\n")


def _flagged_before(folder: Path, language: str, method: str, truth: Truth) -> float | None:
    """The share of the carriers that the detector flags in the bare dataset already."""
    path = folder / f"bare-{language}" / f"{slug(method)}.parquet"
    if not path.exists() or not truth.rows:
        return None
    flagged = load_suspicion(path).flagged
    return float(flagged[sorted(truth.rows)].mean())


def _in_words(facts: Mapping[str, Any]) -> str:
    accuracy = facts["accuracy"]
    if accuracy is None:
        return f"{facts['rate']:.2%} flagged"
    recall, fpr = accuracy["recall"]["value"], accuracy["fpr"]["value"]
    return f"recall {recall or 0:.2%}, FPR {fpr:.2%}"


def _record_plan(folder: Path, plan: Plan) -> None:
    path = folder / "plan.json"
    facts = asdict(replace(plan, engine=None))  # an engine may be an object that cannot be copied
    for name in ("methods", "workers", "engine"):
        del facts[name]
    text = json.dumps(facts, indent=2) + "\n"
    if path.exists() and path.read_text() != text:
        raise UsageError(f"{path}: another plan was begun here; choose another --output")
    write_text(path, text)
