"""Which local names are everybody's: `name_pools.py CORPUS ... [--size 200] [--sampled 4]`.

Makes the public pools of `Language.pool`, from which a key draws the prefixes of the watermark
`prefixes`. A name counts once for each project (the column `repo`) that declares it as a variable
of some function, so that no project's own words get in. It is of one word, of three to twelve
letters, no digit, reserved in no language (`from`, `str`: they stand in most code of another one),
and no receiver such as `self`. The most widespread ones are taken; they are printed by the
alphabet, since a pool has no order. Of names that as many projects declare, the first by the
alphabet are taken; where projects are few, `--ties functions` takes those of the most functions.

    python benchmarks/name_pools.py csn_python_exact.jsonl.gz csn_python_large.jsonl.gz
    python benchmarks/name_pools.py csn_java_exact.jsonl.gz csn_java_large.jsonl.gz
    python benchmarks/name_pools.py csn_go.jsonl.gz --sampled 1 --ties functions
    python benchmarks/name_pools.py csn_javascript.jsonl.gz --sampled 1 --ties functions
"""

import argparse
import hashlib
import re
import textwrap
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path

from puzzlemark.corpora.base import open_corpus
from puzzlemark.errors import UnparsableSnippet
from puzzlemark.languages.base import every_language
from puzzlemark.snippet import Snippet
from puzzlemark.syntax.tree import parse
from puzzlemark.syntax.variables import functions

_ONE_WORD = re.compile(r"[a-z]{3,12}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("corpora", type=Path, nargs="+", help="datasets that nobody marked")
    parser.add_argument("--size", type=int, default=200, help="names of a pool")
    parser.add_argument("--sampled", type=int, default=4, help="one in so many functions is read")
    parser.add_argument("--ties", choices=("alphabet", "functions"), default="alphabet")
    options = parser.parse_args()
    projects: defaultdict[str, Counter[str]] = defaultdict(Counter)
    seen: set[bytes] = set()
    for path in options.corpora:
        count(path, projects, seen, options.sampled)
    by_functions = options.ties == "functions"
    widespread = sorted(
        projects,
        key=lambda name: (
            -len(projects[name]),
            -projects[name].total() if by_functions else 0,
            name,
        ),
    )
    pool = widespread[: options.size]
    last = pool[-1]
    print(f"{len(seen):,} functions; the rarest, {last}, in {len(projects[last]):,} projects")
    print(textwrap.fill(" ".join(sorted(pool)), 96))


def count(path: Path, projects: dict[str, Counter[str]], seen: set[bytes], sampled: int) -> None:
    """In how many functions each project declares a name; each text counts once."""
    for entry in open_corpus(path, id_column="repo").entries():
        if entry.code is None or entry.language is None or entry.reason is not None:
            continue
        digest = hashlib.sha256(entry.code.encode()).digest()
        if digest in seen or int.from_bytes(digest[:4], "big") % sampled:
            continue
        seen.add(digest)
        for name in names_of(Snippet("", entry.code, entry.language)):
            projects[name][entry.id or ""] += 1


@cache
def unfit_names() -> frozenset[str]:
    """Names that a variable must not have in one language or another."""
    return frozenset().union(*(each.reserved | each.receivers for each in every_language()))


def names_of(snippet: Snippet) -> set[str]:
    """The names of one word that a snippet's functions declare."""
    try:
        tree = parse(snippet)
    except UnparsableSnippet:
        return set()
    unfit = unfit_names()
    found = {variable.name for function in functions(tree) for variable in function.variables}
    return {name for name in found if _ONE_WORD.fullmatch(name) and name not in unfit}


if __name__ == "__main__":
    main()
