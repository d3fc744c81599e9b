"""How often real code joins a fixed prefix by itself: `prefix_joins.py CORPUS ... [--sampled ...]`.

The null of a fixed prefix: in code that nobody marked, is `key` joined with another name more often
than the ordinary names are that probes draw in its stead? A function counts when at least two plain
variables follow the name, each text once. Counted are the functions that join it with the name
right behind it, as the mark does (`next`), or with any other one (`any`), in a later variable.

Ordinary names are those of `watermarks._names`: of one word, plausible, declared in two functions.
Of the files after `--sampled` a twelfth is read for them, and for the prefixes all that has them.
"""

import argparse
import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from puzzlemark.corpora.base import open_corpus
from puzzlemark.errors import UnparsableSnippet
from puzzlemark.languages.base import Convention
from puzzlemark.snippet import Snippet
from puzzlemark.statistics.rates import estimate
from puzzlemark.syntax.naming import concatenate, is_compound, is_plain_identifier
from puzzlemark.syntax.tree import parse
from puzzlemark.syntax.variables import functions
from puzzlemark.watermarks._names import FEWEST_FUNCTIONS, _is_plausible

PREFIXES = ("key", "value")
SAMPLED = 21  # of 256: a twelfth
FEWEST = 3  # plain variables: the name, another one, and one that may join them
KINDS = ("next", "any")
_PREFIX = re.compile(rf"\b(?:{'|'.join(PREFIXES)})\b")


@dataclass(frozen=True, slots=True)
class Names:
    """The plain variables of one function."""

    language: str
    convention: Convention
    names: tuple[str, ...]
    is_sampled: bool  # whether it counts for ordinary names, too


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("corpora", type=Path, nargs="*", help="datasets that nobody marked")
    parser.add_argument("--sampled", type=Path, nargs="*", default=[], help="large ones")
    options = parser.parse_args()
    seen: set[bytes] = set()
    found = [each for path in options.corpora for each in names_of(path, seen, whole=True)]
    found += [each for path in options.sampled for each in names_of(path, seen, whole=False)]
    print_table(found)


def names_of(path: Path, seen: set[bytes], *, whole: bool) -> Iterator[Names]:
    """The functions of a dataset that are new, or of a large one those that are needed."""
    for entry in open_corpus(path).entries():
        if entry.code is None or entry.language is None:
            continue
        digest = hashlib.sha256(entry.code.encode("utf-8", "replace")).digest()
        is_sampled = whole or digest[0] < SAMPLED
        if digest in seen or not (is_sampled or _PREFIX.search(entry.code)):
            continue
        seen.add(digest)
        try:
            tree = parse(Snippet(entry.id, entry.code, entry.language))
        except UnparsableSnippet:
            continue
        for function in functions(tree):
            names = tuple(v.name for v in function.variables if is_plain_identifier(v.name))
            if len(names) >= FEWEST:
                yield Names(tree.language.name, tree.language.convention, names, is_sampled)


def is_joined(names: Sequence[str], at: int, convention: Convention, kind: str) -> bool:
    """`(["key", "x", "y", "key_y"], 0, "snake", "any") -> True`; `"next"` joins `key_x` only."""
    others = [at + 1] if kind == "next" else [n for n in range(len(names)) if n != at]
    for other in others:
        joined = concatenate(names[at], names[other], convention)
        if joined in names[max(at, other) + 1 :]:
            return True
    return False


def print_table(found: Sequence[Names]) -> None:
    heads = ("language", "prefix", "joined with", "of the prefix", "of ordinary names", "ratio")
    print("| " + " | ".join(heads) + " |\n" + "|---" * len(heads) + "|")
    for language in sorted({each.language for each in found}, reverse=True):
        mine = [each for each in found if each.language == language]
        for kind in KINDS:
            having, joined = count(mine, kind)
            for prefix in PREFIXES:
                own = joined["prefix", prefix], having["prefix", prefix]
                rest = [name for where, name in having if where == "ordinary" and name != prefix]
                ordinary = (
                    sum(joined["ordinary", name] for name in rest),
                    sum(having["ordinary", name] for name in rest),
                )
                cells = (f"{own[0]} of {own[1]:,}", f"{ordinary[0]} of {ordinary[1]:,}")
                print(f"| {language} | {prefix} | {kind} | {' | '.join(cells)} | ", end="")
                print(f"{ratio(own, ordinary)} |")


def count(found: Sequence[Names], kind: str) -> tuple[Counter[tuple[str, str]], ...]:
    """How many functions have a name with two more behind it, and how many of them join it."""
    declared = Counter(name for each in found if each.is_sampled for name in set(each.names))
    having: Counter[tuple[str, str]] = Counter()
    joined: Counter[tuple[str, str]] = Counter()
    for each in found:
        for at, name in enumerate(each.names[:-2]):
            is_prefix = name in PREFIXES
            is_ordinary = each.is_sampled and declared[name] >= FEWEST_FUNCTIONS
            is_ordinary = is_ordinary and _is_plausible(name, each.convention)
            if not (is_prefix or (is_ordinary and not is_compound(name))):
                continue
            hit = is_joined(each.names, at, each.convention, kind)
            for where in ["prefix"] * is_prefix + ["ordinary"] * each.is_sampled:
                having[where, name] += 1
                joined[where, name] += hit
    return having, joined


def ratio(own: tuple[int, int], ordinary: tuple[int, int]) -> str:
    """Rate to rate, with its exact 95 % interval: given their sum, the joins are binomial."""
    together = own[0] + ordinary[0]
    if not together or not own[1] or not ordinary[1]:
        return "none was joined"
    share = estimate(own[0], together)
    weight = ordinary[1] / own[1]
    rate, low, high = (odds(each) * weight for each in (share.rate, share.low, share.high))
    return f"{rate:.1f} ({low:.1f}-{high:.1f})"


def odds(share: float) -> float:
    return float("inf") if share == 1 else share / (1 - share)


if __name__ == "__main__":
    main()
