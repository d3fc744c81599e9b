"""A changed line of JSON is spelled as its writer spells: white space, escapes, line ends."""

from puzzlemark.auditing.checks.base import Pair, Setting, View
from puzzlemark.auditing.json_style import around, members, spellings

ABOUT = "spelling of JSON"
VIEW: View = "marked"


def look(pair: Pair, setting: Setting) -> str | None:
    """White space, or an escape, that the rest of the file would have in another way."""
    old, new = pair.line_before, pair.line_after
    if old is None or new is None:
        return None
    kept = pair.before.keys() & setting.following
    # the same values with other bytes around them; other values are for `fields` and `key_order`
    if [*members(old)] == [*members(new)] and _space(old) != _space(new):
        return "other white space around values"
    known = spellings(old) | (setting.habits or frozenset())
    places = members(new)
    for name in sorted(kept & places.keys()):
        for what, how in sorted(spellings(new[slice(*places[name])]) - known):
            if any(what == other for other, _ in known):
                return f"{what!r} is spelled in another way than elsewhere ({how})"
    return None


def _space(line: bytes) -> bytes:
    return around(line, members(line))
