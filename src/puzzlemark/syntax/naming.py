"""Names: their words, and the concatenation that is the mark (paper, section 4.3.1)."""

import re

from puzzlemark.languages.base import Convention

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_A-Za-z]+|\d+")
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


def concatenate(prefix: str, suffix: str, convention: Convention) -> str:
    """The target: `("key", "iterator", "snake") -> "key_iterator"`, `"camel"` -> `"keyIterator"`.

    Underscores that meet at the joint become one: `("key", "_iter", "snake") -> "key_iter"`.
    """
    head, tail = prefix.rstrip("_"), suffix.lstrip("_")
    if convention == "snake":
        return f"{head}_{tail}"
    return head + tail[:1].upper() + tail[1:]


def words(name: str) -> tuple[str, ...]:
    """`"maxHTTPRetries_2" -> ("max", "HTTP", "Retries", "2")`."""
    return tuple(_WORD.findall(name))


def is_compound(name: str) -> bool:
    """Whether two or more words are joined in a name: `x_y`, `maxValue`; not `x2`, `_x`, `MAX`."""
    return sum(not word.isdigit() for word in words(name)) > 1


def is_plain_identifier(name: str) -> bool:
    """Whether a name is ASCII and has a letter in it: fit to be part of a mark."""
    return bool(_IDENTIFIER.match(name)) and name.strip("_0123456789") != ""


def is_mangled(name: str) -> bool:
    """Whether this may be how Python spells a private name: `_A__x` for `__x` in a class `A`."""
    return name.startswith("_") and "__" in name.lstrip("_")


def mentions(source: bytes, name: str) -> bool:
    """Whether a name stands in the source as a whole word: in code, a string or a comment."""
    at = source.find(word := name.encode())
    while at >= 0:
        end = at + len(word)
        if not (_continues(source, at - 1) or _continues(source, end)):
            return True
        at = source.find(word, at + 1)
    return False


def _continues(source: bytes, at: int) -> bool:
    # any byte above 127 may belong to a letter: such a neighbour makes another word of it
    if not 0 <= at < len(source):
        return False
    byte = source[at]
    return byte > 127 or byte == 0x5F or bytes((byte,)).isalnum()
