"""Peak memory of `embed` for a dataset and for ten times as many records: `memory.py CORPUS`.

Each run is a process of its own. Its peak is the sum, over the process and its workers, of the
proportional set size (shared pages are counted once), sampled ten times a second. The larger
dataset is the smaller one ten times over, with ids of its own.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
from isal import igzip

from puzzlemark.corpora.base import open_corpus

TIMES = 10
LIMIT = 1.3
FIELDS = ("id", "code", "original_string", "language")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("corpus")
    parser.add_argument("--language", default="python")
    parser.add_argument("--records", type=int, default=20_000, help="size of the smaller dataset")
    options = parser.parse_args()
    print("| dataset | records | peak, MiB | seconds |\n|---|---|---|---|")
    ratios = {}
    with tempfile.TemporaryDirectory() as place:
        for suffix in (".jsonl.gz", ".parquet"):
            peaks = []
            for times in (1, TIMES):
                path = Path(place) / f"in{times}{suffix}"
                records = write(path, repeated(options, times))
                peak, seconds = run_embed(path, options.language)
                peaks.append(peak)
                print(f"| {suffix[1:]} | {records:,} | {peak / 2**20:.0f} | {seconds:.1f} |")
            ratios[suffix] = peaks[1] / peaks[0]
    for suffix, ratio in ratios.items():
        verdict = "within" if ratio <= LIMIT else "OVER"
        print(f"{suffix[1:]}: {TIMES}x the records, {ratio:.2f}x the memory ({verdict} {LIMIT})")
    sys.exit(any(ratio > LIMIT for ratio in ratios.values()))


def repeated(options: argparse.Namespace, times: int) -> Iterator[dict[str, str]]:
    corpus = open_corpus(options.corpus, language=options.language)
    for turn in range(times):
        for entry in islice(corpus.entries(), options.records):
            yield {
                "id": f"{turn}-{entry.row}",
                "code": entry.code or "",
                "original_string": entry.code or "",
                "language": options.language,
            }


def write(path: Path, records: Iterator[dict[str, str]]) -> int:
    count = 0
    if path.suffix == ".parquet":
        schema = pa.schema([(name, pa.string()) for name in FIELDS])
        with pq.ParquetWriter(path, schema) as writer:
            while chunk := list(islice(records, 1000)):
                writer.write_table(pa.Table.from_pylist(chunk, schema))
                count += len(chunk)
        return count
    with igzip.open(path, "wb") as file:  # type: ignore[no-untyped-call]
        for record in records:
            file.write(orjson.dumps(record) + b"\n")
            count += 1
    return count


def run_embed(path: Path, language: str) -> tuple[int, float]:
    command = [sys.executable, "-m", "puzzlemark.cli", "embed", str(path), "--json"]
    command += ["--output", str(path.with_name(f"out-{path.name}")), "--language", language]
    command += ["--policy", "paper", "--secret-file", str(path.with_name("secret"))]
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    peak = 0
    while process.poll() is None:
        peak = max(peak, sum(map(proportional_size, family(process.pid))))
        time.sleep(0.1)
    if process.returncode:
        sys.exit(f"embed failed with {process.returncode}")
    return peak, time.perf_counter() - start


def family(pid: int) -> list[int]:
    """A process and its descendants."""
    found = [pid]
    for parent in found:
        try:
            text = Path(f"/proc/{parent}/task/{parent}/children").read_text()
        except OSError:
            continue
        found += map(int, text.split())
    return found


def proportional_size(pid: int) -> int:
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:  # it has just ended
        return 0
    kibibytes = next(line.split()[1] for line in text.splitlines() if line.startswith("Pss:"))
    return int(kibibytes) * 1024


if __name__ == "__main__":
    main()
