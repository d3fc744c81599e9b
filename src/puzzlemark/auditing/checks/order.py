"""Records stand where they stood."""

from puzzlemark.auditing.checks.base import Pair, Setting, View

ABOUT = "order of the records"
VIEW: View = "difference"


def look(pair: Pair, setting: Setting) -> str | None:
    """Another id on the same row."""
    name = setting.columns.id
    if name is None or pair.before.get(name) == pair.after.get(name):
        return None
    return "another record stands in its place"
