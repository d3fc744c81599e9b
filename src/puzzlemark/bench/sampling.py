"""Functions that a small training budget can learn from: short, with three names, by project."""

import random
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from puzzlemark.corpora.base import Corpus
from puzzlemark.errors import UnparsableSnippet, UsageError
from puzzlemark.features.measure import FEATURES, measure
from puzzlemark.snippet import Snippet
from puzzlemark.syntax.tree import parse

PROJECT_COLUMNS = ("repo", "repository_name", "repository", "project")
NAMES = FEATURES.index("dvc")  # distinct variables


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which functions are drawn, and how many."""

    functions: int  # to train on
    held_out: int  # of other projects, to measure quality on
    longest: int  # tokens
    fewest_names: int = 3
    held_out_share: float = 0.15  # of the projects
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Sample:
    """Two sets of records that share no project."""

    train: list[dict[str, Any]]
    held_out: list[dict[str, Any]]


def draw(corpus: Corpus, wanted: Wanted, count_tokens: Callable[[str], int]) -> Sample:
    """Walk the records in an order drawn by seed until both sets are full.

    Which projects are held out is drawn first; a record without a project is never held out.
    """
    rng = random.Random(wanted.seed)
    records = [_plain(corpus, record) for record in corpus.records()]
    projects = sorted({each["repo"] for each in records if each["repo"]})
    away = set(rng.sample(projects, round(wanted.held_out_share * len(projects))))
    rng.shuffle(records)
    fitting = _fitting(_distinct(records), wanted, count_tokens)
    train: list[dict[str, Any]] = []
    held_out: list[dict[str, Any]] = []
    for record in fitting:
        side, size = (
            (held_out, wanted.held_out) if record["repo"] in away else (train, wanted.functions)
        )
        if len(side) < size:
            side.append(record)
        if len(train) == wanted.functions and len(held_out) == wanted.held_out:
            return Sample(train, held_out)
    raise UsageError(
        f"{corpus.path}: {len(train)} functions to train on and {len(held_out)} to hold out fit "
        f"the budget, not {wanted.functions} and {wanted.held_out}; pass a larger dataset"
    )


def fitting_records(
    corpus: Corpus, wanted: Wanted, count_tokens: Callable[[str], int]
) -> Iterator[dict[str, Any]]:
    """Every record that fits, in an order drawn by seed."""
    records = [_plain(corpus, record) for record in corpus.records()]
    random.Random(wanted.seed).shuffle(records)
    return _fitting(_distinct(records), wanted, count_tokens)


def other_records(corpus: Corpus, own: Collection[str], seed: int) -> list[dict[str, Any]]:
    """Every record with a code that is not among these, whatever it is like, in a drawn order."""
    records = [_plain(corpus, record) for record in corpus.records()]
    random.Random(seed).shuffle(records)
    return [record for record in _distinct(records) if record["code"] not in own]


def _plain(corpus: Corpus, record: Any) -> dict[str, Any]:
    columns = corpus.columns
    project = next((record[name] for name in PROJECT_COLUMNS if record.get(name)), "")
    language = record.get(columns.language) if columns.language else None
    name = record.get(columns.id) if columns.id else None
    code = record[columns.code]
    return {"id": name, "repo": project, "language": language or corpus.language, "code": code}


def _distinct(records: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    seen: set[str] = set()
    for record in records:
        if isinstance(record["code"], str) and record["code"] not in seen:
            seen.add(record["code"])
            yield record


def _fitting(
    records: Iterable[dict[str, Any]], wanted: Wanted, count_tokens: Callable[[str], int]
) -> Iterator[dict[str, Any]]:
    for record in records:
        code = record["code"]
        if len(code) > 6 * wanted.longest or len(code) < wanted.longest:  # a cheap look first
            continue
        if count_tokens(code) > wanted.longest or code.count("\n") < 3:
            continue
        try:
            tree = parse(Snippet("", code, record["language"]))
        except UnparsableSnippet:
            continue
        if measure(tree)[NAMES] >= wanted.fewest_names:
            yield record
