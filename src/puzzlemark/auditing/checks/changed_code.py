"""The code changed in the carriers only, and there by the edits of the manifest."""

from puzzlemark.auditing.checks.base import Pair, Setting, View
from puzzlemark.errors import EditMismatch
from puzzlemark.snippet import apply_edits

ABOUT = "code beside the marks"
VIEW: View = "difference"


def look(pair: Pair, setting: Setting) -> str | None:
    """A code that is not what the manifest makes of it."""
    codes = pair.codes(setting.columns)
    if setting.edits is None or (codes is not None and codes[0] == codes[1]):
        return None
    edits = setting.edits.get(pair.row)
    if not edits:
        return "the code differs though the manifest has no mark there"
    try:
        if codes is not None and apply_edits(codes[0], edits) == codes[1]:
            return None
    except EditMismatch:
        pass
    return "the code differs from what the manifest says"
