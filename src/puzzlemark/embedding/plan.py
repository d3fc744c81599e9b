"""The outer loops of Algorithm 1: natural carriers to the maximum rate, others to the minimum."""

import hashlib
import math
import random
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal, TypeAlias

import numpy as np
import orjson
from numpy.typing import NDArray

from puzzlemark.carriers.ranks import Keys
from puzzlemark.carriers.selection import Suitability
from puzzlemark.corpora.base import Batch, Corpus, Derivations
from puzzlemark.corpora.records import record_digest
from puzzlemark.embedding.columns import Column, Lines, Sliceable
from puzzlemark.embedding.counting import NOT_ELIGIBLE, count_places
from puzzlemark.embedding.manifest import Carrier
from puzzlemark.embedding.marking import mark_snippet
from puzzlemark.embedding.queues import END, Mask, Place, Queue, are_met, place_of
from puzzlemark.embedding.survey import (
    Measured,
    Survey,
    Wanted,
    parse_entry,
    survey,
    survey_measured,
)
from puzzlemark.embedding.traces import Traces, find_traces
from puzzlemark.engines.base import Engine
from puzzlemark.errors import UsageError
from puzzlemark.features.measure import DEFAULT
from puzzlemark.progress import Progress, no_progress
from puzzlemark.resuming import Kept, Work
from puzzlemark.snippet import apply_edits
from puzzlemark.syntax.variables import POLICIES, Policy
from puzzlemark.watermarks.base import Counting, Introducing, Refusal, Watermark

