"""The code changed in the carriers only, and there by the edits of the manifest."""

from puzzlemark.auditing.checks.base import Pair, Setting, View
from puzzlemark.errors import EditMismatch

ABOUT = "code beside the marks"
VIEW: View = "difference"


def look(pair: Pair, setting: Setting) -> str | None:
    """A code that is not what the manifest makes of it."""
    field = setting.columns.field
    if setting.edits is None or pair.before.get(field) == pair.after.get(field):
        return None
    if not setting.edits.get(pair.row):
        return "the code differs though the manifest has no mark there"
    try:
        if setting.expected(pair) == pair.after.get(field):
            return None
    except EditMismatch:
        pass
    return "the code differs from what the manifest says"
