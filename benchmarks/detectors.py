"""Speed and memory of detectors on growing data: `python -m benchmarks.detectors CORPUS decoma`.

Each run is a process of its own with its workers. Its peak is the sum, over all of them, of the
proportional set size (shared pages are counted once), sampled ten times a second. Seconds of
processor time are given beside those of the clock: on a busy machine only the former compare. The
exponent is that of the power law through the first and the last size: 1 is linear; n log n from
10,000 to 90,000 functions is 1.10.
"""

import argparse
import math
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import orjson

from benchmarks.memory import family, proportional_size
from puzzlemark.corpora.base import open_corpus
from puzzlemark.detectors.base import load_detector

SIZES = (10_000, 30_000, 90_000)


@dataclass(frozen=True, slots=True)
class Cost:
    """What one run took."""

    functions: int
    seconds: float
    processor: float
    peak: int
    flagged: float  # the share of all records


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
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        datasets = write_datasets(options, Path(place))
        print(
            "| detector | functions | seconds | processor s | functions/s | peak, MiB | flagged |"
        )
        print("|---|---|---|---|---|---|---|")
        for method in options.methods:
            costs = []
            for path in datasets:
                cost = run_detect(method, path, options)
                costs.append(cost)
                print(
                    f"| {method} | {cost.functions:,} | {cost.seconds:.1f} | {cost.processor:.1f} "
                    f"| {cost.functions / cost.seconds:,.0f} | {cost.peak / 2**20:.0f} "
                    f"| {cost.flagged:.2%} |",
                    flush=True,
                )
            if len(costs) > 1:
                print(f"| {method} | exponent | | {exponent(costs, 'processor'):.2f} | "
                      f"| {exponent(costs, 'peak'):.2f} | |")  # fmt: skip


def write_datasets(options: argparse.Namespace, place: Path) -> list[Path]:
    """Clean records are drawn evenly from the whole; each dataset is evenly drawn from the rest."""
    records = read(options.corpus, options.language)
    source = read(options.clean_from, options.language) if options.clean_from else records
    every = max(1, len(source) // options.clean)
    (place / "clean.jsonl").write_bytes(b"".join(islice(source[::every], options.clean)))
    rest = records if options.clean_from else [r for at, r in enumerate(records) if at % every]
    paths = []
    for size in sorted(options.sizes):
        if size > len(rest):
            sys.exit(f"{options.corpus}: only {len(rest):,} records beside the clean ones")
        paths.append(place / f"{size}.jsonl")
        chosen = (rest[at * len(rest) // size] for at in range(size))
        paths[-1].write_bytes(b"".join(chosen))
    return paths


def read(path: str, language: str) -> list[bytes]:
    return [
        orjson.dumps({"id": entry.id, "code": entry.code, "language": language}) + b"\n"
        for entry in open_corpus(path, language=language).entries()
    ]


def run_detect(method: str, path: Path, options: argparse.Namespace) -> Cost:
    command = [sys.executable, "-m", "puzzlemark.cli", "detect", str(path), "--json"]
    command += ["--method", method, "--output", str(path.with_suffix(f".{method}.parquet"))]
    settings = dict(pair.split("=", 1) for pair in options.set)
    if load_detector(method, settings).takes_clean:
        command += ["--clean", str(path.with_name("clean.jsonl"))]
    command += ["--workers", str(options.workers)]
    command += [word for pair in options.set for word in ("--set", pair)]
    before, start = os.times(), time.perf_counter()
    record = path.with_suffix(".json")
    with record.open("wb") as stream:
        process = subprocess.Popen(command, stdout=stream)
    peak = 0
    while process.poll() is None:
        peak = max(peak, sum(map(proportional_size, family(process.pid))))
        time.sleep(0.1)
    seconds, after = time.perf_counter() - start, os.times()
    if process.returncode:
        sys.exit(f"detect failed with {process.returncode}")
    processor = after.children_user + after.children_system
    processor -= before.children_user + before.children_system
    return Cost(int(path.stem), seconds, processor, peak, orjson.loads(record.read_bytes())["rate"])


def exponent(costs: list[Cost], measure: str) -> float:
    first, last = costs[0], costs[-1]
    growth = getattr(last, measure) / getattr(first, measure)
    return math.log(growth) / math.log(last.functions / first.functions)


if __name__ == "__main__":
    main()
