"""Carriers whose old code could still be read in another column lose their mark."""

from collections import Counter

import numpy as np

from puzzlemark.corpora.base import Corpus, Derivations
from puzzlemark.corpora.revising import HAS_OLD_CODE, HAS_OLD_LINE, IS_OLD_DIGEST, Reviser
from puzzlemark.embedding.manifest import Carrier, Edits
from puzzlemark.embedding.plan import Plan, counted

TRACES = frozenset({HAS_OLD_CODE, HAS_OLD_LINE, IS_OLD_DIGEST})
REPEATED = "a line that the mark would change stands in another column, too"
# A column that repeats the code of most records must be dropped, or nothing could be marked: the
# summary warns of it.
FEW = 0.5


def leave_out_repeated(corpus: Corpus, planned: Plan, derived: Derivations) -> None:
    """Take those carriers out of the plan: a docstring that quotes the old line tells them."""
    found = _find_traces(corpus, planned, derived)
    columns = Counter(column for traces in found.values() for column in traces)
    usual = {name for name, count in columns.items() if count > FEW * len(planned.lines)}
    for row, traces in found.items():
        if traces - usual:
            _leave_out(planned, row)
    planned.counts = +planned.counts  # without those that became 0


def _find_traces(corpus: Corpus, planned: Plan, derived: Derivations) -> dict[int, set[str]]:
    """For each such carrier the columns that still show its old code."""
    reviser = Reviser.of(corpus.columns, Edits(planned.lines), derived)
    rows = np.asarray(reviser.rows, dtype=np.int64)
    found: dict[int, set[str]] = {}
    for batch in corpus.batches(rows, whole=True):
        for row, record in zip(batch.rows.tolist(), batch.records(), strict=True):
            stale = reviser.revise(row, record, f"{batch.shard}: row {row - batch.start}").stale
            traces = {column for column, reason in stale.items() if reason in TRACES}
            if traces:
                found[row] = traces
    return found


def _leave_out(planned: Plan, row: int) -> None:
    carrier = Carrier.from_line(planned.lines.pop(row))
    del planned.digests[row]
    planned.counts.subtract(counted(carrier))
    planned.kept[REPEATED] += 1
