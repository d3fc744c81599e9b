"""Speed and memory of detectors on growing data: `python -m benchmarks.detectors CORPUS decoma`.

Each run is a process of its own with its workers. Its peak is the sum, over all of them, of the
proportional set size (shared pages are counted once), sampled ten times a second; beside it the sum
of the resident sets, which counts shared pages as often as they are shared. Seconds of processor
time are given beside those of the clock: on a busy machine only the former compare. A dataset
larger than the corpus is the corpus several times over, with ids of its own. The exponent is that
of the power law through the first and the last size: 1 is linear; n log n from 10,000 to 90,000
functions is 1.10.
"""

import argparse
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import orjson
from isal import igzip

from benchmarks.memory import family, proportional_size
from puzzlemark.corpora.base import open_corpus
from puzzlemark.detectors.base import load_detector

Record = dict[str, str | None]
SIZES = (10_000, 30_000, 90_000)
CODE_SEARCH_NET = 412_178  # functions of Python that the paper looks at
LIMIT_SECONDS, LIMIT_BYTES = 600, 2 * 10**9  # for so many


@dataclass(frozen=True, slots=True)
class Cost:
    """What one run took."""

    functions: int
    seconds: float
    processor: float
    peak: int
    resident: int
    flagged: float  # the share of all records


# What the authors' programs took where they were tried; they are not part of this repository, so
# none of its commands gives these figures.
AUTHORS = {
    "decoma": "| DeCoMa, the authors' program | 2,000 | | 160 | 12 | | |",
    "killbadcode": "| KillBadCode, the authors' program | 8,000 | 22 | | 364 | | |",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("corpus")
    parser.add_argument("methods", nargs="+")
    parser.add_argument("--language", default="python")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--clean", type=int, default=3000, help="clean records")
    parser.add_argument("--clean-from", help="another dataset to take them from, else this one")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--place", help="a folder with room; by default that for temporary files")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.place) as place:
        datasets = write_datasets(options, Path(place))
        print(
            "| detector | functions | seconds | processor s | functions/processor s "
            "| peak, MiB (resident) | flagged |"
        )
        print("|---|---|---|---|---|---|---|")
        for method in options.methods:
            if method in AUTHORS:
                print(AUTHORS[method])
            costs = []
            for path in datasets:
                cost = run_detect(method, path, options)
                costs.append(cost)
                print(
                    f"| `{method}` | {cost.functions:,} | {cost.seconds:.1f} "
                    f"| {cost.processor:.1f} | {cost.functions / cost.processor:,.0f} "
                    f"| {cost.peak / 2**20:.0f} ({cost.resident / 2**20:.0f}) "
                    f"| {cost.flagged:.2%} |",
                    flush=True,
                )
            report(method, costs)


def report(method: str, costs: Sequence[Cost]) -> None:
    """How the cost grows, and whether the largest run keeps to what is asked of it."""
    if len(costs) > 1:
        print(f"| `{method}`, exponent | | | {exponent(costs, 'processor'):.2f} | "
              f"| {exponent(costs, 'peak'):.2f} | |")  # fmt: skip
    largest = costs[-1]
    if largest.functions >= CODE_SEARCH_NET:
        in_time, in_room = largest.seconds <= LIMIT_SECONDS, largest.resident <= LIMIT_BYTES
        said = {True: "kept", False: "MISSED"}
        print(f"\n{method}: ten minutes by the clock {said[in_time]}, 2 GB {said[in_room]}\n")


def write_datasets(options: argparse.Namespace, place: Path) -> list[Path]:
    """Clean records are drawn evenly from the whole; each dataset is evenly drawn from the rest."""
    records = read(options.corpus, options.language)
    source = read(options.clean_from, options.language) if options.clean_from else records
    every = max(1, len(source) // options.clean)
    write(place / "clean.jsonl.gz", islice(source[::every], options.clean))
    rest = records if options.clean_from else [r for at, r in enumerate(records) if at % every]
    paths = []
    for size in sorted(options.sizes):
        paths.append(place / f"{size}.jsonl.gz")
        write(paths[-1], choose(rest, size))
    return paths


def choose(records: Sequence[Record], size: int) -> Iterator[Record]:
    """So many, evenly drawn; or all of them, again and again."""
    for at in range(size):
        if size <= len(records):
            yield records[at * len(records) // size]
        else:
            record = records[at % len(records)]
            yield {**record, "id": f"{at // len(records)}-{record['id']}"}


def read(path: str, language: str) -> list[Record]:
    return [
        {"id": entry.id, "code": entry.code, "language": language}
        for entry in open_corpus(path, language=language).entries()
    ]


def write(path: Path, records: Iterable[Record]) -> None:
    with igzip.open(path, "wb") as file:  # type: ignore[no-untyped-call]
        file.writelines(orjson.dumps(record) + b"\n" for record in records)


def run_detect(method: str, path: Path, options: argparse.Namespace) -> Cost:
    stem = path.name.partition(".")[0]
    command = [sys.executable, "-m", "puzzlemark.cli", "detect", str(path), "--json"]
    command += ["--method", method, "--output", str(path.with_name(f"{stem}.{method}.parquet"))]
    settings = dict(pair.split("=", 1) for pair in options.set)
    if load_detector(method, settings).takes_clean:
        command += ["--clean", str(path.with_name("clean.jsonl.gz"))]
    command += ["--workers", str(options.workers)]
    command += [word for pair in options.set for word in ("--set", pair)]
    before, start = os.times(), time.perf_counter()
    record = path.with_name(f"{stem}.json")
    with record.open("wb") as stream:
        process = subprocess.Popen(command, stdout=stream)
    peak = resident = 0
    while process.poll() is None:
        members = family(process.pid)
        peak = max(peak, sum(map(proportional_size, members)))
        resident = max(resident, sum(map(resident_size, members)))
        time.sleep(0.1)
    seconds, after = time.perf_counter() - start, os.times()
    if process.returncode:
        sys.exit(f"detect failed with {process.returncode}")
    processor = after.children_user + after.children_system
    processor -= before.children_user + before.children_system
    rate = orjson.loads(record.read_bytes())["rate"]
    return Cost(int(stem), seconds, processor, peak, resident, rate)


def resident_size(pid: int) -> int:
    try:
        pages = Path(f"/proc/{pid}/statm").read_text(encoding="utf-8").split()[1]
    except (OSError, IndexError):  # it has just ended
        return 0
    return int(pages) * os.sysconf("SC_PAGESIZE")


def exponent(costs: Sequence[Cost], measure: str) -> float:
    first, last = costs[0], costs[-1]
    growth = getattr(last, measure) / getattr(first, measure)
    return math.log(growth) / math.log(last.functions / first.functions)


if __name__ == "__main__":
    main()
