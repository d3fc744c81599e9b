"""The outer loops of Algorithm 1: natural carriers to the maximum rate, others to the minimum."""

import hashlib
import math
import random
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from puzzlemark.carriers.selection import Selection, select
from puzzlemark.corpora.base import Batch, Corpus
from puzzlemark.corpora.records import record_digest
from puzzlemark.embedding.counting import NOT_ELIGIBLE, count_places
from puzzlemark.embedding.manifest import Carrier
from puzzlemark.embedding.marking import mark_snippet
from puzzlemark.embedding.survey import (
    Measured,
    Survey,
    Wanted,
    parse_entry,
    survey,
    survey_measured,
)
from puzzlemark.engines.base import Engine
from puzzlemark.errors import UsageError
from puzzlemark.features.measure import DEFAULT, FeatureTable
from puzzlemark.progress import Progress, no_progress
from puzzlemark.snippet import apply_edits
from puzzlemark.syntax.variables import POLICIES, Policy
from puzzlemark.watermarks.base import Counting, Introducing, Refusal, Watermark

Order = Literal["keyed", "dataset"]
BELOW_THRESHOLD = "suitability below the threshold"
TOO_FEW_NAMES = "too few variables in the snippet"
FIRST_GUESS = 0.3  # the share of candidates that can carry
NOT_NEEDED = "not needed: the rate was reached"
CARRIES = "carries another watermark already"
NOT_FOR_IT = "nothing in the snippet that the mark could use"


@dataclass(frozen=True, slots=True)
class Settings:
    """All that decides the marks, beside the dataset and the secret.

    Defaults are the paper's, but for the policy: see docs/policies.md.
    """

    watermark: Watermark
    policy: Policy = "safe"
    order: Order = "keyed"
    tau: float = 0.35  # suitability quantile below which snippets carry nothing
    min_rate: float = 0.01  # shares of all records
    max_rate: float = 0.05
    features: tuple[str, ...] = DEFAULT
    projection: str = "pca"
    language: str | None = None  # mark records in this language only
    marks_per_record: int = 1  # the most that one record carries, each in a function of its own

    def __post_init__(self) -> None:
        if not 0 <= self.min_rate <= self.max_rate <= 1:
            raise UsageError(
                f"rates must satisfy 0 <= min-rate <= max-rate <= 1, "
                f"not {self.min_rate} and {self.max_rate}"
            )
        if not 0 <= self.tau <= 1:
            raise UsageError(f"tau is a quantile between 0 and 1, not {self.tau}")
        if self.policy not in POLICIES:
            raise UsageError(f"policy must be one of {', '.join(POLICIES)}, not {self.policy!r}")
        if self.order not in ("keyed", "dataset"):
            raise UsageError(f"order must be keyed or dataset, not {self.order!r}")
        if self.marks_per_record < 1:
            raise UsageError(f"marks per record must be 1 or more, not {self.marks_per_record}")


@dataclass(slots=True)
class Plan:
    """Which records carry what, and why the others do not.

    Of survey and selection it keeps only what the manifest needs: a dataset may be large.
    """

    before: NDArray[np.void]  # digest of each record
    suitability: dict[str, Any]  # how candidates were selected
    lines: dict[int, bytes] = field(default_factory=dict)  # row -> line of the manifest
    digests: dict[int, bytes] = field(default_factory=dict)  # row -> digest of the marked record
    counts: Counter[str] = field(default_factory=Counter)
    kept: Counter[str] = field(default_factory=Counter)
    # of marks with a draw: the line with the edits by which carriers are left out, see `Mark.trial`
    trials: dict[int, bytes] = field(default_factory=dict)
    eligible: int | None = None  # records that may carry, of a watermark that counts them
    priors: str | None = None  # digest of what the draws were made by
    # of a dataset with several languages, by name: how many records, and which
    records: dict[str, int] = field(default_factory=dict)
    rows: dict[str, NDArray[np.int64]] = field(default_factory=dict)

    @property
    def languages(self) -> dict[str, dict[str, int]]:
        """`{"go": {"records": 800, "marked": 40}}`; nothing where there is one language only."""
        return {
            name: {"records": self.records[name], "marked": sum(row in self.lines for row in rows)}
            for name, rows in self.rows.items()
        }


