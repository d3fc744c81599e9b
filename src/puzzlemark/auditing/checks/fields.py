"""No other cell changed: only the code, and what is computed from it, may."""

from puzzlemark.auditing.checks.base import Pair, Setting, View
from puzzlemark.auditing.json_style import members

ABOUT = "cells of other columns"
VIEW: View = "difference"


def look(pair: Pair, setting: Setting) -> str | None:
    """A column beside the code that is missing, new, or has another value or spelling."""
    may_change = {*setting.following, setting.columns.id}  # the id: see `order`
    if pair.before.keys() != pair.after.keys():
        odd = sorted(pair.before.keys() ^ pair.after.keys())
        return f"column {odd[0]!r} is in one of the two only"
    for name in pair.before:
        if name not in may_change and _text(pair, name, 0) != _text(pair, name, 1):
            return f"column {name!r} differs"
    return None


def _text(pair: Pair, name: str, which: int) -> bytes | str:
    line = (pair.line_before, pair.line_after)[which]
    if line is None:
        return repr((pair.before, pair.after)[which][name])
    return line[slice(*members(line)[name])]
