"""RQ6: every watermark before every attacker, those who know the scheme included.

A run is a folder, and goes on where it stopped:

    <language>/bare.jsonl.gz, clean.jsonl.gz     the dataset, and clean records that are not in it
    <mark>/marked.jsonl.gz, manifest.jsonl.gz    every record as the owner publishes it
    <set>/<detector>.json                        what was found; a set is a mark, or bare-python
    <set>/tuned/                                 a model trained on a sample of it: for SS and AC
    <mark>/canonicalise.json                     what is left when every set of synonyms is one name

Projects and files stay in the records: the informed attacker looks at both.
"""

import json
import math
import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from puzzlemark import plugins
from puzzlemark.attacks._run import attack
from puzzlemark.bench.choices import Choice, choose, slug
from puzzlemark.bench.damage import count_damage
from puzzlemark.bench.truth import read_truth
from puzzlemark.bench.tuned import NEEDS_MODEL, Suspect, Tuning, look_into
from puzzlemark.corpora.base import open_corpus
from puzzlemark.corpora.writing import write_records
from puzzlemark.detectors._accuracy import Share, Truth
from puzzlemark.detectors._run import detect, load_suspicion
from puzzlemark.detectors.base import Suspicion, load_detector
from puzzlemark.embedding.manifest import load_manifest
from puzzlemark.embedding.run import embed
from puzzlemark.engines.base import Engine
from puzzlemark.errors import NothingMarked, UsageError
from puzzlemark.staging import write_text
from puzzlemark.watermarks.base import Keyed, named

