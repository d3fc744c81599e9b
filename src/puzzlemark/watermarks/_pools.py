"""Subsets that a key draws from a public pool of names.

Which pool and how many is public; which names follows from the key alone: those whose
HMAC-SHA256(key, label | language | version | beacon | name) are the smallest. To whoever does not
have the key, every subset of that size is as likely as any other.
"""

import hashlib
import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, TypeAlias

from puzzlemark.languages.base import Language, find, title_of

LABEL = "puzzlemark prefixes 1"
HOLE = "\0"  # stands for the prefix in a frame; refused in prompts
Frame: TypeAlias = tuple[str, ...]
_DIGEST = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Subset:
    """So many names of a language's pool: `Subset("python", 1, 4).drawn(key) -> ("row", ...)`."""

    language: str
    version: int  # of the pool: another table is another scheme
    number: int
    beacon: str | None = None  # SHA-256 of what was published after the secret was committed to
    # it is read from files that may come from a stranger: nothing is guessed or left aside
    __pydantic_config__: ClassVar[Mapping[str, Any]] = {"extra": "forbid", "strict": True}

    @property
    def pool(self) -> tuple[str, ...]:
        """All names that could have been drawn; none where the pool is not known here."""
        language = find(self.language)
        is_known = language is not None and language.pool_version == self.version
        return language.pool if language is not None and is_known else ()

    def drawn(self, key: bytes) -> tuple[str, ...]:
        """What the key draws, in its own order."""
        return _drawn(self, key)

    def place(self, key: bytes, name: str) -> bytes:
        """What the names of the pool are ordered by."""
        words = (LABEL, self.language, str(self.version), self.beacon or "", name)
        return hmac.digest(key, "\n".join(words).encode(), hashlib.sha256)

    def why_not(self) -> str | None:
        """Why nothing can be drawn, or None."""
        if not self.pool:
            return f"no pool of {title_of(self.language)} has the version {self.version} here"
        known = find(self.language)
        if known is not None and known.name != self.language:
            # each spelling would be another subset of the same key, of which the best can be chosen
            return f"its language is spelled {self.language!r}, where the pool is of {known.name}"
        if not 0 < self.number < len(self.pool):
            return f"{self.number} names cannot be drawn from a pool of {len(self.pool)}"
        if self.beacon is not None and not _DIGEST.fullmatch(self.beacon):
            return "its beacon is no SHA-256"
        return None


@lru_cache(maxsize=64)  # every snippet asks
def _drawn(subset: Subset, key: bytes) -> tuple[str, ...]:
    ordered = sorted(subset.pool, key=lambda name: subset.place(key, name))
    return tuple(ordered[: subset.number])


def subset_of(language: Language, number: int, beacon: str | None = None) -> Subset:
    """What is drawn for a language."""
    return Subset(language.name, language.pool_version, number, beacon)


def frame_of(prompt: str, targets: Mapping[str, str]) -> Frame:
    """What the prompts about all prefixes share: the text around the prefix, and what it joins.

    Of the prompt `key = item` with the target `key_item`: the slot with ` = item`, and `_item`.
    """
    (prefix,) = targets
    slotted = re.sub(rf"\b{re.escape(prefix)}\b", HOLE, prompt)
    return slotted, targets[prefix].removeprefix(prefix)
