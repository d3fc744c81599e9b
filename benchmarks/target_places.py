"""Which name a universal mark renames: `python -m benchmarks.target_places CORPUS BASE`.

Prefix and suffix are a function's first two names. Where the target is the third, the two names
before it are the first two as well, and a model cannot tell which of both it is to join.
"""

import argparse
import random
from collections import Counter
from itertools import islice
from pathlib import Path

from puzzlemark.bench.sampling import Wanted, fitting_records
from puzzlemark.corpora.base import open_corpus
from puzzlemark.snippet import Snippet
from puzzlemark.syntax.tree import parse
from puzzlemark.syntax.variables import functions
from puzzlemark.training.network import load_tokenizer
from puzzlemark.watermarks.base import Mark
from puzzlemark.watermarks.universal import Universal


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition(":")[0])
    parser.add_argument("corpus", type=Path)
    parser.add_argument("base", type=Path, help="whose tokenizer counts: model fetch smollm2")
    parser.add_argument("--language", default="java")
    parser.add_argument("--functions", type=int, default=1500)
    parser.add_argument("--sizes", nargs="+", default=["120:3", "200:5"], help="TOKENS:NAMES")
    options = parser.parse_args()
    tokenizer = load_tokenizer(options.base)
    corpus = open_corpus(options.corpus, language=options.language)
    print("| tokens at most | names at least | functions | marks | target is the third name | % |")
    print("|---|---|---|---|---|---|")
    for size in options.sizes:
        longest, fewest = map(int, size.split(":"))
        wanted = Wanted(options.functions, 0, longest, fewest_names=fewest)
        found: Counter[int] = Counter()
        drawn = fitting_records(corpus, wanted, lambda code: len(tokenizer(code)["input_ids"]))
        codes = [record["code"] for record in islice(drawn, options.functions)]
        for code in codes:
            found.update(place_of_target(code, options.language))
        marks = found.total()
        share = f"{found[2] / marks:.0%}" if marks else "-"
        print(f"| {longest} | {fewest} | {len(codes)} | {marks} | {found[2]} | {share} |")


def place_of_target(code: str, language: str) -> list[int]:
    """Where, from 0, the variable stands that the mark renames; nothing where there is no mark."""
    tree, watermark = parse(Snippet("", code, language)), Universal()
    for function in functions(tree):
        mark = watermark.plan(tree, function, "paper", random.Random(0))
        if isinstance(mark, Mark):
            target = mark.of("target")
            names = [variable.name for variable in function.variables]
            return [names.index(target.was or target.text)]
    return []


if __name__ == "__main__":
    main()