METHODS = ("concat", "decoma", "killbadcode", "synonym_shadow")
SYNONYMS = ("synonyms", "synonyms:share=1@0.02", "synonyms:share=1@0.1")
AT_ONCE = 2  # models that are fine-tuned at the same time
RECALLS = (0.05, 0.1, 0.2, 0.5)
SECRET = b"the secret of a published experiment is public"
RATED = re.compile(r"(.+)@(0?\.\d+|1(?:\.0)?)")
KEPT = ("repo", "path")  # columns beside the code
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that decides a run but the corpora."""

    records: int | None = None  # drawn from each corpus; None: all of them
    clean_share: float = 0.2
    seed: int = 0
    beyond: int = 0  # records of the same draw that are left out: those of an earlier run
    methods: tuple[str, ...] = METHODS
    workers: int | None = None
    engine: str | Engine | None = None
    base: Path | None = None  # what SS and AC fine-tune, where they are among the methods
    tuning: Tuning = field(default_factory=Tuning)

    @property
    def looking(self) -> tuple[str, ...]:
        """The methods that look into a model which was fine-tuned on a sample."""
        return tuple(each for each in self.methods if each in NEEDS_MODEL)

    @property
    def reading(self) -> tuple[str, ...]:
        """The methods that need the records alone."""
        return tuple(each for each in self.methods if each not in NEEDS_MODEL)


@dataclass(frozen=True, slots=True)
class Case:
    """A watermark in one language, at a rate; None: its usual one."""

    choice: Choice
    rate: float | None

    @property
    def name(self) -> str:
        """Of its folder and of its row; the language stands last."""
        if self.rate is None:
            return self.choice.name
        head = self.choice.name.removesuffix(f"-{self.choice.language}")
        return f"{head}-rate-{slug(f'{self.rate:g}')}-{self.choice.language}"


def usual_marks() -> list[str]:
    """All that have a name, and those with a key."""
    loud = ["prefixes"] if "prefixes" in plugins.names("watermarks") else []
    return [*named(), *loud, *SYNONYMS]


def cases(specs: Sequence[str], languages: Sequence[str]) -> list[Case]:
    """`cases(["synonyms:share=1@0.1"], ["java"])`: what follows an @ is the rate."""
    found: list[Case] = []
    for spec in specs:
        rated = RATED.fullmatch(spec)
        plain, rate = (rated[1], float(rated[2])) if rated else (spec, None)
        chosen = choose([plain], languages)
        found += (Case(each, rate) for each in chosen if each.language in languages)
    return found


def run(
    folder: Path,
    corpora: Mapping[str, Path],
    marks: Sequence[str],
    plan: Plan,
    *,
    say: Say = print,
) -> None:
    """Embed every mark, let every attacker look for it, and canonicalise."""
    _record_plan(folder, plan)
    for language, corpus in corpora.items():
        _divide(folder / language, corpus, language, plan, say)
        for method in plan.reading:
            found = _detect(folder, f"bare-{language}", language, method, plan)
            say(f"bare-{language} {method}: {found['rate']:.2%} flagged")
    marked = []
    for case in cases(marks, list(corpora)):
        try:
            _mark(folder, case, plan, say)
        except NothingMarked as exc:  # some forms are rare in a small dataset
            say(f"{case.name}: left out: {exc}")
            continue
        marked.append(case.name)
        for method in plan.reading:
            found = _detect(folder, case.name, case.choice.language, method, plan)
            say(f"{case.name} {method}: {in_words(found)}")
        _canonicalise(folder / case.name, plan, say)
    if plan.looking:
        _look(folder, marked, plan, say)


def at_recall(suspicion: Suspicion, truth: Truth, recall: float) -> Share:
    """Marked among the most suspect records that hold such a share of the marked ones.

    All records with the score of the last one count: who scores all alike has the base rate.
    """
    scores = np.where(suspicion.judged, suspicion.scores, -np.inf)
    marked = np.zeros(len(scores), np.bool_)
    marked[np.fromiter(truth.rows, np.int64, len(truth.rows))] = True
    wanted = math.ceil(recall * int(marked.sum()))
    if not wanted:
        return Share(0, 0)
    least = np.sort(scores[marked])[::-1][wanted - 1]
    taken = scores >= least
    return Share(int(np.count_nonzero(marked & taken)), int(np.count_nonzero(taken)))


def in_words(facts: Mapping[str, Any]) -> str:
    """`recall 12.00%, precision 20.00%, at 10% recall 25.00%`."""
    recall, precision = (
        facts["accuracy"][name]["value"] or 0.0 for name in ("recall", "precision")
    )
    tenth = facts["at_recall"]["0.1"]["value"] or 0.0
    return f"recall {recall:.2%}, precision {precision:.2%}, at 10% recall {tenth:.2%}"


def _divide(target: Path, corpus: Path, language: str, plan: Plan, say: Say) -> None:
    """Draw records, and set clean ones apart: an attacker's reference is not in the dataset."""
    if (target / "clean.jsonl.gz").exists():
        return
    opened = open_corpus(corpus, language=language)
    code = opened.columns.code
    records = [
        {"id": f"r{row}", **{name: record.get(name) or "" for name in KEPT}, "language": language}
        | {"code": record[code]}
        for row, record in enumerate(opened.records())
    ]
    random.Random(plan.seed).shuffle(records)
    records = records[plan.beyond :][: plan.records]
    if not records:
        raise UsageError(f"{corpus}: no records are left beyond the first {plan.beyond:,}")
    clean = round(plan.clean_share * len(records))
    write_records(records[clean:], target / "bare.jsonl.gz", overwrite=True)
    write_records(records[:clean], target / "clean.jsonl.gz", overwrite=True)
    say(f"{language}: {len(records) - clean:,} records, {clean:,} clean ones apart")


def _mark(folder: Path, case: Case, plan: Plan, say: Say) -> None:
    target, choice = folder / case.name, case.choice
    if (target / "marks.json").exists():
        return
    target.mkdir(parents=True, exist_ok=True)
    secret = target / "secret"
    secret.touch(mode=0o600)
    other = f", beyond {plan.beyond}".encode() if plan.beyond else b""  # and another secret
    secret.write_bytes(SECRET + other)
    summary = embed(
        folder / choice.language / "bare.jsonl.gz",
        target / "marked.jsonl.gz",
        target / "manifest.jsonl.gz",
        mark=choice.preset,
        watermark=choice.watermark if choice.preset is None else None,
        policy="safe" if isinstance(choice.watermark, Keyed) else "paper",
        max_rate=case.rate,
        secret_file=secret,
        overwrite=True,
    )
    manifest = load_manifest(target / "manifest.jsonl.gz")
    facts = {
        "records": summary.records,
        "marked": summary.marked,
        "edited": sum(bool(carrier.edits) for carrier in manifest),
        "eligible": manifest.header.counts.get("eligible"),
    }
    write_text(target / "marks.json", json.dumps(facts, indent=1) + "\n")
    say(f"{case.name}: {summary.marked:,} of {summary.records:,} records marked")


