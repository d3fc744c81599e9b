"""Take a key out of a text, in every spelling in which a server may repeat it."""

import base64
import html
import json
import re
from collections.abc import Callable, Iterator
from typing import TypeAlias
from urllib.parse import quote, quote_plus

Redact: TypeAlias = Callable[[str], str]

MARK = "<key>"
LEAST_BASE64 = 8  # characters; fewer are found in ordinary words


def redactor(key: str | None) -> Redact:
    """`redactor("sk-1")("wrong key: sk-1") -> "wrong key: <key>"`; upper and lower case alike."""
    if not key:
        return lambda text: text
    longest_first = sorted(set(_spellings(key)), key=len, reverse=True)
    pattern = re.compile("|".join(map(re.escape, longest_first)), re.IGNORECASE)
    return lambda text: pattern.sub(MARK, text)


def _spellings(key: str) -> Iterator[str]:
    yield key
    yield from (quote(key, safe=""), quote(key), quote_plus(key))  # in an address
    in_json = json.dumps(key)[1:-1]
    yield from (in_json, in_json.replace("/", r"\/"), html.escape(key))
    for text in _base64_cores(key.encode()):
        if len(text) >= LEAST_BASE64:
            yield from (text, text.replace("+", "-").replace("/", "_"))


def _base64_cores(key: bytes) -> Iterator[str]:
    """What all Base64 texts have in common that hold the key: `user:KEY` of Basic, for any user.

    Three bytes are four characters. The key may begin at the first, second or third of them; the
    characters that it shares with its neighbours are left out.
    """
    for before in range(3):
        text = base64.b64encode(bytes(before) + key).decode().rstrip("=")
        shared = (before + len(key)) % 3 != 0  # the last character holds bits of what follows
        yield text[(0, 2, 3)[before] : len(text) - shared]
