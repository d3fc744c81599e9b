"""RQ4: carrier selection under other thresholds, projections and features (paper, section 5.3.4).

A run is a folder, and goes on where it stopped; `variants` says what lies in it. A mark and a
threshold are a variant: `<language>/P1-tau-0.35`. What is found goes to `<language>.json`.

"Detectable carriers" are the snippets that a detector flags in the bare dataset; carrier selection
"finds" those that it leaves out. The paper does not say what becomes of snippets that cannot be
parsed: here they count on neither side, since they cannot carry a mark either way.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from puzzlemark.bench.variants import (
    METHODS,
    Flags,
    Job,
    Plan,
    Say,
    by_language,
    find_all,
    prepare,
)
from puzzlemark.carriers.selection import TAU, select
from puzzlemark.features.measure import DEFAULT, FEATURES, FeatureTable
from puzzlemark.staging import write_text

MARKS = ("P1", "P2", "U1", "P3", "P4", "U2")
TAUS = tuple(step / 20 for step in range(11))  # 0 to 0.5
PROJECTIONS = ("pca", "topsis", "mahalanobis")
STRUCTURAL = ("cc", "nloc", "tc")
# the paper removes its three structural features, and its four semantic ones
FEATURE_SETS = {
    "all": DEFAULT,
    "without structural": tuple(name for name in DEFAULT if name not in STRUCTURAL),
    "without semantic": STRUCTURAL,
}


@dataclass(frozen=True, slots=True)
class Found:
    """How well a choice of snippets finds those that a detector flags."""

    hits: float  # chosen and flagged; a mean where ties were shared out
    chosen: float
    flagged: int
    of: int

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall; 0 where there is nothing to find."""
        both = self.chosen + self.flagged
        return 2 * self.hits / both if both else 0.0

    @property
    def by_chance(self) -> float:
        """The F1 that as many snippets would have, drawn blindly."""
        both = self.chosen + self.flagged
        return 2 * self.chosen * self.flagged / self.of / both if both and self.of else 0.0


def run(
    folder: Path,
    corpora: Mapping[str, Path],
    plan: Plan,
    *,
    processes: int = 2,
    say: Say = print,
) -> None:
    """Both languages side by side; `<language>.json` holds what was found."""
    plan = replace(plan, taus=plan.taus or TAUS, marks=plan.marks or MARKS)
    by_language(work, folder, corpora, plan, processes=processes, say=say)


def work(job: Job) -> str:
    """One language: variants first, then what needs no variant."""
    ground = prepare(job)
    found = find_all(job, ground)
    table = ground.table()
    flagged = {method: ground.flagged(method) for method in METHODS}
    facts = {
        "language": job.language,
        "records": len(table),
        "measured": int(table.measured.sum()),
        "flagged": {method: int(flagged[method].sum()) for method in METHODS},
        "variants": found,
        "thresholds": find_by_threshold(table, flagged, job.plan.taus),
        "projections": find_by_projection(table, flagged),
        "features": find_by_feature(table, flagged),
    }
    write_text(job.folder / f"{job.language}.json", json.dumps(facts, indent=1) + "\n")
    return f"{len(found)} variants of {len(table):,} records judged"


def find_by_threshold(
    table: FeatureTable, flagged: Mapping[str, Flags], taus: Sequence[float]
) -> list[dict[str, Any]]:
    """What carrier selection leaves out at each threshold, against what each detector flags."""
    return [
        {"tau": tau, "method": method, **asdict(_left_out(table, flagged[method], tau=tau))}
        for tau in taus
        for method in METHODS
    ]


def find_by_projection(
    table: FeatureTable, flagged: Mapping[str, Flags], tau: float = TAU
) -> list[dict[str, Any]]:
    """The same for each projection of all features and of some."""
    return [
        {
            "projection": projection,
            "features": name,
            "method": method,
            **asdict(
                _left_out(table, flagged[method], tau=tau, features=some, projection=projection)
            ),
        }
        for name, some in FEATURE_SETS.items()
        for projection in PROJECTIONS
        for method in METHODS
    ]


def find_by_feature(
    table: FeatureTable, flagged: Mapping[str, Flags], share: float = TAU
) -> list[dict[str, Any]]:
    """Each feature alone: the snippets with its highest values, against what is flagged."""
    return [
        {
            "feature": name,
            "method": method,
            **asdict(top(table.select([name])[:, 0], flagged[method][table.measured], share)),
        }
        for name in FEATURES
        for method in METHODS
    ]


def _left_out(
    table: FeatureTable,
    flagged: Flags,
    *,
    tau: float,
    features: Sequence[str] = DEFAULT,
    projection: str = "pca",
) -> Found:
    candidates = select(table, features=features, projection=projection, tau=tau).is_candidate
    return compare(~candidates[table.measured], flagged[table.measured])


def compare(chosen: Flags, flagged: Flags) -> Found:
    """`compare([1, 1, 0], [1, 0, 0])` has hits 1, precision 1/2, recall 1, F1 2/3."""
    hits = int(np.count_nonzero(chosen & flagged))
    return Found(hits, int(chosen.sum()), int(flagged.sum()), len(flagged))


def top(values: NDArray[np.float64], flagged: Flags, share: float) -> Found:
    """The highest values, exactly this share of all.

    Features are whole numbers, and many snippets stand on the cut with the same one. The paper does
    not say which of them count. Here the mean of all draws does: `hits` is what they hold on
    average, and since their number is fixed, so is the F1.
    """
    count = round(share * len(values))
    if count == 0:
        return Found(0, 0, int(flagged.sum()), len(values))
    cut = np.partition(values, len(values) - count)[len(values) - count]
    above, on_it = values > cut, values == cut
    drawn = (count - int(above.sum())) / int(on_it.sum())
    hits = int((above & flagged).sum()) + drawn * int((on_it & flagged).sum())
    return Found(hits, count, int(flagged.sum()), len(values))
