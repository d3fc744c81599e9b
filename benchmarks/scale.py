"""What a second worker brings, and what `embed` adds to the survey: `scale.py CORPUS`.

The corpus is repeated, with ids of its own for every record, to as many records as asked for, as
one file and as shards, JSONL.gz or Parquet. Each run is a process of its own, with the start of its
workers, and is told by the clock and in CPU seconds of all its processes. For one machine with as
many idle cores as workers: on a busy one read the CPU seconds only.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
from isal import igzip

import puzzlemark as pm
from puzzlemark.corpora.base import Batch, open_corpus
from puzzlemark.embedding.survey import Wanted, parse_entry, survey
from puzzlemark.engines.base import available_cores, make
from puzzlemark.errors import UnparsableSnippet
from puzzlemark.features.measure import DEFAULT

CODE_SEARCH_NET = 412_178  # functions in the Python training set that the paper marks
PARSE, SURVEY = "read and parse only", "survey"
EMBED, REUSING = "embed", "embed --features"
FILES = ("one", "shards")
FORMATS = ("jsonl.gz", "parquet")
GROUP_ROWS = 1000  # of a Parquet row group


@dataclass(frozen=True, slots=True)
class Spent:
    """What a run took."""

    clock: float
    cpu: float
    driver: float  # CPU seconds of the process that drives the workers, without its start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("corpus", help="JSONL.gz whose records say their language")
    parser.add_argument("--records", type=int, default=CODE_SEARCH_NET)
    parser.add_argument("--shards", type=int, default=16)
    parser.add_argument("--files", nargs="+", default=FILES, choices=FILES)
    parser.add_argument("--format", default=FORMATS[0], choices=FORMATS)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--repeat", type=int, default=1, help="runs of each; the best one counts")
    parser.add_argument("--place", help="a folder with room; by default that for temporary files")
    parser.add_argument("--once", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.once:
        imported = time.process_time()
        RUNS[options.once](Path(options.corpus), options.workers[0])
        print(time.process_time() - imported)
        return
    with tempfile.TemporaryDirectory(dir=options.place) as folder:
        inputs = prepare(Path(options.corpus), Path(folder), options)
        print(f"{options.records:,} records; seconds: clock, CPU of all processes, of the driver\n")
        print("| files | workers | run | clock | CPU | driver | clock / survey | CPU / survey |")
        print("|---" * 8 + "|")
        spent = {
            (files, workers): measure(inputs[files], files, workers, options.repeat)
            for files in options.files
            for workers in options.workers
        }
    summarise(spent, options)


def prepare(corpus: Path, folder: Path, options: argparse.Namespace) -> dict[str, Path]:
    """The records as one file, or as shards, or both."""
    inputs = {"one": folder / f"one.{options.format}", "shards": folder / "shards"}
    inputs["shards"].mkdir()
    (folder / "secret").write_text("5" * 64 + "\n", encoding="utf-8")
    (folder / "secret").chmod(0o600)
    write = write_parquet if options.format == "parquet" else write_lines
    if "one" in options.files:
        write(inputs["one"], islice(repeated(corpus), options.records))
    if "shards" in options.files:
        lines = islice(repeated(corpus), options.records)
        each = -(-options.records // options.shards)
        for number in range(-(-options.records // each)):
            write(inputs["shards"] / f"{number:05}.{options.format}", islice(lines, each))
    return inputs


def write_lines(path: Path, lines: Iterator[bytes]) -> None:
    with igzip.open(path, "wb") as file:  # type: ignore[no-untyped-call]
        file.writelines(lines)


def write_parquet(path: Path, lines: Iterator[bytes]) -> None:
    """All that is text as text, the rest as JSON, in row groups as the hub's datasets have them."""
    writer = None
    while chunk := [orjson.loads(line) for line in islice(lines, GROUP_ROWS)]:
        rows = [{name: as_text(value) for name, value in each.items()} for each in chunk]
        if writer is None:
            schema = pa.schema([(name, pa.string()) for name in rows[0]])
            writer = pq.ParquetWriter(path, schema)
        writer.write_table(pa.Table.from_pylist(rows, writer.schema))
    if writer is not None:
        writer.close()


