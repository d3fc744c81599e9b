"""Symbols that a key draws: among what, how likely each, and which one.

All but the symbol is public and decided without the key, so that a verdict can be computed by
anybody once the key is revealed: the symbol is F^-1(HMAC-SHA256(key, group | unit |
beacon) / 2^256), where F adds up the weights in the order in which they stand.
"""

import hashlib
import hmac
import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

LABEL = "puzzlemark draw 1"
LARGEST_WEIGHT = (1 << 63) - 1  # so that any reader of JSON can hold it
MOST_SYMBOLS = 1_000


@dataclass(frozen=True, slots=True)
class Draw:
    """One choice of a key: `Draw("python/1/tmp", "5f0c...", (("tmp", 3), ("temp", 1)))`.

    The draws of two units, or of two sets, are independent of each other.
    """

    group: str  # which symbols: the language, the version of its table, the set's first name
    unit: str  # what it is drawn for: the same text is the same draw, wherever it stands
    weights: tuple[tuple[str, int], ...]  # of each symbol; in all they are as likely as that
    beacon: str | None = None  # SHA-256 of what was published after the secret was committed to
    # it is read from files that may come from a stranger: nothing is guessed or left aside
    __pydantic_config__: ClassVar[Mapping[str, Any]] = {"extra": "forbid", "strict": True}

    def __post_init__(self) -> None:
        names = [name for name, _ in self.weights]
        if not 1 < len(names) <= MOST_SYMBOLS or len(set(names)) < len(names):
            raise ValueError("a draw is among two symbols or more, each of them once")
        if any(not 0 <= weight <= LARGEST_WEIGHT for _, weight in self.weights) or not self.total:
            raise ValueError("weights are whole numbers from 0 on, and not all of them are 0")

    @property
    def total(self) -> int:
        """The sum of the weights."""
        return sum(weight for _, weight in self.weights)

    @property
    def prior(self) -> dict[str, Fraction]:
        """The chance of each symbol: `{"tmp": 3/4, "temp": 1/4}`."""
        return {name: Fraction(weight, self.total) for name, weight in self.weights}

    @property
    def entropy(self) -> float:
        """In nats: 0 where only one symbol can be drawn, log 2 for a fair coin."""
        return entropy([weight for _, weight in self.weights])

    def symbol(self, key: bytes) -> str:
        """What the key draws; nobody can foretell it without the key."""
        text = "\n".join((LABEL, self.group, self.unit, self.beacon or ""))
        digest = hmac.digest(key, text.encode(), hashlib.sha256)
        # a whole number from 0 to total - 1, each as likely as any other but for 2^-256 of total
        return self.at(int.from_bytes(digest, "big") * self.total >> 8 * len(digest))

    def at(self, place: int) -> str:
        """The symbol at a place of the summed weights, from 0 to total - 1."""
        for name, weight in self.weights:
            place -= weight
            if place < 0:
                return name
        raise ValueError("beyond the sum of all weights")


def entropy(weights: list[int]) -> float:
    """Of weights, in nats: `entropy([1, 1]) -> 0.693`."""
    total = sum(weights)
    return -sum(w / total * math.log(w / total) for w in weights if w)
