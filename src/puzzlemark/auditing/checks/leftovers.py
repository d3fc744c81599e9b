"""The old code cannot be read, or recognised by its digest, in another column."""

from puzzlemark.auditing.checks.base import Pair, Setting, View
from puzzlemark.corpora.derived import Change, computable, fits
from puzzlemark.corpora.revising import find_leftovers

ABOUT = "traces of the old code"
VIEW: View = "marked"


def look(pair: Pair, setting: Setting) -> str | None:
    """A column with the old code, a line of it, or a digest of it."""
    codes = pair.codes(setting.columns)
    if codes is None or codes[0] == codes[1]:
        return None
    settled = {
        name
        for name in computable(setting.derivations)
        if fits(setting.derivations[name], pair.after.get(name), codes[1])
    }
    settled.add(setting.columns.field)
    others = {name: cell for name, cell in pair.after.items() if name not in settled}
    found = find_leftovers(others, Change(*codes, ()))
    return next((f"column {name!r} {reason}" for name, reason in sorted(found.items())), None)