def as_text(value: object) -> str | None:
    return value if value is None or isinstance(value, str) else orjson.dumps(value).decode()


def repeated(corpus: Path) -> Iterator[bytes]:
    """Its lines again and again, each with an id of its own."""
    turn = 0
    while True:
        with igzip.open(corpus) as lines:  # type: ignore[no-untyped-call]
            for row, line in enumerate(lines):
                yield orjson.dumps({"id": f"{turn}-{row}", **orjson.loads(line)}) + b"\n"
        turn += 1


def measure(path: Path, files: str, workers: int, repeat: int) -> dict[str, Spent]:
    spent: dict[str, Spent] = {}
    for name in RUNS:
        scores = path.parent / "scores.parquet"
        if name == REUSING and not scores.exists():  # once, as the records are the same
            pm.score(path, scores, workers=available_cores())
        runs = [run_once(name, path, workers) for _ in range(repeat)]
        best = (min(each) for each in zip(*((r.clock, r.cpu, r.driver) for r in runs), strict=True))
        spent[name] = Spent(*best)
        base, now = spent.get(SURVEY), spent[name]
        ratios = "| | |"
        if base is not None:
            ratios = f"| {now.clock / base.clock:.2f} | {now.cpu / base.cpu:.2f} |"
        seconds = f"{now.clock:.1f} | {now.cpu:.1f} | {now.driver:.1f}"
        print(f"| {files} | {workers} | {name} | {seconds} {ratios}", flush=True)
    return spent


def run_once(name: str, path: Path, workers: int) -> Spent:
    command = [sys.executable, "-m", "benchmarks.scale", str(path), "--once", name]
    start, before = time.perf_counter(), os.times()
    command += ["--workers", str(workers)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    clock, after = time.perf_counter() - start, os.times()
    cpu = after.children_user + after.children_system
    cpu -= before.children_user + before.children_system
    return Spent(clock, cpu, float(done.stdout))


def summarise(spent: dict[tuple[str, int], dict[str, Spent]], options: argparse.Namespace) -> None:
    fewest, most = min(options.workers), max(options.workers)
    print()
    for files in options.files:
        one, many = spent[files, fewest], spent[files, most]
        if fewest == 1:
            share = one[PARSE].driver / one[SURVEY].driver
            times = one[EMBED].driver / one[SURVEY].driver
            print(
                f"{files}, one process without its start: the survey has {share:.2f} of the speed "
                f"of reading and parsing alone (aim 0.55), embed takes {times:.2f} times the "
                "survey's CPU (aim 1.15)"
            )
        for name in one if fewest < most else ():
            clock, cpu = many[name].clock, many[name].cpu
            print(
                f"{files}, {name}: {most} workers take {clock / one[name].clock:.2f} of the time "
                f"of {fewest}; {cpu / one[name].cpu - 1:+.0%} CPU, and "
                f"{1 - cpu / clock / most:.0%} of {most} cores idle"
            )


def parse_all(path: Path, workers: int) -> None:
    with closing(make(workers)) as engine:
        for _ in open_corpus(path).counted(engine).map(parse_batch, engine):
            pass


def parse_batch(batch: Batch) -> int:
    parsed = 0
    for entry in batch.entries():
        try:
            parse_entry(entry, None)
            parsed += 1
        except UnparsableSnippet:
            continue
    return parsed


def survey_all(path: Path, workers: int) -> None:
    with closing(make(workers)) as engine:
        survey(open_corpus(path).counted(engine), Wanted(features=DEFAULT), engine)


def embed_all(path: Path, workers: int, *, reuses: bool = False) -> None:
    with tempfile.TemporaryDirectory(dir=path.parent) as place:
        pm.embed(
            path,
            Path(place) / path.name,
            watermark="universal",
            policy="paper",
            secret_file=path.parent / "secret",
            manifest=Path(place) / "manifest.jsonl.gz",
            features=path.parent / "scores.parquet" if reuses else None,
            workers=workers,
        )


RUNS: dict[str, Callable[[Path, int], None]] = {
    PARSE: parse_all,
    SURVEY: survey_all,
    EMBED: lambda path, workers: embed_all(path, workers),
    REUSING: lambda path, workers: embed_all(path, workers, reuses=True),
}


if __name__ == "__main__":
    main()
