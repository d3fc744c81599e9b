"""What becomes of every record of a language's dataset: `python -m benchmarks.languages FILE ...`.

    python -m benchmarks.languages csn_go.jsonl.gz csn_javascript.jsonl.gz
    python -m benchmarks.languages csn_javascript.jsonl.gz --shorthand

For each file: how many records can be parsed; how many carry `--mark` at a rate of 100 %, and why
the others do not; whether all marked ones parse, and `revert` gives the bytes back; how many
variables may be renamed, and what another program that knows the scopes says of them. A variable is
*exact* where it means the same places, *unsafe* where it may be renamed and means others.
`--shorthand` counts what refusing `{a}` costs instead.
"""

import argparse
import gzip
import random
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import puzzlemark as pm
from puzzlemark import plugins
from puzzlemark.corpora.base import open_corpus
from puzzlemark.embedding.marking import first_mark
from puzzlemark.embedding.survey import parse_entry
from puzzlemark.errors import UnparsableSnippet
from puzzlemark.syntax.resolvers import _scopes
from puzzlemark.syntax.tree import Tree
from puzzlemark.syntax.variables import POLICIES, Policy, functions
from puzzlemark.watermarks.base import Introducing, Mark, Watermark, named
from tests.oracles import compiled
from tests.oracles.scopes import Answer, ask_go, ask_node, wrong_variables

BATCH = 1000  # snippets that an oracle is given at once


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--language", help="of the records, where nothing in them says it")
    parser.add_argument("--mark", default="U1", help="a preset; it follows the record's language")
    parser.add_argument("--policy", choices=POLICIES, default="safe")
    parser.add_argument("--every", type=int, default=1, help="one in so many records is judged")
    parser.add_argument("--shorthand", action="store_true", help="what refusing {a} costs")
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_args()
    for path in options.files:
        print(f"\n## {path.name}\n")
        trees, unparsed = read(path, options.language, options.every)
        if options.shorthand:
            print_shorthand(trees)
            continue
        print_embedding(path, options)
        print_variables(trees, unparsed)


def read(path: Path, language: str | None, every: int) -> tuple[list[Tree], Counter[str]]:
    """The trees of a dataset, and why there is none of other records."""
    trees: list[Tree] = []
    unparsed: Counter[str] = Counter()
    for entry in open_corpus(path, language=language).entries():
        if entry.row % every == 0:
            try:
                trees.append(parse_entry(entry, None))
            except UnparsableSnippet as exc:
                unparsed[str(exc)] += 1
    return trees, unparsed