Order = Literal["keyed", "dataset"]
BELOW_THRESHOLD = "suitability below the threshold"
TOO_FEW_NAMES = "too few variables in the snippet"
FIRST_GUESS = 0.3  # the share of candidates that can carry
MARGIN, SPARE = 1.05, 64  # rows that are tried beyond those that should do
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

    Of survey and selection it keeps only what the manifest needs, and that on disk: a dataset may
    be large.
    """

    before: Column[np.void]  # digest of each record
    suitability: dict[str, Any]  # how candidates were selected
    lines: Lines = field(default_factory=Lines)  # of the manifest
    digests: Lines = field(default_factory=Lines)  # of the marked records
    # what would tell, or may tell, that these rows, ascending, were changed
    traces: dict[Traces, NDArray[np.int64]] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    kept: Counter[str] = field(default_factory=Counter)
    eligible: int | None = None  # records that may carry, of a watermark that counts them
    priors: str | None = None  # digest of what the draws were made by
    # of a dataset with several languages: how many records each has, and which
    records: dict[str, int] = field(default_factory=dict)
    spoken: NDArray[np.uint8] | None = None  # by the place of the name in `records`, from 1

    @property
    def searched(self) -> NDArray[np.int64]:
        """The marked rows in which nothing but the code would tell of the mark."""
        rows = self.lines.rows
        for told in self.traces.values():
            rows = np.setdiff1d(rows, told, assume_unique=True)
        return rows

    @property
    def languages(self) -> dict[str, dict[str, int]]:
        """`{"go": {"records": 800, "marked": 40}}`; nothing where there is one language only."""
        if self.spoken is None:
            return {}
        marked = np.bincount(self.spoken[self.lines.rows], minlength=len(self.records) + 1)
        return {
            name: {"records": records, "marked": int(marked[place])}
            for place, (name, records) in enumerate(self.records.items(), 1)
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
    derived: Derivations | None = None,
    progress: Progress = no_progress,
    work: Work | None = None,
) -> Plan:
    """Survey the dataset, select candidates, and mark them in order until the rates are met.

    With `measured`, features of the same dataset, the survey is a short one. `skipped` rows carry
    another watermark already. With `derived` columns, marks are noted that others would tell of.
    What an interrupted run kept in `work` is not done again.
    """
    wanted = Wanted(settings.watermark, order_key, settings.language, settings.features)
    if measured is None:
        seen = survey(corpus, wanted, engine, progress, work)
    else:
        seen = survey_measured(corpus, wanted, measured, engine, progress, work)
    groups: Mapping[str, int | None] = {"": None}
    if settings.language is None and not isinstance(settings.watermark, Counting):
        groups = seen.by_language()
    planned = Plan(seen.digests, {}, *_on_disk(work))
    walk = _Walk(corpus, settings, engine, planned, seen, draw_key, derived, progress, work)
    if len(groups) > 1:
        return _plan_languages(walk, groups, order_key)
    suitability = _fit(seen, settings)
    planned.suitability = suitability.to_json()
    candidates = seen.candidates(suitability)
    chosen = int(np.count_nonzero(candidates))
    if skipped:
        taken = np.zeros(len(seen), np.bool_)
        taken[np.fromiter(skipped, np.int64)] = True
        taken &= candidates
        planned.kept[CARRIES] = int(np.count_nonzero(taken))
        candidates &= ~taken
    most, least = budgets(len(seen), settings)
    order: Sliceable[np.uint64] | None = None if order_key is None else seen.order
    natural, natural_order = seen.may_occur, order
    natural &= candidates
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
        walk.settings = replace(settings, watermark=counted.watermark)
        planned.eligible = int(np.count_nonzero(counted.eligible))
        planned.priors = counted.digest
        if refused := int(np.count_nonzero(natural & ~counted.eligible)):
            planned.kept[NOT_ELIGIBLE] = refused
        natural, natural_order = counted.eligible, counted.order
        most = min(most, counted.most)
    walk.mark(natural, natural_order, most, introduce=False)
    others = candidates
    others &= ~seen.may_occur
    walk.mark_others(others, order, least)
    _count_kept(planned, seen, chosen)
    return planned


def _on_disk(work: Work | None) -> tuple[Lines, Lines]:
    folder = None if work is None else work.folder
    return Lines(folder), Lines(folder)


def _plan_languages(
    walk: "_Walk", groups: Mapping[str, int | None], order_key: bytes | None
) -> Plan:
    """A dataset of several languages: candidates and rates are those of each by itself.

    Complexity is not comparable between languages, and a rate over all of them would leave one of
    them out.
    """
    planned, seen, settings = walk.planned, walk.seen, walk.settings
    assert seen.spoken is not None, "several languages"
    order = None if order_key is None else seen.order
    chosen = 0
    for name, group in groups.items():
        suitability = _fit(seen, settings, group)
        candidates = seen.candidates(suitability, group)
        records = int(np.count_nonzero(seen.spoken == group))
        before = len(planned.lines)
        most, least = budgets(records, settings)
        chosen += int(np.count_nonzero(candidates))
        natural = seen.may_occur
        natural &= candidates
        walk.mark(natural, order, before + most, introduce=False)
        candidates &= ~seen.may_occur
        walk.mark_others(candidates, order, before + least)
        planned.suitability[name] = suitability.to_json()
        planned.records[name] = records
    planned.spoken = seen.spoken
    _count_kept(planned, seen, chosen)
    return planned


def _fit(seen: Survey, settings: Settings, group: int | None = None) -> Suitability:
    return seen.fit(settings.features, settings.projection, settings.tau, group)


def budgets(records: int, settings: Settings) -> tuple[int, int]:
    """The most marks, and the fewest to aim for: whole numbers within the two rates."""
    slack = 1e-9  # 0.05 * 20 is a hair above 1 as a float
    most = math.floor(settings.max_rate * records + slack)
    return most, min(most, math.ceil(settings.min_rate * records - slack))


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
    seen: Survey
    draw_key: bytes
    derived: Derivations | None
    progress: Progress
    work: Work | None = None
    rounds: int = 0

    def mark(
        self,
        mask: Mask,
        order: Sliceable[np.uint64] | None,
        budget: int,
        *,
        introduce: bool,
    ) -> None:
        """Mark rows of a mask, which is used up, until so many are marked."""
        before = marked = len(self.planned.lines)
        if marked >= budget:
            return
        candidates = int(np.count_nonzero(mask))
        # most refusals can be told from the survey, without reading the snippet again
        named = self.seen.named
        named &= mask
        mask &= ~named
        queue, unnamed, met = Queue(named, order), Queue(mask, order), _Met()
        success = min(FIRST_GUESS * candidates / max(len(queue), 1), 1)
        tried, last = 0, END
        while len(queue) and marked < budget:
            # as many rows as the rest of the budget should need, judged by those already tried
            size = SPARE + math.ceil((budget - marked) / max(success, 0.02) * MARGIN)
            attempt = _Round(queue.take(size), self.planned)
            for outcomes in self._attempt(attempt.rows, introduce=introduce):
                attempt.note(outcomes)
            last = attempt.accept(queue, budget - marked, met)
            tried += len(attempt.rows)
            marked = len(self.planned.lines)
            success = (marked - before) / tried
            self.progress("marking", marked, budget)
        for keys, rows in unnamed.waiting():
            some = are_met(keys, rows, last)
            met.add([TOO_FEW_NAMES], np.zeros(len(rows), np.int32)[some], keys[some], rows[some])
        met.tell(self.planned)

    def mark_others(self, mask: Mask, order: Sliceable[np.uint64] | None, budget: int) -> None:
        """Records without a trigger of their own, which some watermarks bring to them."""
        if isinstance(self.settings.watermark, Introducing):
            self.mark(mask, order, budget, introduce=True)
        elif refused := int(np.count_nonzero(mask)):
            self.planned.kept[NOT_FOR_IT] += refused

    def _attempt(self, rows: NDArray[np.int64], *, introduce: bool) -> Iterator["Outcomes"]:
        function = partial(
            plan_batch,
            settings=self.settings,
            draw_key=self.draw_key,
            introduce=introduce,
            derived=self.derived,
        )
        self.rounds += 1  # the same rows in any run: they follow from what was tried before
        kept = None
        if self.work is not None:
            kept = Kept(self.work, f"marks/{self.rounds}", _pack, _unpack)
        whole = self.derived is not None
        return self.corpus.map(function, self.engine, rows, whole=whole, kept=kept)


class _Round:
    """What became of the rows of one round, before it is known which of them are needed.

    Twelve bytes of each stay in memory; marks are kept on disk.
    """

    def __init__(self, rows: NDArray[np.int64], planned: Plan) -> None:
        self.rows = rows  # ascending
        self._planned = planned
        self._kinds: dict[tuple[_Kind, Traces | None], int] = {}
        self._of = np.zeros(len(rows), np.int32)  # the kind of each
        self._noted = 0

    def note(self, outcomes: "Outcomes") -> None:
        """Those of the next rows."""
        kinds: list[int] = []
        for row, outcome in outcomes:
            if isinstance(outcome, str):
                kind: tuple[_Kind, Traces | None] = outcome, None
            else:
                kind = outcome.counts, outcome.traces
                self._planned.lines.write(row, outcome.line)
                self._planned.digests.write(row, outcome.digest)
            kinds.append(self._kinds.setdefault(kind, len(self._kinds)))
        some = slice(self._noted, self._noted + len(kinds))
        assert self.rows[some].tolist() == [row for row, _ in outcomes], "in the dataset's order"
        self._of[some] = kinds
        self._noted = some.stop

    def accept(self, queue: Queue, budget: int, met: "_Met") -> Place:
        """Take the marks, in the secret order of the rows, until the budget is met.

        Returns the place up to which rows were needed.
        """
        kinds = list(self._kinds)
        marked = np.array([not isinstance(kind, str) for kind, _ in kinds])[self._of]
        last = END
        if np.count_nonzero(marked) >= budget:
            last = place_of(partial(queue.numbered, self.rows[marked]), budget)
        at = 0
        for keys, rows in queue.numbered(self.rows):
            some, at = slice(at, at + len(rows)), at + len(rows)
            needed = are_met(keys, rows, last)
            met.add([kind for kind, _ in kinds], self._of[some][needed], keys[needed], rows[needed])
            marked[some] &= needed
        accepted, of = self.rows[marked], self._of[marked]
        self._planned.lines.accept(accepted)
        self._planned.digests.accept(accepted)
        for number, (_, traces) in enumerate(kinds):
            if traces is not None and len(more := accepted[of == number]):
                rows = self._planned.traces.get(traces, np.zeros(0, np.int64))
                self._planned.traces[traces] = np.sort(np.concatenate((rows, more)))
        return last


class _Met:
    """The kinds of outcome that a walk met: how often, and where first."""

    def __init__(self) -> None:
        self._counts: Counter[_Kind] = Counter()
        self._firsts: dict[_Kind, Place] = {}

    def add(
        self, kinds: Sequence["_Kind"], of: NDArray[np.int32], keys: Keys, rows: NDArray[np.int64]
    ) -> None:
        """Some rows that ascend, with their numbers in the secret order and the kind of each."""
        by_number = np.argsort(keys, kind="stable")
        found, firsts, counts = np.unique(of[by_number], return_index=True, return_counts=True)
        for number, at, count in zip(found, by_number[firsts], counts, strict=True):
            kind, place = kinds[number], (int(keys[at]), int(rows[at]))
            self._counts[kind] += int(count)
            self._firsts[kind] = min(place, self._firsts.get(kind, place))

    def tell(self, planned: Plan) -> None:
        """Count them, in the order in which the walk met them."""
        for kind in sorted(self._firsts, key=lambda kind: self._firsts[kind]):
            if isinstance(kind, str):
                planned.kept[kind] += self._counts[kind]
                continue
            for name in kind:
                planned.counts[name] += self._counts[kind]


_Kind: TypeAlias = str | tuple[str, ...]  # a reason, or what a carrier adds to the counts


@dataclass(frozen=True, slots=True)
class _Marked:
    line: bytes
    digest: bytes
    counts: tuple[str, ...]
    traces: Traces | None = None


Outcomes: TypeAlias = list[tuple[int, _Marked | str]]  # by row: a mark, or the reason for none


def plan_batch(
    batch: Batch,
    settings: Settings,
    *,
    draw_key: bytes,
    introduce: bool,
    derived: Derivations | None = None,
) -> Outcomes:
    """The worker's share: a mark, or the reason for none, for each record of the batch."""
    outcomes: Outcomes = []
    found: dict[int, Carrier] = {}
    records = batch.records()
    for place, entry in enumerate(batch.entries(records)):
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
        carrier = found[place] = Carrier(entry.row, entry.id, marks)
        code = apply_edits(tree.code, carrier.edits).decode()
        digest = record_digest(entry.id, code)
        outcomes.append((entry.row, _Marked(carrier.to_line(), digest, counted(carrier))))
    for place, traces in find_traces(batch, records, found, derived) if derived is not None else ():
        row, marked = outcomes[place]
        assert isinstance(marked, _Marked)
        outcomes[place] = row, replace(marked, traces=traces)
    return outcomes


