"""What a process holds for each row group of a Parquet file that it writes: `footers.py CORPUS`.

Linux with glibc only. The same records are written again with row groups of several sizes: bytes
that the footer of the old file takes, and that of the new one, both as the allocator counts them;
and by how much the resident set rises at the end, when the footer is written.
"""

import argparse
import ctypes
import tempfile
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from benchmarks.memory import repeated, write
from puzzlemark.corpora.base import open_corpus
from puzzlemark.corpora.formats import parquet
from puzzlemark.corpora.formats.base import Job


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("corpus")
    parser.add_argument("--language", default="python")
    parser.add_argument("--records", type=int, default=41_218)
    parser.add_argument("--longest", type=int, help="characters: leave out longer functions")
    parser.add_argument("--group-rows", type=int, nargs="+", default=[20, 100, 1000])
    options = parser.parse_args()
    print("| rows of a group | groups | read | written | at the end | in the file |")
    print("|---|---|---|---|---|---|")
    for rows in options.group_rows:
        with tempfile.TemporaryDirectory() as place:
            path = Path(place, "in.parquet")
            write(path, repeated(options, 1), rows)
            print(measure(path, rows, options.language), flush=True)


def measure(path: Path, rows: int, language: str) -> str:
    """One row of the table: bytes for each row group."""
    before = allocated()
    file = pq.ParquetFile(path)
    held, size = allocated() - before, file.metadata.serialized_size
    groups = file.metadata.num_row_groups
    file.close()
    corpus = open_corpus(path, language=language)
    job = Job(corpus.shards[0], path.with_name("out.parquet"), corpus.columns)
    seen: list[int] = []
    resident = 0
    for _ in parquet.write(job):
        seen.append(allocated())
        if len(seen) == groups:
            resident = status("VmRSS")
            Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # forget the peak
    written = (seen[-1] - seen[groups // 2]) / max(1, groups - 1 - groups // 2)
    end = (status("VmHWM") - resident) / groups
    counts = (held / groups, written, end, size / groups)
    return f"| {rows:,} | {groups:,} | {' | '.join(f'{each:,.0f}' for each in counts)} |"


class _Mallinfo(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_size_t)
        for name in "arena ordblks smblks hblks hblkhd usm fsm uordblks fordblks keep".split()
    ]


def allocated() -> int:
    """Bytes that the C library has given out."""
    library: Any = ctypes.CDLL(None)
    library.mallinfo2.restype = _Mallinfo
    found = library.mallinfo2()
    return int(found.uordblks + found.hblkhd)


def status(name: str) -> int:
    text = Path("/proc/self/status").read_text(encoding="ascii")
    return int(text.split(f"{name}:")[1].split()[0]) * 1024


if __name__ == "__main__":
    main()