def print_embedding(path: Path, options: argparse.Namespace) -> None:
    """Mark all that can carry, parse what came out, take it out again."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        marked, back, secret = place / path.name, place / f"back-{path.name}", place / "secret"
        secret.touch(mode=0o600)
        secret.write_text("a secret for measuring only")
        summary = pm.embed(
            path,
            marked,
            place / "marks.gz",
            mark=options.mark,
            policy=options.policy,
            language=options.language,
            tau=0,
            min_rate=1,
            max_rate=1,
            secret_file=secret,
            workers=options.workers,
        )
        _, broken = read(marked, options.language, 1)
        _, before = read(path, options.language, 1)
        pm.revert(marked, back, place / "marks.gz")
        same = _content(back) == _content(path)
    kept = sum(summary.kept.values())
    print(f"{summary.records:,} records, {options.mark}, policy {options.policy}, rate 100 %\n")
    print("| records | |\n|---|---|")
    print(f"| embedded | {summary.marked:,} |")
    for reason, count in sorted(summary.kept.items(), key=lambda each: -each[1]):
        print(f"| {reason} | {count:,} |")
    print(f"| with neither a mark nor a reason | {summary.records - summary.marked - kept:,} |")
    print(f"| that do not parse, before and after | {before.total():,} and {broken.total():,} |")
    print(f"| reverted | {'the same, byte for byte' if same else 'NOT the same'} |\n")


def _content(path: Path) -> bytes:
    """What a file holds; two compressed ones with the same content may differ."""
    content = path.read_bytes()
    return gzip.decompress(content) if path.suffix == ".gz" else content


@dataclass(frozen=True, slots=True)
class Judgement:
    """What another program says of the variables that may be renamed."""

    snippets: int  # that it could read
    free: int  # variables of these that may be renamed
    unsafe: list[str]  # those of which it says that they mean other places


Oracle = Callable[[Sequence[str]], list[Answer | None]]
Judge = Callable[[Sequence[Tree]], Judgement]


def _by_places(oracle: Oracle) -> Judge:
    """Ask which places mean each variable, about some snippets at a time."""

    def judge(trees: Sequence[Tree]) -> Judgement:
        snippets = free = 0
        unsafe: list[str] = []
        for start in range(0, len(trees), BATCH):
            batch = trees[start : start + BATCH]
            answers = oracle([tree.source.decode() for tree in batch])
            for tree, answer in zip(batch, answers, strict=True):
                if answer is not None:
                    snippets += 1
                    free += count_variables([tree])["exact"]
                    unsafe += wrong_variables(tree, answer)
        return Judgement(snippets, free, unsafe)

    return judge


def _by_compiling(trees: Sequence[Tree]) -> Judgement:
    """Rename, compile, and compare what comes out."""
    judged = compiled.judge(trees)
    return Judgement(judged.snippets, judged.variables, [each.source for each in judged.wrong])


def _node(whom: str, language: str) -> Judge:
    return _by_places(lambda codes: ask_node(whom, [(code, language) for code in codes]))


JUDGES: dict[str, tuple[str, Judge]] = {
    "go": ("go/types", _by_places(ask_go)),
    "javascript": ("eslint-scope", _node("eslint", "javascript")),
    "typescript": ("TypeScript's rename", _node("rename", "typescript")),
    "tsx": ("TypeScript's rename", _node("rename", "tsx")),
    "php": ("PHP's compiler", _by_compiling),
    "ruby": ("Ruby's compiler", _by_compiling),
}


def count_variables(trees: Sequence[Tree]) -> Counter[str]:
    """Variables by the reason for which no policy renames them; `exact`: there is none."""
    return Counter(
        function.dynamic or variable.fixed or "exact"
        for tree in trees
        for function in functions(tree)
        for variable in function.variables
    )


def print_variables(trees: Sequence[Tree], unparsed: Counter[str]) -> None:
    counts = count_variables(trees)
    total, free = counts.total(), counts.pop("exact", 0)
    print(f"{len(trees):,} records parse, {unparsed.total():,} do not {dict(unparsed) or ''}\n")
    print("| variables | | |\n|---|---|---|")
    print(f"| all | {total:,} | |")
    print(f"| may be renamed | {free:,} | {free / total:.1%} |")
    for reason, count in counts.most_common():
        print(f"| {reason} | {count:,} | {count / total:.1%} |")
    languages = sorted({tree.language.name for tree in trees})
    for language in languages:
        own = [tree for tree in trees if tree.language.name == language]
        if language not in JUDGES:
            continue
        name, judge = JUDGES[language]
        judged = judge(own)
        exact = judged.free - len(judged.unsafe)
        print(f"\n{name} reads {judged.snippets:,} of {len(own):,} snippets of {language}:")
        print(f"{exact:,} variables exact, {len(judged.unsafe):,} unsafe")
        for each in judged.unsafe[:20]:
            print(f"    {each}")


def print_shorthand(trees: Sequence[Tree]) -> None:
    """Functions that can carry, with and without the rule that shorthand keeps its variable."""
    print("| mark | policy | with shorthand renamed | refused | lost |\n|---|---|---|---|---|")
    for mark in ("U1", "P1"):
        for policy in POLICIES:
            watermark = named()[mark].watermark
            refused = count_carriers(trees, watermark, policy)
            with shorthand_renamed():
                renamed = count_carriers(trees, watermark, policy)
            lost = (renamed - refused) / renamed
            print(f"| {mark} | {policy} | {renamed:,} | {refused:,} | {lost:.1%} |")


def count_carriers(trees: Sequence[Tree], watermark: Watermark, policy: Policy) -> int:
    """How many of the snippets can carry, by nature or with the prefix brought in."""
    return sum(_carries(tree, watermark, policy) for tree in trees)


def _carries(tree: Tree, watermark: Watermark, policy: Policy) -> bool:
    rng = random.Random(0)
    if isinstance(first_mark(watermark, tree, policy, rng), Mark):
        return True
    return isinstance(watermark, Introducing) and isinstance(
        first_mark(watermark, tree, policy, rng, introduce=True), Mark
    )


@contextmanager
def shorthand_renamed() -> Iterator[None]:
    """As if `{a}` could be renamed like any other place: what is counted, not what is written."""
    modules = [
        vars(plugins.load("syntax.resolvers", name)) for name in ("javascript", "typescript")
    ]
    tables: list[_scopes.Table] = [module["TABLE"] for module in modules]
    for module, table in zip(modules, tables, strict=True):
        module["TABLE"] = replace(table, shorthand=frozenset())
    try:
        yield
    finally:
        for module, table in zip(modules, tables, strict=True):
            module["TABLE"] = table
        _scopes.read.cache_clear()


if __name__ == "__main__":
    main()