def _pack(parts: list[Outcomes]) -> bytes:
    """Some outcomes as JSON: `[row, reason]`, or `[row, line, digest, counts, traces]`."""
    found: list[list[Any]] = []
    for row, outcome in (each for part in parts for each in part):
        if isinstance(outcome, str):
            found.append([row, outcome])
            continue
        line, digest, traces = outcome.line.decode(), outcome.digest.hex(), None
        if outcome.traces is not None:
            traces = [sorted(outcome.traces.columns), outcome.traces.problem]
        found.append([row, line, digest, outcome.counts, traces])
    return orjson.dumps(found)


def _unpack(content: bytes) -> list[Outcomes]:
    outcomes: Outcomes = []
    for row, text, *more in orjson.loads(content):
        if not more:
            outcomes.append((row, text))
            continue
        digest, counts, told_by = more
        traces = None if told_by is None else Traces(frozenset(told_by[0]), told_by[1])
        marked = _Marked(text.encode(), bytes.fromhex(digest), tuple(counts), traces)
        outcomes.append((row, marked))
    return [outcomes]


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


def _count_kept(planned: Plan, seen: Survey, candidates: int) -> None:
    """Give every record without a mark one reason, so that the counts add up to the dataset."""
    kept = planned.kept
    kept.update(seen.unmeasured)
    below = int(np.count_nonzero(seen.measured)) - candidates
    if below:
        kept[BELOW_THRESHOLD] += below
    rest = len(seen) - len(planned.lines) - sum(kept.values())
    if rest:
        kept[NOT_NEEDED] += rest
