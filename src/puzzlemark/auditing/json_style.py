"""How a writer of JSON spells things: what stands around values, and characters in strings."""

import json
import re
from collections.abc import Iterable

from puzzlemark.corpora.base import Corpus
from puzzlemark.corpora.lines import find_members, read_blocks

_BOM = b"\xef\xbb\xbf"
_ESCAPE = re.compile(rb"\\(u[0-9a-fA-F]{4}|.)")


def find_habits(corpus: Corpus) -> frozenset[tuple[str, str]] | None:
    """The spellings in the first block of each file; None for a format that is not JSON."""
    found: set[tuple[str, str]] = set()
    if corpus.shards[0].format != "jsonl":
        return None
    for shard in corpus.shards:
        for block in read_blocks(shard.path):
            found |= spellings(block)
            break
    return frozenset(found)


def spellings(text: bytes) -> frozenset[tuple[str, str]]:
    """How characters are spelled that JSON can spell in two ways: `{("other", "as it is")}`."""
    found = {("letters", "as it is")}
    if not text.isascii():
        found.add(("non-ASCII", "as it is"))
    if re.search(rb"(?<!\\)/", text):
        found.add(("/", "as it is"))
    for escape in set(_ESCAPE.findall(text)):
        name = escape.decode("ascii", "replace")
        if len(name) == 1:
            found.add((json.loads(f'"\\{name}"'), name) if name in '"\\/bfnrt' else (name, name))
            continue
        char = chr(int(name[1:], 16))
        kind = "letters" if char.isascii() and char.isalnum() else char
        found.add((kind if char.isascii() else "non-ASCII", "escaped"))
        if name[1:].lower() != name[1:].upper():
            found.add(("hexadecimal", "lower" if name[1:] == name[1:].lower() else "upper"))
    return frozenset(found)


def members(line: bytes) -> dict[str, tuple[int, int]]:
    """Where the values of a line stand."""
    return find_members(line, len(_BOM) if line.startswith(_BOM) else 0)


def around(line: bytes, names: Iterable[str]) -> bytes:
    """The line without the values of some columns."""
    pieces: list[bytes] = []
    at = 0
    places = members(line)
    for start, end in sorted(places[name] for name in names if name in places):
        pieces.append(line[at:start])
        at = end
    return b"\0".join((*pieces, line[at:]))
