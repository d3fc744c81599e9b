"""Peak memory of `embed` for a dataset and for many times as many records: `memory.py CORPUS`.

Each run is a process of its own. Its peak is the sum, over the process and its workers, of the
proportional set size (shared pages are counted once), sampled some times a second. Of the first
process, which drives the others, it is what is its own, by itself: without the pages of libraries,
of which its share depends on who else runs them. The larger datasets are the smallest one several
times over, with ids of their own. Three sizes or more tell growth from a room that is taken once:
the bytes a record are those from one size to the next.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
from isal import igzip

from puzzlemark.corpora.base import open_corpus

LIMIT = 1.5
FEWEST_BYTES = 16  # of a record, that the first process may hold
FIELDS = ("id", "code", "original_string", "language")


@dataclass(frozen=True, slots=True)
class Peak:
    """What one run took."""

    together: int = 0  # bytes, of all processes
    driver: int = 0  # the first one's own
    seconds: float = 0.0
    cpu: float = 0.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("corpus")
    parser.add_argument("--language", default="python")
    parser.add_argument("--records", type=int, default=20_000, help="size of the smallest dataset")
    parser.add_argument("--times", type=int, nargs="+", default=[1, 10], help="the others' sizes")
    parser.add_argument("--format", nargs="+", default=["jsonl.gz", "parquet"])
    parser.add_argument("--group-rows", type=int, default=1000, help="of a Parquet row group")
    parser.add_argument("--shards", type=int, default=1, help="files of the dataset; 1: no folder")
    parser.add_argument("--longest", type=int, help="characters: leave out longer functions")
    parser.add_argument("--mark", default="U1")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--place", help="a folder with room; by default that for temporary files")
    options = parser.parse_args()
    print(
        "| dataset | records | peak, MiB | of it the driver | bytes a record more | seconds "
        "| CPU seconds |"
    )
    print("|---|---|---|---|---|---|---|")
    found: dict[str, list[tuple[int, Peak]]] = {}
    with tempfile.TemporaryDirectory(dir=options.place) as place:
        for suffix in options.format:
            for times in options.times:
                path, records = make(Path(place), suffix, times, options)
                peak = run_embed(path, options)
                before = found.setdefault(suffix, [])
                each = f"{growth(before[-1], (records, peak)):.1f}" if before else ""
                before.append((records, peak))
                mib = f"{peak.together / 2**20:.0f} | {peak.driver / 2**20:.1f} | {each}"
                spent = f"{peak.seconds:.1f} | {peak.cpu:.1f}"
                print(f"| {suffix} | {records:,} | {mib} | {spent} |", flush=True)
                discard(path)
    grown = [report(suffix, peaks) for suffix, peaks in found.items() if len(peaks) > 1]
    sys.exit(any(grown))


def report(suffix: str, peaks: list[tuple[int, Peak]]) -> bool:
    """Say how memory grew; whether it grew too much."""
    (fewest, small), *_, (most, large) = peaks
    ratio = large.together / small.together
    each = growth(peaks[0], peaks[-1])
    print(
        f"{suffix}: {most / fewest:.0f} times the records, {ratio:.2f} times the memory "
        f"(limit {LIMIT}); the driver grew by {each:.1f} bytes a record (limit {FEWEST_BYTES})"
    )
    return ratio > LIMIT or each > FEWEST_BYTES


def growth(small: tuple[int, Peak], large: tuple[int, Peak]) -> float:
    """Bytes of the driver for each record that came."""
    return (large[1].driver - small[1].driver) / max(large[0] - small[0], 1)


def make(place: Path, suffix: str, times: int, options: argparse.Namespace) -> tuple[Path, int]:
    """A dataset of one file, or a folder of files that are about alike; and its records."""
    records = repeated(options, times)
    if options.shards == 1:
        path = place / f"in{times}.{suffix}"
        return path, write(path, records, options.group_rows)
    folder = place / f"in{times}"
    folder.mkdir()
    each = -(-options.records * times // options.shards)
    files = (folder / f"{number:04}.{suffix}" for number in range(options.shards))
    return folder, sum(write(path, islice(records, each), options.group_rows) for path in files)


def discard(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()


def repeated(options: argparse.Namespace, times: int) -> Iterator[dict[str, str]]:
    corpus = open_corpus(options.corpus, language=options.language)
    for turn in range(times):
        codes = (entry.code or "" for entry in corpus.entries())
        if options.longest is not None:
            codes = (code for code in codes if len(code) <= options.longest)
        for number, code in enumerate(islice(codes, options.records)):
            yield {
                "id": f"{turn}-{number}",
                "code": code,
                "original_string": code,
                "language": options.language,
            }


def write(path: Path, records: Iterator[dict[str, str]], group_rows: int) -> int:
    count = 0
    if path.suffix == ".parquet":
        schema = pa.schema([(name, pa.string()) for name in FIELDS])
        with pq.ParquetWriter(path, schema) as writer:
            while chunk := list(islice(records, group_rows)):
                writer.write_table(pa.Table.from_pylist(chunk, schema))
                count += len(chunk)
        return count
    with igzip.open(path, "wb") as file:  # type: ignore[no-untyped-call]
        for record in records:
            file.write(orjson.dumps(record) + b"\n")
            count += 1
    return count


def run_embed(path: Path, options: argparse.Namespace) -> Peak:
    output = path.with_name(f"out-{path.name}")
    command = [sys.executable, "-m", "puzzlemark.cli", "embed", str(path), "--json"]
    command += ["--output", str(output), "--language", options.language, "--mark", options.mark]
    command += ["--policy", "paper", "--secret-file", str(path.with_name("secret"))]
    command += ["--workers", str(options.workers), "--force"]
    start, before = time.perf_counter(), os.times()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    together = driver = 0
    while process.poll() is None:
        sizes = [proportional_size(pid) for pid in family(process.pid)]
        together, driver = (
            max(together, sum(sizes)),
            max(driver, proportional_size(process.pid, "Pss_Anon:")),
        )
        time.sleep(0.1)
    if process.returncode:
        sys.exit(f"embed failed with {process.returncode}")
    seconds, after = time.perf_counter() - start, os.times()
    discard(output)
    cpu = after.children_user + after.children_system
    cpu -= before.children_user + before.children_system
    return Peak(together, driver, seconds, cpu)


def family(pid: int) -> list[int]:
    """A process and its descendants."""
    found = [pid]
    for parent in found:
        try:
            text = Path(f"/proc/{parent}/task/{parent}/children").read_text(encoding="utf-8")
        except OSError:
            continue
        found += map(int, text.split())
    return found


def proportional_size(pid: int, kind: str = "Pss:") -> int:
    """Bytes of a process: its share of all pages, or of those of a kind."""
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="utf-8")
    except OSError:  # it has just ended
        return 0
    kibibytes = next((line.split()[1] for line in text.splitlines() if line.startswith(kind)), "0")
    return int(kibibytes) * 1024


if __name__ == "__main__":
    main()
