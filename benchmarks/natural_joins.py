"""How often real code joins neighbouring variables by itself: `natural_joins.py CORPUS ...`.

The null of a universal mark: in code that nobody marked, is the first pair of a function's
variables joined in a later variable more often than the second pair is? A function counts when it
has four plain variables or more, once for each text. A pair counts as joined when a variable after
the third (and after the pair itself) is called like the concatenation of the two.
"""

import argparse
import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from puzzlemark.corpora.base import open_corpus
from puzzlemark.errors import UnparsableSnippet
from puzzlemark.languages.base import Convention
from puzzlemark.snippet import Snippet
from puzzlemark.statistics.rates import estimate
from puzzlemark.syntax.naming import concatenate, is_plain_identifier
from puzzlemark.syntax.tree import parse
from puzzlemark.syntax.variables import functions

FEWEST = 4  # the pairs (0, 1) and (1, 2), and one variable more that may join either
PAIRS = ("first", "second", "third", "fourth")


@dataclass(slots=True)
class Tally:
    """What was found in one language."""

    functions: int = 0
    joined: Counter[str] = field(default_factory=Counter)

    def add(self, pairs: Sequence[str]) -> None:
        """Count one function and the pairs that it joins."""
        self.functions += 1
        self.joined.update(pairs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("corpora", type=Path, nargs="+", help="datasets that nobody marked")
    parser.add_argument("--show", action="store_true", help="print every join that is found")
    options = parser.parse_args()
    seen: set[bytes] = set()
    tallies: dict[tuple[str, str], Tally] = {}
    for path in options.corpora:
        for language, convention, names in functions_of(path, seen):
            pairs = joined_pairs(names, convention)
            for key in ((language, path.name), (language, "all"), ("all", "all")):
                tallies.setdefault(key, Tally()).add(pairs)
            if options.show and pairs:
                print(f"{language}: {', '.join(pairs)}: {' '.join(names)}")
    print_table(tallies)


def functions_of(path: Path, seen: set[bytes]) -> Iterator[tuple[str, Convention, tuple[str, ...]]]:
    """Language, convention and plain variables of each function that is new."""
    for entry in open_corpus(path).entries():
        if entry.code is None or entry.language is None:
            continue
        digest = hashlib.sha256(entry.code.encode("utf-8", "replace")).digest()
        if digest in seen:
            continue
        seen.add(digest)
        try:
            tree = parse(Snippet(entry.id, entry.code, entry.language))
        except UnparsableSnippet:
            continue
        for function in functions(tree):
            names = tuple(
                each.name for each in function.variables if is_plain_identifier(each.name)
            )
            if len(names) >= FEWEST:
                yield tree.language.name, tree.language.convention, names


def joined_pairs(names: Sequence[str], convention: Convention) -> tuple[str, ...]:
    """`("a", "b", "c", "a_b") -> ("first",)`: which pairs a later variable joins."""
    found: list[str] = []
    for at, pair in enumerate(PAIRS):
        later = names[max(FEWEST - 1, at + 2) :]
        if later and concatenate(names[at], names[at + 1], convention) in later:
            found.append(pair)
    return tuple(found)


def print_table(tallies: dict[tuple[str, str], Tally]) -> None:
    heads = ("language", "dataset", "functions", *PAIRS, "first of first and second", "ratio")
    print("| " + " | ".join(heads) + " |")
    print("|---" * len(heads) + "|")
    for (language, name), tally in sorted(tallies.items()):
        counts = [tally.joined[pair] for pair in PAIRS]
        cells = [f"{tally.functions:,}", *map(str, counts), *shares(*counts[:2])]
        print(f"| {language} | {name} | " + " | ".join(cells) + " |")


def shares(first: int, second: int) -> tuple[str, str]:
    """The share of the first pair, and first to second, with their exact 95 % intervals."""
    if not first + second:
        return "none was joined", ""
    rate = estimate(first, first + second)
    share, low, high = rate.rate, rate.low, rate.high
    return f"{share:.2f} ({low:.2f}-{high:.2f})", f"{odds(share)} ({odds(low)}-{odds(high)})"


def odds(share: float) -> str:
    return "inf" if share == 1 else f"{share / (1 - share):.2f}"


if __name__ == "__main__":
    main()
