"""For one who has read the paper: variables that join two others, and what stands out in that."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import orjson

from puzzlemark.corpora.base import Batch, Corpus
from puzzlemark.detectors._concat_audit import (
    LEVELS,
    Audit,
    Join,
    Level,
    Tally,
    audit,
    find_joins,
    plain_names,
)
from puzzlemark.detectors.base import Suspicion, keep_parts, snippet_of
from puzzlemark.engines.base import Engine
from puzzlemark.errors import UnparsableSnippet, UsageError
from puzzlemark.progress import Progress
from puzzlemark.syntax.tree import parse
from puzzlemark.syntax.variables import functions

SHOWN = 10  # prefixes in the details
WORTH_A_WORD = 3.0  # z-score from which a finding is described
HALF = 10.0  # z-score that adds a half to the score
ZScores = Callable[[str, int], float]  # of a prefix at a position


@dataclass(frozen=True, slots=True)
class Concat:
    """`Concat(level="first_two")`; see docs/detectors/concat.md for the levels and the audit."""

    level: Level = "adjacent"
    standing_out: float = 0.0  # flag only where the prefix or the position has such a z-score
    name: ClassVar[str] = "concat"
    needs_clean: ClassVar[bool] = False
    takes_clean: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.standing_out < 0:
            raise UsageError("concat: standing_out is a z-score, 0 or more")

    def suspect(
        self,
        corpus: Corpus,
        *,
        clean: Corpus | None,
        engine: Engine,
        progress: Progress,
        cache: Path,
    ) -> Suspicion:
        """Flag every record with a join of the level, and audit the dataset."""
        keep = partial(keep_parts, joins_of_batch, engine=engine, progress=progress)
        parts = keep(corpus, place=cache / "suspect", stage="joins")
        seen = _tally(parts)
        reference: Tally | None = None
        if clean is not None:
            reference = _tally(keep(clean, place=cache / "clean", stage="clean"))
        return self._decide(parts, seen, audit(seen, reference), reference)

    def _decide(
        self, parts: Sequence[Path], seen: Tally, found: Audit, reference: Tally | None
    ) -> Suspicion:
        z_of = found.z_scores()
        ids: list[str] = []
        flagged: list[bool] = []
        scores: list[float] = []
        reasons: list[str | None] = []
        names: list[tuple[str, ...]] = []
        ranks: Counter[int] = Counter()
        for record in (record for part in parts for record in _read(part)[0]):
            best, score = _strongest(record.joins, z_of)
            ranks[0 if best is None else best.rank] += 1
            ids.append(record.id)
            flagged.append(best is not None and self._is_suspect(best, z_of))
            scores.append(score if record.reason is None else float("nan"))
            reasons.append(str(best) if best is not None else record.reason)
            targets = (each.target for each in record.joins if self._is_suspect(each, z_of))
            names.append(tuple(dict.fromkeys(targets)))
        details = _describe(ranks, seen, found, reference)
        return Suspicion(
            ids, np.array(flagged, np.bool_), np.array(scores), reasons, details, names
        )

    def _is_suspect(self, join: Join, z_of: ZScores) -> bool:
        stands_out = not self.standing_out or _z(join, z_of) >= self.standing_out
        return stands_out and join.rank > LEVELS.index(self.level)


@dataclass(frozen=True, slots=True)
class Record:
    """The joins of one record; one with a reason has nothing to judge."""

    id: str
    reason: str | None
    joins: tuple[Join, ...] = ()


def joins_of_batch(batch: Batch) -> bytes:
    """The worker's share: the joins of each record, and the tally of them all."""
    tally = Tally()
    records: list[Any] = []
    for entry in batch.entries():
        name = entry.id.encode("utf-8", "replace").decode()  # JSON has lone surrogates
        try:
            tree = parse(snippet_of(entry))
        except UnparsableSnippet as exc:
            records.append((name, str(exc), ()))
            continue
        joins: list[Join] = []
        for function in functions(tree):
            names = plain_names(function)
            found = tuple(find_joins(names, tree.language.convention))
            tally.add(names, found)
            joins += found
        records.append((name, None, joins))
    return orjson.dumps((records, tally), option=orjson.OPT_NON_STR_KEYS)


def _read(part: Path) -> tuple[list[Record], Tally]:
    records, tally = orjson.loads(part.read_bytes())
    for name in ("position_chances", "position_hits"):
        tally[name] = {int(position): count for position, count in tally[name].items()}
    counts: dict[str, Any] = {
        name: Counter(value) if isinstance(value, dict) else value for name, value in tally.items()
    }
    read = (
        Record(id_, reason, tuple(Join(**each) for each in joins)) for id_, reason, joins in records
    )
    return list(read), Tally(**counts)


def _tally(parts: Sequence[Path]) -> Tally:
    total = Tally()
    for part in parts:
        total.update(_read(part)[1])
    return total


def _z(join: Join, z_of: ZScores) -> float:
    # what the audit counts are neighbours
    neighbours = join.level in ("adjacent", "first_two")
    return max(0.0, z_of(join.prefix, join.prefix_at)) if neighbours else 0.0


def _strongest(joins: Sequence[Join], z_of: ZScores) -> tuple[Join | None, float]:
    """The join of the strictest level, among those the one that stands out most; its score."""
    best: Join | None = None
    score = 0.0
    for join in joins:
        z = _z(join, z_of)
        if join.rank + z / (z + HALF) > score:
            best, score = join, join.rank + z / (z + HALF)
    return best, score


def _describe(
    ranks: Counter[int], seen: Tally, found: Audit, reference: Tally | None
) -> dict[str, Any]:
    order = () if found.order is None else (found.order,)
    findings = (*found.prefixes[:3], *found.positions[:1], *order)
    return {
        "reference": "clean" if reference is not None else "the rest of the dataset",
        "functions": seen.functions,
        "records_by_level": {
            level: sum(ranks[rank] for rank in range(place, len(LEVELS) + 1))
            for place, level in enumerate(LEVELS, 1)
        },
        "prefixes": [each.to_json() for each in found.prefixes[:SHOWN]],
        "positions": [each.to_json() for each in found.positions],
        "order": None if found.order is None else found.order.to_json(),
        "findings": [str(each) for each in findings if each.z >= WORTH_A_WORD],
    }


PLUGIN = Concat
