"""Whether two versions of PuzzleMark write the same bytes.

    same_bytes.py OLD_CHECKOUT DATASET... --save before.json
    same_bytes.py NEW_CHECKOUT DATASET... --against before.json

With one input and one secret: `embed` with every preset, policy and order, `revert`, `probe`,
`score` and three detectors. A manifest holds the versions of its making, so only its marks count.
"""

import argparse
import gzip
import hashlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

PRESETS = {
    "python": ["P1", "P2", "U1", "W1", "S1", "B1", "B2", "M1"],
    "java": ["P3", "P4", "U2", "W2", "S2", "B3", "B4", "M2"],
}
DETECTORS = ("decoma", "killbadcode", "concat")
WAYS = (("paper", "keyed"), ("safe", "keyed"), ("paper", "dataset"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("tree", type=Path, help="a checkout")
    parser.add_argument("dataset", nargs="+", type=Path)
    parser.add_argument("--records", type=int, default=3000, help="of each dataset, from its start")
    parser.add_argument("--save", type=Path, help="keep the digests in this file")
    parser.add_argument("--against", type=Path, help="compare with the digests of an earlier run")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        (place / "secret").write_text("5" * 64 + "\n")
        (place / "secret").chmod(0o600)
        inputs = [made for path in options.dataset for made in prepare(path, place, options)]
        new = dict(digests(options.tree.resolve(), inputs, place / "secret", place))
    if options.save:
        options.save.write_text(json.dumps(new, indent=1) + "\n")
    old = json.loads(options.against.read_text()) if options.against else new
    different = [step for step in sorted({*old, *new}) if old.get(step) != new.get(step)]
    for step in different:
        print(f"{step}: {old.get(step)} before, {new.get(step)} now")
    failed = sum(digest.startswith("exit") for digest in new.values())
    print(f"{len(new):,} steps ({failed:,} of them refused), {len(different):,} differ")
    sys.exit(bool(different))


def prepare(path: Path, place: Path, options: argparse.Namespace) -> Iterator[tuple[Path, str]]:
    """The first records of a dataset as JSONL.gz and as Parquet, and their language."""
    with gzip.open(path) as lines:
        records = [orjson.loads(line) for line in islice(lines, options.records)]
    language = records[0]["language"]
    stem = path.name.partition(".")[0]
    with gzip.GzipFile(place / f"{stem}.jsonl.gz", "wb", mtime=0) as out:
        out.writelines(orjson.dumps(record) + b"\n" for record in records)
    yield place / f"{stem}.jsonl.gz", language
    pq.write_table(pa.Table.from_pylist(records), place / f"{stem}.parquet", row_group_size=1000)
    yield place / f"{stem}.parquet", language


def digests(
    tree: Path, inputs: list[tuple[Path, str]], secret: Path, work: Path
) -> Iterator[tuple[str, str]]:
    """A digest for each output of each command, by the command's name."""

    def run(*arguments: str | Path) -> str | None:
        command = [sys.executable, "-m", "puzzlemark", *map(str, arguments)]
        environment = {**os.environ, "PYTHONPATH": str(tree / "src")}
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        return None if done.returncode == 0 else f"exit {done.returncode}"

    for path, language in inputs:
        is_first = path.name.endswith(".gz")
        ending = ".jsonl.gz" if is_first else ".parquet"
        for preset in PRESETS[language] if is_first else PRESETS[language][:1]:
            for policy, order in WAYS:
                step = f"{path.name} {preset} {policy} {order}"
                out, manifest = work / f"marked{ending}", work / "manifest.jsonl.gz"
                hidden = ("--secret-file", secret) if order == "keyed" else ()
                problem = run(
                    *("embed", path, "-o", out, "--manifest", manifest, "--mark", preset),
                    *("--policy", policy, "--order", order, "--force", *hidden),
                )
                if problem is not None:
                    yield f"embed {step}", problem
                    continue
                yield f"embed {step}", sha256(out)
                yield f"marks {step}", sha256_of_marks(manifest)
                back = work / f"back{ending}"
                problem = run("revert", out, "-o", back, "--manifest", manifest, "--force")
                yield f"revert {step}", problem or sha256(back)
                if order == "keyed":
                    probes = work / "probes.jsonl"
                    problem = run(
                        *("probe", out, "--manifest", manifest, "-o", probes, "--pairs", "100"),
                        *("--ordinary", "10", "--force", *hidden),
                    )
                    yield f"probe {step}", problem or sha256(probes)
                if policy == "paper" and order == "keyed" and preset in ("P1", "U2") and is_first:
                    for method in DETECTORS:
                        suspicion = work / "suspicion.parquet"
                        problem = run("detect", out, "-m", method, "-o", suspicion, "--force")
                        yield f"detect {method} {step}", problem or sha256(suspicion)
        problem = run("score", path, "-o", work / "scores.parquet", "--force")
        yield f"score {path.name}", problem or sha256_of_table(work / "scores.parquet")


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def sha256_of_marks(path: Path) -> str:
    """Rows, ids and edits of the carriers."""
    state = hashlib.sha256()
    with gzip.open(path) as lines:
        next(lines)
        for line in lines:
            carrier = json.loads(line)
            marks = carrier.get("marks", [carrier])
            edits = [[edit, mark["parts"]] for mark in marks for edit in mark["edits"]]
            state.update(json.dumps([carrier["row"], carrier["id"], edits]).encode())
    return state.hexdigest()


def sha256_of_table(path: Path) -> str:
    """The columns; the metadata may hold versions."""
    return hashlib.sha256(orjson.dumps(pq.read_table(path).to_pydict())).hexdigest()


if __name__ == "__main__":
    main()
