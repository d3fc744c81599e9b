"""Marked datasets, and ways to plant a leak into one."""

import gzip
import io
import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

import puzzlemark as pm

SECRET = "the secret of these tests, long enough"  # noqa: S105


class Marked:
    """A dataset, its marked version and its manifest."""

    def __init__(self, folder: Path, name: str) -> None:
        self.original, self.marked = folder / "original" / name, folder / "marked" / name
        self.manifest = folder / "manifest.jsonl.gz"

    def embed(self, **options: Any) -> "Marked":
        rates = {"tau": 0.0, "min_rate": 0.05, "max_rate": 0.1, **options}
        self.summary = pm.embed(
            self.original, self.marked, self.manifest, mark="U1", overwrite=True, **rates
        )
        return self

    def audit(self) -> dict[str, str]:
        """The outcome of each check, the worst one where it has several."""
        found = pm.audit(self.original, self.marked, self.manifest)
        worst: dict[str, str] = {}
        for finding in found.findings:
            if worst.get(finding.check) != "tells":
                worst[finding.check] = finding.outcome
        return worst

    def telling(self) -> set[str]:
        return {check for check, outcome in self.audit().items() if outcome == "tells"}

    def carriers(self) -> list[int]:
        return [carrier.row for carrier in pm.load_manifest(self.manifest) if carrier.edits]

    def copy(self, folder: Path) -> "Marked":
        shutil.copytree(self.original.parent.parent, folder, dirs_exist_ok=True)
        return Marked(folder, self.original.name)

    def edit_lines(self, edit: Callable[[list[bytes]], None]) -> None:
        """Change the lines of a marked JSON file."""
        lines = unpack(self.marked).splitlines(keepends=True)
        edit(lines)
        pack(self.marked, b"".join(lines))

    def shards(self) -> list[Path]:
        return sorted(path for path in self.marked.iterdir() if path.is_file())

    def shards_with_carriers(self) -> set[Path]:
        rows = self.carriers()
        found: set[Path] = set()
        start = 0
        for path in self.shards():
            size = len(records(path))
            found |= {path} & {path for row in rows if start <= row < start + size}
            start += size
        return found


def records(path: Path) -> list[dict[str, Any]]:
    if path.suffix == ".parquet":
        found: list[dict[str, Any]] = pq.read_table(path).to_pylist()
        return found
    return [orjson.loads(line) for line in unpack(path).splitlines()]


def unpack(path: Path) -> bytes:
    content = path.read_bytes()
    return gzip.decompress(content) if path.suffix == ".gz" else content


def pack(path: Path, content: bytes, time: int = 0) -> None:
    if path.suffix != ".gz":
        path.write_bytes(content)
        return
    buffer = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=buffer, mtime=time) as stream:
        stream.write(content)
    path.write_bytes(buffer.getvalue())


def write(path: Path, rows: Sequence[dict[str, Any]], **options: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(list(rows)), path, **options)
    else:
        pack(path, b"".join(orjson.dumps(row) + b"\n" for row in rows))


def write_shards(folder: Path, rows: Sequence[dict[str, Any]], size: int, ending: str) -> None:
    for nth in range(0, len(rows), size):
        write(folder / f"{nth // size:03}{ending}", rows[nth : nth + size])


def set_time(path: Path, seconds: float) -> None:
    os.utime(path, (seconds, seconds))