def plan(
    corpus: Corpus,
    settings: Settings,
    engine: Engine,
    *,
    order_key: bytes | None,
    draw_key: bytes = b"",
    measured: Measured | None = None,
    skipped: Collection[int] = (),
    progress: Progress = no_progress,
) -> Plan:
    """Survey the dataset, select candidates, and mark them in order until the rates are met.

    With `measured`, features of the same dataset, the survey is a short one. `skipped` rows carry
    another watermark already.
    """
    wanted = Wanted(settings.watermark, order_key, settings.language, settings.features)
    if measured is None:
        seen = survey(corpus, wanted, engine, progress)
    else:
        seen = survey_measured(corpus, wanted, measured, engine, progress)
    groups = {"": np.ones(len(seen), np.bool_)}
    if settings.language is None and not isinstance(settings.watermark, Counting):
        groups = seen.by_language()
    if len(groups) > 1:
        return _plan_languages(corpus, settings, engine, seen, groups, draw_key, progress)
    selection = _select(seen.table, settings)
    planned = Plan(seen.digests, selection.to_json())
    candidates = selection.is_candidate
    if skipped:
        taken = np.zeros(len(seen), np.bool_)
        taken[list(skipped)] = True
        taken &= candidates
        planned.kept[CARRIES] = int(np.count_nonzero(taken))
        candidates = candidates & ~taken
    most, least = budgets(len(seen), settings)
    natural, order = candidates & seen.may_occur, seen.order
    if isinstance(settings.watermark, Counting):
        counted = count_places(
            corpus,
            np.flatnonzero(natural),
            settings.watermark,
            engine,
            records=len(seen),
            policy=settings.policy,
            language=settings.language,
            order_key=order_key,
            progress=progress,
        )
        settings = replace(settings, watermark=counted.watermark)
        planned.eligible = int(np.count_nonzero(counted.eligible))
        planned.priors = counted.digest
        if refused := int(np.count_nonzero(natural & ~counted.eligible)):
            planned.kept[NOT_ELIGIBLE] = refused
        natural, order, most = counted.eligible, counted.order, min(most, counted.most)
    walk = _Walk(corpus, settings, engine, planned, seen.names, draw_key, progress)
    walk.mark(in_order(natural, order), most, introduce=False)
    others = candidates & ~seen.may_occur
    if isinstance(settings.watermark, Introducing):
        walk.mark(in_order(others, seen.order), least, introduce=True)
    elif np.any(others):
        planned.kept[NOT_FOR_IT] = int(np.count_nonzero(others))
    _count_kept(planned, seen, candidates)
    return planned


def _plan_languages(
    corpus: Corpus,
    settings: Settings,
    engine: Engine,
    seen: Survey,
    groups: dict[str, NDArray[np.bool_]],
    draw_key: bytes,
    progress: Progress,
) -> Plan:
    """A dataset of several languages: candidates and rates are those of each by itself.

    Complexity is not comparable between languages, and a rate over all of them would leave one of
    them out.
    """
    planned = Plan(seen.digests, {})
    walk = _Walk(corpus, settings, engine, planned, seen.names, draw_key, progress)
    candidates = np.zeros(len(seen), np.bool_)
    for name, mask in groups.items():
        table = FeatureTable(seen.table.values, seen.table.measured & mask)
        selection = _select(table, settings)
        records, before = int(np.count_nonzero(mask)), len(planned.lines)
        most, least = budgets(records, settings)
        natural = selection.is_candidate & seen.may_occur
        others = selection.is_candidate & ~seen.may_occur
        walk.mark(in_order(natural, seen.order), before + most, introduce=False)
        if isinstance(settings.watermark, Introducing):
            walk.mark(in_order(others, seen.order), before + least, introduce=True)
        elif np.any(others):
            planned.kept[NOT_FOR_IT] += int(np.count_nonzero(others))
        candidates |= selection.is_candidate
        planned.suitability[name] = selection.to_json()
        planned.records[name] = records
        planned.rows[name] = np.flatnonzero(mask)
    _count_kept(planned, seen, candidates)
    return planned


def _select(table: FeatureTable, settings: Settings) -> Selection:
    return select(
        table, features=settings.features, projection=settings.projection, tau=settings.tau
    )


def budgets(records: int, settings: Settings) -> tuple[int, int]:
    """The most marks, and the fewest to aim for: whole numbers within the two rates."""
    slack = 1e-9  # 0.05 * 20 is a hair above 1 as a float
    most = math.floor(settings.max_rate * records + slack)
    return most, min(most, math.ceil(settings.min_rate * records - slack))


def in_order(mask: NDArray[np.bool_], order: NDArray[np.uint64]) -> NDArray[np.int64]:
    """The rows of a mask, by their place in the secret order; ties and dataset order by row."""
    rows = np.flatnonzero(mask)
    return rows[np.argsort(order[rows], kind="stable")]


