"""Small datasets for the tests of this room."""

import gzip
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from puzzlemark.corpora.base import Corpus, Derivations, Rewritten, infer, open_corpus
from puzzlemark.snippet import Edit


def function(nth: int) -> str:
    return f"def f{nth}(a):\n    total = a + {'1' * (nth + 1)}\n    return total\n"


def records(count: int) -> list[dict[str, Any]]:
    return [{"id": f"r{nth}", "code": function(nth), "language": "python"} for nth in range(count)]


def write_jsonl(path: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    content = "".join(json.dumps(row) + "\n" for row in rows).encode()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


def write_parquet(path: Path, rows: Sequence[Mapping[str, Any]], **options: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(list(rows)), path, **options)
    return path


def write(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    return write_parquet(path, rows) if path.suffix == ".parquet" else write_jsonl(path, rows)


def rename(code: str, old: str, new: str) -> tuple[Edit, ...]:
    """Every occurrence of a text becomes another."""
    source, wanted = code.encode(), old.encode()
    edits: list[Edit] = []
    at = source.find(wanted)
    while at >= 0:
        edits.append(Edit(at, wanted, new.encode()))
        at = source.find(wanted, at + len(wanted))
    return tuple(edits)


def rewrite(
    source: Path,
    output: Path,
    changes: Mapping[int, tuple[Edit, ...]],
    derivations: Derivations | None = None,
) -> Rewritten:
    corpus = open_python(source)
    return corpus.rewrite(output, changes, infer(corpus) if derivations is None else derivations)


def open_python(source: str | Path) -> Corpus:
    return open_corpus(source, language="python")


def tree(folder: Path) -> list[str]:
    """Every path below a folder."""
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


@contextmanager
def as_commoner() -> Iterator[None]:
    """Without the rights of root, who may read and write everything."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)
