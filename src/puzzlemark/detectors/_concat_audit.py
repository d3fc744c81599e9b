"""Which prefix, which position, which order of joining stands out in a dataset.

Joins are rare by nature, so counts are compared exactly: given how many joins there are in the
dataset and its reference together, how many would chance put on this side? The reference is a clean
dataset or, without one, the rest of this dataset. Every probability is multiplied by the number of
comparisons (Bonferroni) and told as the z-score that it belongs to.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

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


Subject = Literal["prefix", "position", "order"]
LAST = 8  # positions from here on count as one
LARGEST_Z = 1e4
STEPS = 60  # of bisection

Counts = dict[str, tuple[int, int]]  # name -> hits and chances
Reference = Callable[[str], tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Finding:
    """One prefix, position or order, and how far it stands out; 0: not at all."""

    subject: Subject
    value: str
    hits: int
    chances: int
    expected: float
    z: float

    def __str__(self) -> str:
        what = {
            "prefix": f"the prefix {self.value} is joined with its neighbour",
            "position": f"neighbours at position {self.value} are joined",
            "order": "two variables are joined in the order they come in",
        }[self.subject]
        return f"{what} {self.hits:,} times, {self.expected:,.1f} expected (z = {self.z:.1f})"

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        payload = {"subject": self.subject, "value": self.value, "hits": self.hits}
        rounded = {"expected": round(self.expected, 2), "z": round(self.z, 2)}
        return {**payload, "chances": self.chances, **rounded}


@dataclass(frozen=True, slots=True)
class Audit:
    """The findings of each subject, the most conspicuous first; prefixes without joins are out."""

    prefixes: tuple[Finding, ...]
    positions: tuple[Finding, ...]
    order: Finding | None

    def z_scores(self) -> Callable[[str, int], float]:
        """For a prefix and its position: how far the more conspicuous of the two stands out."""
        prefixes = {each.value: each.z for each in self.prefixes}
        positions = {each.value: each.z for each in self.positions}
        return lambda name, at: max(prefixes.get(name, 0.0), positions.get(_place(at), 0.0))


def audit(seen: Tally, clean: Tally | None = None) -> Audit:
    """Hold a dataset's joins against a clean one's, or against each other."""
    prefixes, places = _by_prefix(seen), _by_place(seen)
    clean_prefixes = None if clean is None else _by_prefix(clean)
    clean_places = None if clean is None else _by_place(clean)
    return Audit(
        _compare("prefix", prefixes, _reference(prefixes, clean_prefixes)),
        _compare("position", places, _reference(places, clean_places)),
        _order(seen, clean),
    )


def exact_z(hits: int, chances: int, other_hits: int, other_chances: int, tests: int = 1) -> float:
    """How far `hits` of `chances` is above the other: the z-score of the exact one-sided p-value.

    `exact_z(1, 47, 6, 200_000) -> 2.9`: one of seven joins fell where 1 in 4,256 should.
    """
    share = chances / (chances + other_chances)
    return _z_of_log_p(_log_tail(hits, hits + other_hits, share) + math.log(tests))


def _by_prefix(tally: Tally) -> Counts:
    return {name: (tally.hits[name], chances) for name, chances in tally.chances.items()}


def _by_place(tally: Tally) -> Counts:
    counts: Counts = {}
    for position, chances in tally.position_chances.items():
        hits, total = counts.get(_place(position), (0, 0))
        counts[_place(position)] = (hits + tally.position_hits[position], total + chances)
    return counts


def _place(position: int) -> str:
    return str(position + 1) if position < LAST - 1 else f"{LAST} or later"


def _reference(own: Counts, clean: Counts | None) -> Reference:
    """What to compare with: all others of ours; or the clean ones of that name, if there are joins
    among them, else all clean ones.
    """
    all_hits, all_chances = _total((own if clean is None else clean).values())

    def refer(name: str) -> tuple[int, int]:
        if clean is None:
            hits, chances = own[name]
            return all_hits - hits, all_chances - chances
        hits, chances = clean.get(name, (0, 0))
        return (hits, chances) if hits else (all_hits, all_chances)

    return refer


def _total(counts: Iterable[tuple[int, int]]) -> tuple[int, int]:
    some = list(counts)
    return sum(hits for hits, _ in some), sum(chances for _, chances in some)


def _compare(subject: Subject, own: Counts, refer: Reference) -> tuple[Finding, ...]:
    findings: list[Finding] = []
    for name, (hits, chances) in own.items():
        other_hits, other_chances = refer(name)
        if (hits or subject == "position") and other_chances:
            expected = chances * other_hits / other_chances
            z = exact_z(hits, chances, other_hits, other_chances, tests=len(own))
            findings.append(Finding(subject, name, hits, chances, expected, z))
    return tuple(sorted(findings, key=lambda each: (-each.z, -each.hits, each.value)))


def _order(seen: Tally, clean: Tally | None) -> Finding | None:
    """Joins whose prefix comes first, against the clean share; without one, against a half."""
    total = seen.forward + seen.backward
    if not total:
        return None
    others = 0 if clean is None else clean.forward + clean.backward
    if clean is None or not others:
        z = _z_of_log_p(_log_tail(seen.forward, total, 0.5))
        return Finding("order", "forward", seen.forward, total, total / 2, z)
    z = exact_order_z(seen.forward, total, clean.forward, others)
    return Finding("order", "forward", seen.forward, total, total * clean.forward / others, z)


def exact_order_z(hits: int, total: int, other_hits: int, other_total: int) -> float:
    """The same for shares that are not small: Fisher's exact test, one-sided."""
    everyone, good = total + other_total, hits + other_hits
    terms = [
        _log_choose(good, k) + _log_choose(everyone - good, total - k)
        for k in range(hits, min(good, total) + 1)
    ]
    return _z_of_log_p(_log_sum(terms) - _log_choose(everyone, total))


def _log_tail(least: int, total: int, share: float) -> float:
    """The logarithm of P(X >= least) for a binomial X."""
    if least <= 0 or share >= 1:
        return 0.0
    yes, no = math.log(share), math.log1p(-share)
    terms = [_log_choose(total, k) + k * yes + (total - k) * no for k in range(least, total + 1)]
    return _log_sum(terms)


def _log_choose(n: int, k: int) -> float:
    if not 0 <= k <= n:
        return -math.inf
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def _log_sum(terms: list[float]) -> float:
    largest = max(terms)
    return largest + math.log(math.fsum(math.exp(term - largest) for term in terms))


def _z_of_log_p(log_p: float) -> float:
    """The z-score whose upper tail has this probability; 0 from one half on."""
    if log_p >= math.log(0.5):
        return 0.0
    low, high = 0.0, LARGEST_Z
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if _log_normal_tail(middle) > log_p else (low, middle)
    return (low + high) / 2


def _log_normal_tail(z: float) -> float:
    if z < 30:
        return math.log(math.erfc(z / math.sqrt(2)) / 2)
    return -z * z / 2 - math.log(z) - math.log(2 * math.pi) / 2  # erfc is 0 from 38 on