@dataclass(slots=True)
class _Walk:
    """Marks carriers in a given order, a round of rows at a time.

    A round is one pass over the dataset that decodes its rows only. How large a round is changes
    the time it takes, never the outcome: marks are accepted strictly in order.
    """

    corpus: Corpus
    settings: Settings
    engine: Engine
    planned: Plan
    names: NDArray[np.int32]  # how many each snippet declares
    draw_key: bytes
    progress: Progress

    def mark(self, rows: NDArray[np.int64], budget: int, *, introduce: bool) -> None:
        marks = self.planned.lines
        start, before = 0, len(marks)
        while start < len(rows) and len(marks) < budget:
            # as many rows as the rest of the budget should need, judged by those already tried
            success = (len(marks) - before) / start if start else FIRST_GUESS
            size = 256 + math.ceil((budget - len(marks)) / max(success, 0.02) * 1.15)
            chunk = rows[start : start + size]
            # most refusals can be told from the survey, without reading the snippet again
            able = np.sort(chunk[self.names[chunk] >= self.fewest])
            outcomes = dict(self._attempt(able, introduce=introduce))
            for row in chunk.tolist():
                if len(marks) >= budget:
                    break
                self._accept(row, outcomes.get(row, TOO_FEW_NAMES))
            start += len(chunk)
            self.progress("marking", len(marks), budget)

    @property
    def fewest(self) -> int:
        return self.settings.watermark.fewest_variables

    def _attempt(
        self, rows: NDArray[np.int64], *, introduce: bool
    ) -> Iterator[tuple[int, "_Marked | str"]]:
        function = partial(
            plan_batch, settings=self.settings, draw_key=self.draw_key, introduce=introduce
        )
        for outcomes in self.engine.map(function, self.corpus.batches(rows)):
            yield from outcomes

    def _accept(self, row: int, outcome: "_Marked | str") -> None:
        if isinstance(outcome, str):
            self.planned.kept[outcome] += 1
            return
        self.planned.lines[row] = outcome.line
        self.planned.digests[row] = outcome.digest
        if outcome.trial is not None:
            self.planned.trials[row] = outcome.trial
        self.planned.counts.update(outcome.counts)


@dataclass(frozen=True, slots=True)
class _Marked:
    line: bytes
    digest: bytes
    counts: tuple[str, ...]
    trial: bytes | None = None


def plan_batch(
    batch: Batch, settings: Settings, *, draw_key: bytes, introduce: bool
) -> list[tuple[int, _Marked | str]]:
    """The worker's share: a mark, or the reason for none, for each record of the batch."""
    outcomes: list[tuple[int, _Marked | str]] = []
    for entry in batch.entries():
        tree = parse_entry(entry, settings.language)
        marks = mark_snippet(
            settings.watermark,
            tree,
            settings.policy,
            dice(entry.id, draw_key),
            most=settings.marks_per_record,
            introduce=introduce,
        )
        if isinstance(marks, Refusal):
            outcomes.append((entry.row, marks.reason))
            continue
        carrier = Carrier(entry.row, entry.id, marks)
        code = apply_edits(tree.code, carrier.edits).decode()
        digest = record_digest(entry.id, code)
        marked = _Marked(carrier.to_line(), digest, counted(carrier), _trial(carrier))
        outcomes.append((entry.row, marked))
    return outcomes


def _trial(carrier: Carrier) -> bytes | None:
    """The line of a carrier with draws, as if another symbol had been drawn for each."""
    if all(mark.draw is None for mark in carrier.marks):
        return None
    marks = tuple(replace(mark, edits=mark.trial) for mark in carrier.marks)
    return replace(carrier, marks=marks).to_line()


def counted(carrier: Carrier) -> tuple[str, ...]:
    """What a carrier adds to the counts: one marked record, and its marks by their kind."""
    counts = ["marked"]
    for mark in carrier.marks:
        counts.append("natural" if mark.is_natural else "introduced")
        counts += ["unedited"] if not mark.edits else []
    return tuple(counts)


def dice(id_: str, key: bytes) -> random.Random:
    """A record's own generator: the same for any order, and for any number of workers."""
    digest = hashlib.blake2b(id_.encode("utf-8", "surrogatepass"), key=key, digest_size=8)
    return random.Random(int.from_bytes(digest.digest(), "big"))


def _count_kept(planned: Plan, seen: Survey, candidates: NDArray[np.bool_]) -> None:
    """Give every record without a mark one reason, so that the counts add up to the dataset."""
    kept = planned.kept
    kept.update(seen.unmeasured)
    below = int(np.count_nonzero(seen.table.measured & ~candidates)) - kept[CARRIES]
    if below:
        kept[BELOW_THRESHOLD] += below
    rest = len(seen) - len(planned.lines) - sum(kept.values())
    if rest:
        kept[NOT_NEEDED] += rest
    planned.lines = dict(sorted(planned.lines.items()))
