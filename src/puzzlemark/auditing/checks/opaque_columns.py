"""Columns that may be computed from the code in a way that nobody here knows."""

from collections.abc import Iterator

from puzzlemark.auditing.checks.base import Evidence, Observation, View, not_applicable
from puzzlemark.corpora.derived import NOT_COMPUTED

ABOUT = "columns that cannot be checked"
VIEW: View = "marked"


def inspect(evidence: Evidence) -> Iterator[Observation]:
    """Each column that looks like a digest, or is named like one, and fits none."""
    found = {
        name: kind
        for name, kind in evidence.setting.derivations.items()
        if kind in NOT_COMPUTED and name != evidence.setting.columns.field
    }
    for name in sorted(found):
        yield not_applicable(
            f"column {name!r} may be computed from the code, but in no way that we know: if it is, "
            "it tells the marks; compute it again or drop it"
        )
    if not found:
        yield Observation("ok", "no column looks like a digest of something unknown")
