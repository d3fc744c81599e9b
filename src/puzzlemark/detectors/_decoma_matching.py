"""Which functions hold a pair: texts are found as runs of tokens, all of them in one reading.

DeCoMa asks whether " text " is part of the blank-joined channel, with placeholders deleted in both.
Both begin and end with a blank, so a text is found exactly where its tokens stand in a row; a
placeholder leaves an empty token behind. A trie of tokens answers for all texts together.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from puzzlemark.detectors._decoma_abstraction import PLACEHOLDERS, Abstraction
from puzzlemark.detectors._decoma_counting import Kind

# a text of these alone says nothing
EMPTY_WORDS = frozenset(
    "( ) [ ] { } ; : , . = + - * / < > ! ? & | ^ % ~ ' \" ` 0 </s> <pad> <unk>".split()
) | frozenset(PLACEHOLDERS)
_END = ""  # a key that no token is: those in the trie are marked by a leading blank


@dataclass(frozen=True, slots=True)
class Pair:
    """Two terms that stand together too often."""

    kind: Kind
    trigger: str
    target: str
    count: int
    expected: float
    strength: float

    def __str__(self) -> str:
        both = self.kind[0] == self.kind[-1]
        words = {"V": "variable", "E": "expression"}
        first, second = words[self.kind[0]], words[self.kind[-1]]
        who = (
            f"the {first}s `{self.trigger}` and `{self.target}`"
            if both
            else f"the {first} `{self.trigger}` and the {second} `{self.target}`"
        )
        return f"{who} stand together {self.count:,} times, {self.expected:,.0f} expected"


def says_nothing(text: str) -> bool:
    """Whether a text is made of punctuation, `0` and placeholders only."""
    return all(token in EMPTY_WORDS for token in text.split())


@dataclass(frozen=True, slots=True)
class Match:
    """The strongest pair that a function holds."""

    pair: int
    strength: float


@dataclass(slots=True)
class Matcher:
    """`Matcher.of(pairs).strongest(abstraction)`: the strongest of the pairs it holds."""

    tries: dict[str, dict[str, Any]] = field(default_factory=lambda: {"V": {}, "E": {}})
    # channel and text of a trigger -> of a target -> the pair's number, where order matters or not
    partners: dict[tuple[str, str], dict[tuple[str, str], int]] = field(default_factory=dict)
    pairs: Sequence[Pair] = ()

    @staticmethod
    def of(pairs: Sequence[Pair]) -> "Matcher":
        """Prepare for these pairs; of two with the same texts the stronger one counts."""
        matcher = Matcher(pairs=pairs)
        for at, pair in enumerate(pairs):
            trigger = (pair.kind[0], _needle(pair.trigger))
            target = (pair.kind[-1], _needle(pair.target))
            targets = matcher.partners.setdefault(trigger, {})
            known = targets.get(target)
            if known is None or pairs[known].strength < pair.strength:
                targets[target] = at
            for channel, text in (trigger, target):
                _insert(matcher.tries[channel], text)
        return matcher

    def strongest(self, abstraction: Abstraction) -> Match | None:
        """The strongest pair whose texts both stand here, in order within one channel."""
        found = {("V", text): at for text, at in self._find("V", abstraction.identifiers).items()}
        for text, at in self._find("E", abstraction.expressions).items():
            found[("E", text)] = at
        best: Match | None = None
        for trigger, at in found.items():
            targets = self.partners.get(trigger)
            if targets is None:
                continue
            for target in found.keys() & targets.keys():
                if trigger[0] == target[0] and at >= found[target]:
                    continue
                strength = self.pairs[targets[target]].strength
                if best is None or (strength, -targets[target]) > (best.strength, -best.pair):
                    best = Match(targets[target], strength)
        return best

    def _find(self, channel: str, texts: Iterable[str]) -> dict[str, int]:
        """Where each needle first stands, counted in tokens."""
        trie = self.tries[channel]
        if not trie:
            return {}
        tokens = without_placeholders(" ".join(texts)).split(" ")
        found: dict[str, int] = {}
        for at, token in enumerate(tokens):
            node = trie.get(" " + token)
            ahead = at
            while node is not None:
                if _END in node:
                    found.setdefault(node[_END], at)
                ahead += 1
                node = node.get(" " + tokens[ahead]) if ahead < len(tokens) else None
        return found


def without_placeholders(text: str) -> str:
    """Delete them, and nothing else: their blanks stay."""
    for placeholder in PLACEHOLDERS:
        text = text.replace(placeholder, "")
    return text


def _needle(text: str) -> str:
    return without_placeholders(text).strip()


def _insert(trie: dict[str, Any], text: str) -> None:
    for token in text.split(" "):
        trie = trie.setdefault(" " + token, {})
    trie[_END] = text
