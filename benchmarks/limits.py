"""How far real code is from our limits, and what its modules bind: `limits.py DATASET ...`.

Prints for each dataset the deepest tree, the most variables of a function, and, for Python records
with `repo`, `path` and `func_name`, how many functions with a `[]` stand in a file that defines a
function `list`, as far as the dataset shows that file.
"""

import argparse
import re
from collections import defaultdict
from pathlib import Path

from tree_sitter import Node

from puzzlemark.corpora.base import open_corpus
from puzzlemark.errors import UnparsableSnippet
from puzzlemark.syntax.tree import DEEPEST, parse
from puzzlemark.syntax.variables import MOST_VARIABLES, functions

EMPTY_LIST = re.compile(r"(?<![\w\])])\[\]")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("datasets", type=Path, nargs="+")
    print(f"limits: {DEEPEST} levels, {MOST_VARIABLES} variables")
    print("| dataset | functions | deepest | most variables | with `[]` | of these, own `list` |")
    print("|---|---|---|---|---|---|")
    for path in parser.parse_args().datasets:
        print(f"| {path.name} | {' | '.join(map(str, measure(path)))} |", flush=True)


def measure(path: Path) -> tuple[int, int, int, int, int]:
    records = deepest = most = 0
    with_list: defaultdict[tuple[object, object], int] = defaultdict(int)
    own: set[tuple[object, object]] = set()
    for snippet in open_corpus(path):
        records += 1
        file = snippet.record.get("repo"), snippet.record.get("path")
        if snippet.record.get("func_name") == "list":
            own.add(file)
        if snippet.language == "python" and EMPTY_LIST.search(snippet.code):
            with_list[file] += 1
        try:
            tree = parse(snippet)
        except UnparsableSnippet:
            continue
        deepest = max(deepest, depth(tree.root, deepest))
        if len(snippet.code) > 3 * most:  # a variable takes three characters at least: `x=1`
            most = max([most, *(len(each.variables) for each in functions(tree))])
    return records, deepest, most, sum(with_list.values()), sum(with_list[file] for file in own)


def depth(root: Node, known: int) -> int:
    """The levels of a tree, if there are more than `known`."""
    level, levels = [root], 1
    while level := [node for node in level if levels + node.descendant_count > known + 1]:
        level = [child for node in level for child in node.children]
        levels += 1
    return levels - 1


if __name__ == "__main__":
    main()