def _detect(folder: Path, name: str, language: str, method: str, plan: Plan) -> dict[str, Any]:
    target, file = folder / name, slug(method)
    result = target / f"{file}.json"
    if not result.exists():
        target.mkdir(parents=True, exist_ok=True)
        manifest = target / "manifest.jsonl.gz"
        is_marked = manifest.exists()
        truth = read_truth(manifest) if is_marked else None
        detector = load_detector(method)
        found = detect(
            target / "marked.jsonl.gz" if is_marked else folder / language / "bare.jsonl.gz",
            target / f"{file}.parquet",
            method=detector,
            clean=folder / language / "clean.jsonl.gz" if detector.takes_clean else None,
            truth=truth,
            workers=plan.workers,
            engine=plan.engine,
            overwrite=True,
        )
        facts = {k: v for k, v in found.to_json().items() if k not in ("input", "output")}
        if truth is not None:
            facts["at_recall"] = {
                f"{each:g}": at_recall(found.suspicion, truth, each).to_json() for each in RECALLS
            }
            bare = load_suspicion(folder / f"bare-{language}" / f"{file}.parquet")
            before = int(np.count_nonzero(bare.flagged[sorted(truth.rows)]))
            facts["before"] = Share(before, len(truth.rows)).to_json()
            # the same ranking of the same records, where they carry nothing yet
            facts["before_at_recall"] = at_recall(bare, truth, 0.1).to_json()
        write_text(result, json.dumps(facts, indent=1, default=str) + "\n")
    read: dict[str, Any] = json.loads(result.read_text())
    return read


def _look(folder: Path, names: Sequence[str], plan: Plan, say: Say) -> None:
    """SS and AC look at a sample of each set, into a model that was fine-tuned on it."""
    assert plan.base is not None, "checked with the options"
    suspects = []
    for name in names:
        if all((folder / name / f"{method}.json").exists() for method in plan.looking):
            continue
        marked = frozenset(read_truth(folder / name / "manifest.jsonl.gz").rows)
        place = folder / name / "tuned"
        suspects.append(Suspect(name, folder / name / "marked.jsonl.gz", marked, place))
    at_once = min(plan.workers or AT_ONCE, AT_ONCE)
    looked = look_into(suspects, plan.base, plan.tuning, plan.looking, plan.seed, at_once=at_once)
    for suspect, found in looked:
        truth = Truth(**json.loads((suspect.place / "truth.json").read_text()))
        for method, told in found.items():
            if told["accuracy"] is None:
                say(f"{suspect.name} {method}: left out: no carrier is short enough for a sample")
                continue
            facts = {k: v for k, v in told.items() if k not in ("input", "output")}
            suspicion = load_suspicion(suspect.place / f"{method}.parquet")
            facts["at_recall"] = {
                f"{each:g}": at_recall(suspicion, truth, each).to_json() for each in RECALLS
            }
            text = json.dumps(facts, indent=1, default=str)
            write_text(folder / suspect.name / f"{method}.json", text + "\n")
            say(f"{suspect.name} {method}: {in_words(facts)}")


def _canonicalise(target: Path, plan: Plan, say: Say) -> None:
    """What a thief must touch who gives every set one name, and what is left of the marks."""
    result = target / "canonicalise.json"
    if result.exists():
        return
    attacked = attack(
        target / "marked.jsonl.gz",
        target / "canonical.jsonl.gz",
        attack="canonicalise",
        workers=plan.workers,
        engine=plan.engine,
        overwrite=True,
    )
    damage = count_damage(attacked, target / "manifest.jsonl.gz").to_json()
    facts = {"records": attacked.records, "changed": attacked.changed, **damage}
    write_text(result, json.dumps(facts, indent=1) + "\n")
    survived = f"{damage['survived']:,} of {damage['marks']:,} marks are left"
    say(f"{target.name} canonicalise: {attacked.changed:,} records changed, {survived}")


def _record_plan(folder: Path, plan: Plan) -> None:
    path = folder / "plan.json"
    facts = asdict(replace(plan, engine=None))  # an engine may be an object that cannot be copied
    others = ("methods", "workers", "engine", "base", "tuning")
    for name in (*others, *(() if plan.beyond else ("beyond",))):
        del facts[name]
    text = json.dumps(facts, indent=2) + "\n"
    if path.exists() and path.read_text() != text:
        raise UsageError(f"{path}: another plan was begun here; choose another --output")
    write_text(path, text)
