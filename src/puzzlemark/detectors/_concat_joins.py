"""Variables that are the concatenation of two others of the same function."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from puzzlemark.languages.base import Convention
from puzzlemark.syntax.naming import concatenate, is_plain_identifier
from puzzlemark.syntax.variables import Function

Level = Literal["any", "in_order", "adjacent", "first_two"]
LEVELS: tuple[Level, ...] = ("any", "in_order", "adjacent", "first_two")  # each holds the next


@dataclass(frozen=True, slots=True)
class Join:
    """`target` is `prefix` and `suffix` joined; positions count a function's variables from 0."""

    prefix: str
    suffix: str
    target: str
    prefix_at: int
    suffix_at: int

    @property
    def level(self) -> Level:
        """The strictest level that holds."""
        if self.suffix_at < self.prefix_at:
            return "any"
        if self.suffix_at > self.prefix_at + 1:
            return "in_order"
        return "first_two" if self.prefix_at == 0 else "adjacent"

    @property
    def rank(self) -> int:
        """1 for `any` to 4 for `first_two`."""
        return LEVELS.index(self.level) + 1

    def __str__(self) -> str:
        where = {
            "any": "the second of which comes first",
            "in_order": "in this order, with others between them",
            "adjacent": "one after the other",
            "first_two": "the function's first two variables",
        }[self.level]
        return f"the variable {self.target} joins {self.prefix} and {self.suffix}, {where}"


def plain_names(function: Function) -> list[str]:
    """The names that can be part of a concatenation, by first occurrence."""
    return [each.name for each in function.variables if is_plain_identifier(each.name)]


def find_joins(names: Sequence[str], convention: Convention) -> Iterator[Join]:
    """Every join of two earlier variables: `["key", "it", "key_it"] -> key, it -> key_it`."""
    heads: dict[str, list[int]] = defaultdict(list)
    tails: dict[str, list[int]] = defaultdict(list)
    for at, target in enumerate(names):
        for head, tail in _splits(target, convention):
            for prefix_at in heads.get(head, ()):
                for suffix_at in tails.get(tail, ()):
                    prefix, suffix = names[prefix_at], names[suffix_at]
                    # `key_` and `_it` meet in one underscore, which the split cannot know
                    if prefix_at != suffix_at and target == concatenate(prefix, suffix, convention):
                        yield Join(prefix, suffix, target, prefix_at, suffix_at)
        heads[target.rstrip("_")].append(at)
        tails[_as_tail(target, convention)].append(at)


def _splits(name: str, convention: Convention) -> Iterator[tuple[str, str]]:
    """Where a name can have been joined: `"key_it" -> ("key", "it")`; camel: `("key", "It")`."""
    for at in range(1, len(name)):
        if convention == "snake":
            if name[at] == "_" and at + 1 < len(name):
                yield name[:at], name[at + 1 :]
        elif not name[at].islower():
            yield name[:at], name[at:]


def _as_tail(name: str, convention: Convention) -> str:
    """How a name looks as the second part."""
    tail = name.lstrip("_")
    return tail if convention == "snake" else tail[:1].upper() + tail[1:]


@dataclass(slots=True)
class Tally:
    """What a dataset joins, and how often it might have.

    A chance is a pair of neighbours and a variable after them, which could have been their join.
    """

    functions: int = 0
    chances: Counter[str] = field(default_factory=Counter)  # by prefix
    hits: Counter[str] = field(default_factory=Counter)  # by prefix: neighbours that are joined
    position_chances: Counter[int] = field(default_factory=Counter)  # by the prefix's position
    position_hits: Counter[int] = field(default_factory=Counter)
    forward: int = 0  # joins in which the prefix comes first
    backward: int = 0

    def add(self, names: Sequence[str], joins: Sequence[Join]) -> None:
        """Count one function."""
        self.functions += 1
        for at in range(len(names) - 2):
            self.chances[names[at]] += len(names) - at - 2
            self.position_chances[at] += len(names) - at - 2
        for join in joins:
            self.forward += join.prefix_at < join.suffix_at
            self.backward += join.prefix_at > join.suffix_at
            if join.rank >= LEVELS.index("adjacent") + 1:
                self.hits[join.prefix] += 1
                self.position_hits[join.prefix_at] += 1

    def update(self, other: "Tally") -> None:
        """Add another's counts."""
        self.functions += other.functions
        self.forward += other.forward
        self.backward += other.backward
        for name in ("chances", "hits", "position_chances", "position_hits"):
            getattr(self, name).update(getattr(other, name))
