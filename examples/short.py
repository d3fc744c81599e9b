"""Keep the functions of a dataset that a small model learns within minutes on a CPU.

`python -m examples.short functions.jsonl.gz short.jsonl.gz`: what the tutorial and the
demonstration train on. Short functions are cheap to learn, and a mark takes three names: a prefix,
a suffix and a target.
"""

import gzip
import sys
from collections.abc import Iterator
from pathlib import Path

import orjson

import puzzlemark as pm
from puzzlemark.features.measure import FEATURES

CHARACTERS = range(80, 281)
NAMES = 3
LIMITS = f"{CHARACTERS.start} to {CHARACTERS.stop - 1} characters and {NAMES} names or more"


def keep_short(dataset: Path, output: Path) -> int:
    """Write the short functions of a dataset, each once; how many there are."""
    lines = list(short_functions(dataset))
    unfinished = output.with_suffix(".partial")
    unfinished.write_bytes(gzip.compress(b"".join(lines), mtime=0))
    unfinished.replace(output)
    return len(lines)


def short_functions(dataset: Path, characters: range = CHARACTERS) -> Iterator[bytes]:
    """Lines of the dataset, each function once."""
    seen: set[str] = set()
    with gzip.open(dataset) as lines:
        for line in lines:
            code = orjson.loads(line)["code"]
            if len(code) in characters and code not in seen and names_of(code) >= NAMES:
                seen.add(code)
                yield line


def names_of(code: str) -> int:
    """How many different variables a function has."""
    measured = pm.measure(pm.parse(pm.Snippet("", code, "python")))
    return measured[FEATURES.index("dvc")]


if __name__ == "__main__":
    source, target = map(Path, sys.argv[1:])
    print(f"{keep_short(source, target):,} functions have {LIMITS} -> {target}")
