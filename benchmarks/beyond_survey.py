"""Where the time of `embed` goes beyond the survey: `python -m benchmarks.beyond_survey CORPUS`.

One process, no profiler: some functions are replaced by themselves with a clock around them, which
reads the CPU time of the process. The time of a part is its own, without the parts inside it. The
first run loads and compiles what is needed, and is not shown; of the others the fastest is.
"""

import argparse
import gzip
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import orjson

from puzzlemark.corpora import base, revising
from puzzlemark.corpora.base import open_corpus
from puzzlemark.embedding import marking, plan, run, traces
from puzzlemark.syntax import rename

SURVEY = "survey"
# what is timed: where it is looked up, its name there, and the part of the work that it is
PARTS: tuple[tuple[Any, str, str], ...] = (
    (run, "infer", "which columns follow from the code (once)"),
    (plan, "survey", SURVEY),
    (plan, "_fit", "suitability and threshold"),
    (plan._Walk, "mark", "round: the rest, with reading"),
    (plan, "parse_entry", "round: parsing"),
    (marking, "functions", "round: resolving names"),
    (rename, "is_alpha_equivalent", "round: parsing the result, comparing trees"),
    (traces, "_look", "round: search of other columns"),
    (revising, "is_digest", "round: digests of the code"),
    (base, "write_like", "writing"),
    (run, "write_manifest", "manifest"),
)
REST = "the rest"


class Clock:
    """CPU seconds of each part; of parts inside one another the inner one runs."""

    def __init__(self) -> None:
        self.spent: dict[str, float] = defaultdict(float)
        self._parts, self._since = [REST], time.process_time()

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """What is done inside belongs to this part."""
        self._turn()
        self._parts.append(name)
        try:
            yield
        finally:
            self._turn()
            self._parts.pop()

    def around(self, function: Callable[..., Any], name: str) -> Callable[..., Any]:
        """The same function as a part."""

        def timed(*args: Any, **named: Any) -> Any:
            with self.part(name):
                result = function(*args, **named)
            return self._each(result, name) if isinstance(result, Generator) else result

        return timed

    def _each(self, made: Iterator[Any], name: str) -> Iterator[Any]:
        """What is made when it is asked for."""
        while True:
            with self.part(name):
                each = next(made, None)
            if each is None:
                return
            yield each

    def _turn(self) -> None:
        now = time.process_time()
        self.spent[self._parts[-1]] += now - self._since
        self._since = now


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("corpus")
    parser.add_argument("--language", default="python")
    parser.add_argument("--records", type=int, default=20_000)
    parser.add_argument("--mark", default="U1")
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        source = Path(name, "in.jsonl.gz")
        with gzip.open(source, "wb", 1) as file:
            records = open_corpus(options.corpus, language=options.language).records()
            file.writelines(
                orjson.dumps(record) + b"\n" for record in islice(records, options.records)
            )
        embed(source, options)  # to load and to compile
        found = [time_parts(source, options) for _ in range(options.runs)]
    best = min(found, key=lambda spent: sum(spent.values()))
    total, survey = sum(best.values()), best[SURVEY]
    print("| part | ms | of the survey |")
    print("|---|---|---|")
    for part in dict.fromkeys((*(part for _, _, part in PARTS), REST)):
        print(f"| {part} | {1000 * best[part]:.0f} | {best[part] / survey:.3f} |")
    ratios = ", ".join(f"{sum(spent.values()) / spent[SURVEY]:.2f}" for spent in found)
    print(f"embed: {1000 * total:.0f} ms, {total / survey:.2f} times the survey (runs: {ratios})")


def time_parts(source: Path, options: argparse.Namespace) -> dict[str, float]:
    """CPU seconds of each part of one run."""
    clock = Clock()
    before = [(where, name, getattr(where, name)) for where, name, _ in PARTS]
    for (where, name, function), (_, _, part) in zip(before, PARTS, strict=True):
        setattr(where, name, clock.around(function, part))
    try:
        with clock.part(REST):
            embed(source, options)
    finally:
        for where, name, function in before:
            setattr(where, name, function)
    return clock.spent


def embed(source: Path, options: argparse.Namespace) -> None:
    run.embed(
        source,
        source.with_name("out.jsonl.gz"),
        mark=options.mark,
        policy="paper",
        language=options.language,
        secret_file=source.with_name("secret"),
        overwrite=True,
    )


if __name__ == "__main__":
    main()
