"""What SS and AC look at: a sample of each set, and a model that was fine-tuned on it.

<set>/tuned/sample.jsonl.gz, truth.json    short functions, one in twenty marked
<set>/tuned/model/, states/                trained on the sample; its hidden states
"""

import json
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from puzzlemark.bench.processes import side_by_side
from puzzlemark.corpora.base import open_corpus
from puzzlemark.corpora.records import corpus_digest, record_digest
from puzzlemark.corpora.writing import write_records
from puzzlemark.detectors._accuracy import Truth
from puzzlemark.staging import write_text

NEEDS_MODEL = ("spectral_signature", "activation_clustering")
PLACES = ("model", "states")  # settings that say where something lay
Count = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class Tuning:
    """How much of a set a model is trained on, and for how long."""

    functions: int = 300
    rate: float = 0.05  # of marks: CodeMark's carriers are rarer, and a sample must hold some
    longest: int = 200  # tokens; of functions of 120, as in RQ1, too few carry CodeMark's marks
    steps: int = 75
    recipe: str = "cpu"
    layers: int = 10


@dataclass(frozen=True, slots=True)
class Suspect:
    """A set that is looked at, in a process of its own."""

    name: str
    records: Path
    marked: frozenset[int]  # rows of the records
    place: Path


@dataclass(frozen=True, slots=True)
class Look:
    """One set, and everything that decides what is found in it."""

    suspect: Suspect
    base: Path
    tuning: Tuning
    methods: tuple[str, ...]
    seed: int


def look_into(
    suspects: Sequence[Suspect],
    base: Path,
    tuning: Tuning,
    methods: Sequence[str],
    seed: int,
    *,
    at_once: int,
) -> Iterator[tuple[Suspect, dict[str, dict[str, Any]]]]:
    """What each method finds in each set, as they end; each model in a process of its own."""
    tasks = [Look(each, base, tuning, tuple(methods), seed) for each in suspects]
    for task, found in side_by_side(look, tasks, at_once):
        yield task.suspect, found


def look(task: Look) -> dict[str, dict[str, Any]]:
    """Train a model on a sample of the set and look into it: what each method finds."""
    from puzzlemark.detectors._run import detect
    from puzzlemark.training.run import train

    place, tuning = task.suspect.place, task.tuning
    truth = sample(task.suspect, task.base, tuning, task.seed)
    train(
        place / "sample.jsonl.gz",
        task.base,
        place / "model",
        recipe=tuning.recipe,
        layers=tuning.layers,
        steps=tuning.steps,
        seed=task.seed,
    )
    settings = {
        "model": str(place / "model"),
        "states": str(place / "states"),  # encoded once for all methods
        "encoder_args": "threads=1",
    }
    return {
        method: detect(
            place / "sample.jsonl.gz",
            place / f"{method}.parquet",
            method=method,
            settings=settings,
            truth=truth if truth.rows else None,
            overwrite=True,
        ).to_json()
        for method in task.methods
    }


def sample(suspect: Suspect, base: Path, tuning: Tuning, seed: int) -> Truth:
    """Draw short functions of a set; sets of one language share nearly all unmarked ones."""
    path = suspect.place / "truth.json"
    if not path.exists():
        from puzzlemark.training.network import load_tokenizer

        tokenizer = load_tokenizer(base)
        records, rows = draw(
            suspect, tuning, lambda code: len(tokenizer(code)["input_ids"]), random.Random(seed)
        )
        write_records(records, suspect.place / "sample.jsonl.gz", overwrite=True)
        digests = (record_digest(each["id"], each["code"]) for each in records)
        facts = {"rows": rows, "digest": corpus_digest(digests)}
        write_text(path, json.dumps(facts) + "\n")
    return Truth(**json.loads(path.read_text()))


def draw(
    suspect: Suspect, tuning: Tuning, count: Count, rng: random.Random
) -> tuple[list[dict[str, Any]], list[int]]:
    """The records of the sample, and which of its rows are marked."""
    records = list(enumerate(open_corpus(suspect.records).records()))
    rng.shuffle(records)

    def take(number: int, *, is_marked: bool) -> list[tuple[bool, dict[str, Any]]]:
        fitting = (
            (is_marked, dict(record))
            for row, record in records
            if (row in suspect.marked) is is_marked
            and _is_short(record["code"], tuning.longest, count)
        )
        return list(islice(fitting, number))

    marked = take(round(tuning.rate * tuning.functions), is_marked=True)
    chosen = marked + take(tuning.functions - len(marked), is_marked=False)
    rng.shuffle(chosen)
    rows = [row for row, (is_marked, _) in enumerate(chosen) if is_marked]
    return [record for _, record in chosen], rows


def _is_short(code: str | None, longest: int, count: Count) -> bool:
    if not code or len(code) > 6 * longest:  # a cheap look first
        return False
    return count(code) <= longest
