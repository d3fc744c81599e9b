"""Functions per second of each stage, one after the other in one run: `speed.py CORPUS`.

With several files, `speed.py csn_go.jsonl.gz csn_ruby.jsonl.gz ...`, a row for each: how fast it is
parsed, and which share of that is left with features and with a mark.

The first table is CPU time of one core in this process. The second is wall-clock time of the worker
processes: the survey (read, parse, measure) beside the whole of `embed`. Compare the ratios: the
absolute numbers depend on the machine and on what else runs on it.
"""

import argparse
import random
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import puzzlemark as pm
from puzzlemark.corpora.base import Corpus, open_corpus
from puzzlemark.embedding.marking import first_mark
from puzzlemark.embedding.survey import Wanted, parse_entry, survey
from puzzlemark.engines.base import available_cores, make
from puzzlemark.errors import UnparsableSnippet
from puzzlemark.features.measure import DEFAULT, measure
from puzzlemark.snippet import Snippet, apply_edits
from puzzlemark.syntax.tree import Tree, parse
from puzzlemark.watermarks.universal import Universal

CODE_SEARCH_NET = 412_178  # functions in the Python training set that the paper marks


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("corpus", nargs="+", help="JSONL, JSONL.gz or Parquet")
    parser.add_argument("--language", help="of the records, where no column says it")
    parser.add_argument("--sample", type=int, default=10_000, help="functions for the first table")
    parser.add_argument("--workers", type=int, default=available_cores())
    parser.add_argument("--repeat", type=int, default=1, help="runs of the second table; best one")
    options = parser.parse_args()
    if len(options.corpus) > 1:
        compare_languages(options.corpus, options.language, options.sample)
        return
    (options.corpus,) = options.corpus
    corpus = open_corpus(options.corpus, language=options.language)
    measure_stages(sample_of(corpus, options.sample))
    measure_embed(corpus, options)


def sample_of(corpus: Corpus, size: int) -> list[Snippet]:
    """Evenly spread parsable snippets."""
    step = max(1, corpus.count() // size)
    snippets: list[Snippet] = []
    for entry in corpus.entries():
        if entry.row % step or len(snippets) == size:
            continue
        try:
            snippets.append(parse_entry(entry, None).snippet)
        except UnparsableSnippet:
            continue
    return snippets


def compare_languages(paths: list[str], language: str | None, size: int) -> None:
    """The same stages, a row for each file; shares are of parsing only."""
    print("\n| file | functions | parse only, functions/s | " + " | ".join(SHARES) + " |")
    print("|---" * (3 + len(SHARES)) + "|")
    for path in paths:
        snippets = sample_of(open_corpus(path, language=language), size)
        rates = rates_of(snippets)
        parse_only = rates.pop("parse only")
        shares = " | ".join(f"{rates[name] / parse_only:.2f}" for name in SHARES)
        row = f"{Path(path).name} | {len(snippets):,} | {parse_only:,.0f} | {shares}"
        print(f"| {row} |", flush=True)


SHARES = ("parse + the seven features", "parse + all ten", "parse + plan + apply")


def measure_stages(snippets: list[Snippet]) -> None:
    rates = rates_of(snippets)
    print(f"\n{len(snippets):,} functions, one core, CPU time\n")
    print("| stage | functions/s | share of parse only |\n|---|---|---|")
    for name, rate in rates.items():
        print(f"| {name} | {rate:,.0f} | {rate / rates['parse only']:.2f} |")


def rates_of(snippets: list[Snippet]) -> dict[str, float]:
    """Functions a second of each stage."""
    universal, rng = Universal(), random.Random(0)

    def plan_and_apply(tree: Tree) -> None:
        mark = first_mark(universal, tree, "paper", rng)
        if isinstance(mark, pm.Mark):
            apply_edits(tree.code, mark.edits)

    stages: dict[str, Callable[[Snippet], object]] = {
        "parse only": parse,
        "parse + the seven features": lambda snippet: measure(parse(snippet), DEFAULT),
        "parse + all ten": lambda snippet: measure(parse(snippet)),
        "parse + plan + apply": lambda snippet: plan_and_apply(parse(snippet)),
    }
    return {name: len(snippets) / cpu_seconds(stage, snippets) for name, stage in stages.items()}


def cpu_seconds(stage: Callable[[Snippet], object], snippets: list[Snippet]) -> float:
    best = float("inf")
    for _ in range(3):
        start = time.process_time()
        for snippet in snippets:
            stage(snippet)
        best = min(best, time.process_time() - start)
    return best


def measure_embed(corpus: Corpus, options: argparse.Namespace) -> None:
    runs: dict[str, Callable[[Path], object]] = {
        "survey (read, parse, measure)": lambda _: survey_once(corpus, options.workers),
        "embed, universal": lambda place: embed_once(corpus, options, place, "universal"),
        "embed, fixed_prefix:prefix=key": lambda place: embed_once(
            corpus, options, place, "fixed_prefix:prefix=key"
        ),
    }
    records = corpus.count()
    seconds = {name: min(wall(run) for _ in range(options.repeat)) for name, run in runs.items()}
    first = next(iter(seconds.values()))
    print(f"\n{records:,} records, {options.workers} workers, wall-clock time\n")
    print(f"| run | seconds | records/s | times the survey | for {CODE_SEARCH_NET:,} |")
    print("|---|---|---|---|---|")
    for name, spent in seconds.items():
        rate, times = records / spent, spent / first
        scaled = CODE_SEARCH_NET / rate
        print(f"| {name} | {spent:.1f} | {rate:,.0f} | {times:.2f} | {scaled:.0f} s |")


def wall(run: Callable[[Path], object]) -> float:
    with tempfile.TemporaryDirectory() as place:
        start = time.perf_counter()
        run(Path(place))
        return time.perf_counter() - start


def survey_once(corpus: Corpus, workers: int) -> None:
    with closing(make(workers)) as engine:
        survey(corpus, Wanted(features=DEFAULT), engine)


def embed_once(corpus: Corpus, options: argparse.Namespace, place: Path, watermark: str) -> None:
    name = corpus.path.name if corpus.path.is_file() else "marked"
    pm.embed(
        options.corpus,
        place / name,
        watermark=watermark,
        policy="paper",  # like the stages above
        language=options.language,
        secret_file=place / "secret",
        workers=options.workers,
    )


if __name__ == "__main__":
    main()
