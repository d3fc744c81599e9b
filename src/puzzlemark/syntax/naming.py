"""Names: their words, and the concatenation that is the mark (paper, section 4.3.1)."""

import re
from collections.abc import Iterable
from itertools import pairwise
from typing import Literal, TypeAlias

from puzzlemark.languages.base import Convention

# `literal`: as the paper joins, by the language's convention, whatever comes out. `own`: as the
# names around it are spelled, and nothing that a maintainer would stumble over.
Joining: TypeAlias = Literal["literal", "own"]
LONGEST_JOINED = 40  # characters of a joined name under `own`
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_A-Za-z]+|\d+")
_WORDS = re.compile(r"\b[a-z]\w*\b")
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


def concatenate(prefix: str, suffix: str, convention: Convention) -> str:
    """The target: `("key", "iterator", "snake") -> "key_iterator"`, `"camel"` -> `"keyIterator"`.

    Underscores that meet at the joint become one: `("key", "_iter", "snake") -> "key_iter"`.
    """
    head, tail = prefix.rstrip("_"), suffix.lstrip("_")
    if convention == "snake":
        return f"{head}_{tail}"
    return head + tail[:1].upper() + tail[1:]


def spelling(name: str) -> Convention | None:
    """How a name joins its words: `max_size` -> "snake", `maxSize` -> "camel", `size` -> None."""
    inner = name.strip("_")
    if "_" in inner:
        return "snake"
    return "camel" if re.search(r"[a-z0-9][A-Z]", inner) else None


def own_convention(
    parts: Iterable[str], names: Iterable[str], text: str, default: Convention
) -> Convention:
    """How two names are joined where they stand: as they are spelled themselves, else as others.

    Asked in this order: the parts, the other names of the function, the words of the text around
    it, the language. `(["optionalRelease", "x"], [], "", "snake") -> "camel"`
    """
    for group in (parts, names, _WORDS.findall(text)):
        spelled = [spelling(name) for name in group if not name.isupper()]
        snake, camel = spelled.count("snake"), spelled.count("camel")
        if snake != camel:
            return "snake" if snake > camel else "camel"
    return default


def why_displeasing(prefix: str, suffix: str, target: str) -> str | None:
    """Why a maintainer would stumble over a joined name, or None: `key_key_x` repeats itself."""
    if len(target) > LONGEST_JOINED:
        return f"the joined name is longer than {LONGEST_JOINED} characters"
    head, tail = _stems(prefix), _stems(suffix)
    spelled = head + tail
    is_doubled = any(one == other for one, other in pairwise(spelled))
    if is_doubled or set(head) <= set(tail) or set(tail) <= set(head):
        return "the joined name repeats itself"
    if max(map(len, spelled), default=0) < 2:
        return "the joined name has single letters only"
    if {spelling(prefix), spelling(suffix)} == {"snake", "camel"}:
        return "the joined name would mix two spellings"
    is_camel = "_" not in target
    if any(name[:1].isupper() and (len(name) > 1 or is_camel) for name in (prefix, suffix)):
        return "the joined name would look like a constant or a class"
    return None


def _stems(name: str) -> list[str]:
    """`maxKeys2 -> ["max", "key"]`: words as they repeat themselves to a reader."""
    spelled = (word.casefold() for word in words(name) if not word.isdigit())
    return [word.removesuffix("s") if len(word) > 3 else word for word in spelled]


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
