"""The keys of a JSON record stand in the order in which they stood."""

from puzzlemark.auditing.checks.base import Pair, Setting, View
from puzzlemark.auditing.json_style import members

ABOUT = "order of the keys"
VIEW: View = "marked"


def look(pair: Pair, setting: Setting) -> str | None:  # noqa: ARG001 - as all checks
    """The same keys in another order."""
    if pair.line_before is None or pair.line_after is None:
        return None
    old, new = [*members(pair.line_before)], [*members(pair.line_after)]
    return "keys in another order" if old != new and sorted(old) == sorted(new) else None
