"""The modification times of files do not tell which hold carriers, or how many."""

from collections.abc import Iterator, Sequence

import numpy as np

from puzzlemark.auditing.checks.base import (
    Evidence,
    Observation,
    View,
    compare_parts,
    not_applicable,
)
from puzzlemark.statistics.exact import fisher

ABOUT = "modification times"
VIEW: View = "marked"


def inspect(evidence: Evidence) -> Iterator[Observation]:
    """Files that kept their time while others did not; files that took longer to write."""
    stats = [(old.stat(), new.stat()) for old, new in evidence.paths]
    if len(stats) < 2:
        yield not_applicable("one file has one time")
        return
    times = [new.st_mtime_ns for _, new in stats]
    carriers = [evidence.carriers_of(at) for at in range(len(stats))]
    kept = [old.st_mtime_ns == new.st_mtime_ns for old, new in stats]
    yield compare_parts(kept, carriers, "modification times kept or changed", "file")
    if len(set(times)) == 1:
        yield Observation("ok", f"all {len(times):,} files have one modification time")
    elif not any(kept):
        yield _compare_durations(times, [new.st_size for _, new in stats], carriers)


def _compare_durations(
    times: Sequence[int], sizes: Sequence[int], carriers: Sequence[int]
) -> Observation:
    """Files that took longer than the half of them, for their size: have they more carriers?"""
    order = np.argsort(times, kind="stable")
    size = np.maximum(np.asarray(sizes, dtype=np.float64)[order][1:], 1)
    pace = np.diff(np.asarray(times, dtype=np.float64)[order]) / size
    share = np.asarray(carriers, dtype=np.float64)[order][1:] / size
    slow, rich = pace > np.median(pace), share > np.median(share)
    both = int(np.count_nonzero(slow & rich))
    found = fisher(
        both,
        int(rich.sum()),
        int(np.count_nonzero(slow & ~rich)),
        int((~rich).sum()),
        two_sided=True,
    )
    sentence = (
        f"{int(slow.sum()):,} of {len(slow):,} files took longer than the half of them for their "
        f"size; {both:,} of these have more carriers than the half"
    )
    return Observation("ok", sentence, {"slow": int(slow.sum()), "both": both}, found.log10_p)
