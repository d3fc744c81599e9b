"""Near-duplicates among prompts: those that share most of their words with an earlier one.

Two texts are alike when the Jaccard similarity of their sets of words is 0.7 or more. Exact and
still fast: two sets that are alike share a word among the first of each, in any fixed order (a
prefix filter), so only texts that do are compared.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Mapping
from functools import cache
from typing import get_args

from puzzlemark import plugins
from puzzlemark.languages.base import Convention
from puzzlemark.syntax.naming import concatenate
from puzzlemark.watermarks.base import Arm, Probe

SIMILARITY = (7, 10)  # as a fraction: 0.7 is no float
CONVENTIONS: tuple[Convention, ...] = get_args(Convention)
_WORD = re.compile(r"\w+")


class Copies:
    """Texts that were kept, each unlike all others: `copies.keep(words) -> False` for a copy."""

    def __init__(self, frequencies: Mapping[str, int] | None = None) -> None:
        """How often words occur, if it is known, changes nothing but the time it takes."""
        self._frequencies = frequencies or {}
        self._kept: list[frozenset[str]] = []
        self._by_word: defaultdict[str, list[int]] = defaultdict(list)

    def keep(self, words: Collection[str]) -> bool:
        """Keep a set of words, unless it is like one that was kept."""
        own = frozenset(words)
        first = self._first_words(own)
        candidates = {number for word in first for number in self._by_word.get(word, ())}
        if any(are_alike(own, self._kept[number]) for number in candidates):
            return False
        for word in first:
            self._by_word[word].append(len(self._kept))
        self._kept.append(own)
        return True

    def _first_words(self, words: frozenset[str]) -> list[str]:
        """As many that two sets which are alike must share one of them."""
        # rare words first, or else long ones, which are rare: so few texts are compared
        ordered = sorted(words, key=lambda word: (self._frequencies.get(word, 0), -len(word), word))
        above, below = SIMILARITY
        needed = -(-above * len(ordered) // below)  # that a set which is alike shares at least
        return ordered[: len(ordered) - needed + 1] or [""]  # no words at all: like each other


def are_alike(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether the Jaccard similarity is 0.7 or more; two empty sets are alike."""
    above, below = SIMILARITY
    if below * min(len(one), len(other)) < above * max(len(one), len(other)):
        return False  # too different in size
    shared = len(one & other)
    return below * shared >= above * (len(one) + len(other) - shared)


def words_of(text: str) -> frozenset[str]:
    """`"def f(x): # of x" -> {"def", "f", "x", "of"}`."""
    return frozenset(_WORD.findall(text))


def distinctive_words(probe: Probe) -> frozenset[str]:
    """The words of the armed prompt but for names that are drawn anew for each probe."""
    words = words_of(probe.armed.prompt)
    return words - _placeholders(probe.armed, words) - _moved_name(probe)


def _placeholders(arm: Arm, words: frozenset[str]) -> set[str]:
    """The word that makes the target when another one is joined with it."""
    heads = [word for word in words if arm.target.startswith(word.rstrip("_"))]
    return {
        tail
        for tail in words
        for head in heads
        if arm.target.endswith(tail.lstrip("_")[1:])
        and any(concatenate(head, tail, convention) == arm.target for convention in CONVENTIONS)
    }


def _moved_name(probe: Probe) -> set[str]:
    """The name that is in both prompts of a universal mark, and in the control comes earlier."""
    armed, control = (
        [word for word in _WORD.findall(arm.prompt) if word not in declaring_words()]
        for arm in (probe.armed, probe.control)
    )
    if sorted(armed) != sorted(control):
        return set()  # the control has another name for the trigger, or none
    pairs = zip(armed, control, strict=True)
    return set(next(([other] for one, other in pairs if one != other), []))


@cache
def declaring_words() -> frozenset[str]:
    """`Object`, `None`, ...: what a declaration of one more variable is made of beside its name."""
    loaded = (language for _, language in plugins.every("languages"))
    return frozenset(
        word
        for language in loaded
        for text in (*language.declaration, language.optional[1])
        for word in _WORD.findall(text)
    )
