"""A column that follows from the code follows from it in the carriers as in all other records."""

from puzzlemark.auditing.checks.base import Pair, Setting, View
from puzzlemark.corpora.derived import computable, fits

ABOUT = "columns computed from the code"
VIEW: View = "marked"


def look(pair: Pair, setting: Setting) -> str | None:
    """A cell that followed from the code and does not now, or the reverse."""
    codes = pair.codes(setting.columns)
    if codes is None:
        return None
    for name in sorted(computable(setting.derivations) - {setting.columns.field}):
        old, new = pair.before.get(name), pair.after.get(name)
        if old is None or new is None:
            continue
        kind = setting.derivations[name]
        before, after = fits(kind, old, codes[0]), fits(kind, new, codes[1])
        if before and not after:
            return f"column {name!r} ({kind}) followed from the code and does not now"
        if after and not before:
            return f"column {name!r} ({kind}) did not follow from the code and does now"
    return None
