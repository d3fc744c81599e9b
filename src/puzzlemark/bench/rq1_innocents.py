"""A panel of innocent models: the untouched base and the bare twins, asked about every mark.

They are also asked about other prefixes, names that are drawn from the corpus. Whoever is detected
here is accused falsely. What is asked lies in `innocents/<language>/<set>/` of a budget's folder,
the answers in `innocents/answers/<model>/<set>/`; both are made once.
"""

import json
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from puzzlemark.bench import processes
from puzzlemark.bench.choices import Choice
from puzzlemark.bench.records import table
from puzzlemark.bench.rq1 import Budget, Say, mark_sample, record_plan
from puzzlemark.bench.trials import judge_again
from puzzlemark.corpora.base import open_corpus
from puzzlemark.models.base import open_model
from puzzlemark.snippet import Snippet
from puzzlemark.staging import write_text
from puzzlemark.statistics.rates import upper_bound
from puzzlemark.verification.probes import load_probes
from puzzlemark.verification.run import verify
from puzzlemark.verification.tests.base import Comparison
from puzzlemark.watermarks._names import make_pool
from puzzlemark.watermarks.base import from_spec, named

RECORD = "innocents.json"


@dataclass(frozen=True, slots=True)
class Panel:
    """How many other prefixes for a language, and how many pairs for each set of probes."""

    prefixes: int = 10
    pairs: int = 40


@dataclass(frozen=True, slots=True)
class Job:
    """One innocent model, and the sets that it is asked."""

    place: Path
    budget: Budget
    model: str
    folder: Path
    sets: tuple[str, ...]  # "python/P1", "python/fixed_prefix-prefix-node"


def run(
    place: Path,
    base: Path,
    budget: Budget,
    choices: Sequence[Choice],
    panel: Panel,
    *,
    side_by_side: int = 1,
    say: Say = print,
) -> None:
    """Ask every innocent model of a budget's folder; twins that are not trained yet are left out.

    A twin is asked about the prefixes of its own language; every mark is asked of everyone.
    """
    root = place / "innocents"
    record_plan(root / "panel.json", asdict(panel))
    asked: dict[str, list[str]] = {}
    languages = {choice.language for choice in choices}
    for language in sorted(languages):
        source = place / language / "train.jsonl.gz"
        for choice in (*choices, *_other_prefixes(source, language, budget, panel)):
            if choice.language == language:
                target = root / language / choice.name
                mark_sample(target, source, choice, _smaller(budget, panel))
                asked.setdefault(language, []).append(f"{language}/{choice.name}")
    everything = [each for sets in asked.values() for each in sets]
    marks = [each for each in everything if each.split("/")[1] in {c.name for c in choices}]
    jobs = [Job(root, budget, "base", base, tuple(everything))]
    for twin in sorted(place.glob("bare-*/model/training.json")):
        name = twin.parts[-3]
        own = asked.get(name.split("-")[1], [])
        sets = tuple(dict.fromkeys([*own, *marks]))
        jobs.append(Job(root, budget, name, twin.parent, sets))
    for job, message in processes.side_by_side(work, jobs, side_by_side):
        say(f"{budget.label} {job.model}: {message}")


def _smaller(budget: Budget, panel: Panel) -> Budget:
    """As many marks as the pairs need: nobody is trained on them."""
    rate = min(budget.rate, 2 * panel.pairs / budget.functions)
    return replace(budget, rate=rate, tau=0.0, pairs=panel.pairs, universal_pairs=panel.pairs)


def _other_prefixes(source: Path, language: str, budget: Budget, panel: Panel) -> list[Choice]:
    """Prefixes that no preset has, drawn by seed from names that the corpus declares often."""
    taken = {getattr(each.watermark, "prefix", None) for each in named().values()}
    snippets = (Snippet("", each.code or "", language) for each in open_corpus(source).entries())
    pool = make_pool(snippets).names.get(language, ())
    # one plain word, so that it is written alike in every language
    names = [name for name in pool if name.isalpha() and name.islower() and name not in taken]
    drawn = random.Random(budget.seed).sample(names, min(panel.prefixes, len(names)))
    return [
        Choice(f"prefix-{name}", language, from_spec(f"fixed_prefix:prefix={name}"), None)
        for name in drawn
    ]


def work(job: Job) -> str:
    """Ask one model about every set; a second call asks only what is missing."""
    model = open_model("hf", {"pretrained": str(job.folder), "threads": "1"})
    accused = 0
    for each in job.sets:
        probes = load_probes(job.place / each / "probes.jsonl")
        answers = job.place / "answers" / job.model / each.replace("/", "-")
        run = verify(probes, model, answers, job.budget.terms())
        accused += run.verdict.word == "detected"
    return f"{accused} of {len(job.sets)} sets detected"


def collect(place: Path, records: Path) -> None:
    """One file with the counts of every verdict."""
    root = place / "innocents"
    if not (root / "panel.json").exists():
        return
    rows: list[dict[str, Any]] = []
    for path in sorted(root.glob("answers/*/*/verdict.json")):
        read = json.loads(path.read_text())["verdict"]
        kept = {name: read[name] for name in ("word", "setting", "comparisons", "unasked")}
        rows.append({"model": path.parts[-3], "set": path.parts[-2], "verdict": kept})
    panel = json.loads((root / "panel.json").read_text())
    write_text(records / RECORD, json.dumps({"panel": panel, "verdicts": rows}, indent=1) + "\n")


def section(records: Path) -> list[str]:
    """Of the page: each model, what it was accused of, and what so few accusations allow."""
    path = records / RECORD
    if not path.exists():
        return []
    read = json.loads(path.read_text())
    rows, total = [], Counter[str]()
    for model in dict.fromkeys(each["model"] for each in read["verdicts"]):
        words, armed, others = Counter[str](), 0, 0
        for each in read["verdicts"]:
            if each["model"] == model:
                words[judge_again(each).word] += 1
                counts = [Comparison(**counted) for counted in each["verdict"]["comparisons"]]
                armed += counts[0].armed_hits
                others += sum(count.control_hits for count in counts)
        total += words
        rows.append(_cells(model, words, armed, others))
    rows.append(_cells("all together", total, None, None))
    about = (
        "Innocent models. The untouched base and the bare twins, asked "
        f"{read['panel']['pairs']} pairs about every mark and about {read['panel']['prefixes']} "
        "other prefixes of each language, names drawn from the corpus (a twin: of its own "
        "language). *detected* is a false accusation; *at most* is the exact one-sided bound "
        "(95 %) of its rate, as if the sets of one model were independent, which they are not:\n"
    )
    return [about, table(INNOCENT_HEAD, rows)]


INNOCENT_HEAD = "model|sets|detected|at most|inconclusive|armed hits|other hits".split("|")


def _cells(model: str, words: Counter[str], armed: int | None, others: int | None) -> list[str]:
    judged = words["detected"] + words["not detected"]
    return [
        model,
        str(words.total()),
        f"{words['detected']} of {judged}",
        f"{upper_bound(words['detected'], judged):.1%}" if judged else "-",
        str(words["inconclusive"]),
        "-" if armed is None else str(armed),
        "-" if others is None else str(others),
    ]
