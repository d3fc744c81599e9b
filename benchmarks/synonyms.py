"""How many functions could carry a synonym, how many do, and how much each could prove.

    python -m benchmarks.synonyms csn_python_exact.jsonl.gz csn_java_exact.jsonl.gz

One line a dataset, with the settings of `puzzlemark embed --watermark synonyms`, or others: with
`--watermark synonyms:inside_line=false`. Entropies are of the priors, in nats.
"""

import argparse
import tempfile
from pathlib import Path
from statistics import fmean

import puzzlemark as pm

COLUMNS = (
    "dataset | records | eligible | carriers | of records | of eligible | renamed | classes "
    "| mean entropy | sets"
)


def main() -> None:
    """Print a table of the datasets."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("datasets", nargs="+", type=Path)
    parser.add_argument("--watermark", default="synonyms")
    parser.add_argument("--workers", type=int, default=1)
    chosen = parser.parse_args()
    print(f"| {COLUMNS} |\n|{'---|' * (COLUMNS.count('|') + 1)}")
    for dataset in chosen.datasets:
        print(row(dataset, chosen.watermark, chosen.workers), flush=True)


def row(dataset: Path, watermark: str, workers: int) -> str:
    """The numbers of one dataset, from the manifest of a real run."""
    with tempfile.TemporaryDirectory() as folder:
        secret = Path(folder, "secret")
        secret.touch(mode=0o600)
        secret.write_text("a secret for measuring only", encoding="utf-8")
        summary = pm.embed(
            dataset,
            Path(folder, f"marked-{dataset.name}"),
            Path(folder, "marks.gz"),
            watermark=watermark,
            secret_file=secret,
            workers=workers,
        )
        carriers = list(pm.load_manifest(summary.manifest))
    draws = [mark.draw for each in carriers for mark in each.marks if mark.draw is not None]
    renamed = sum(bool(each.edits) for each in carriers)
    eligible = summary.counts["eligible"]
    cells = (
        dataset.name.removesuffix(".gz").removesuffix(".jsonl"),
        f"{summary.records:,}",
        f"{eligible:,} ({eligible / summary.records:.1%})",
        f"{summary.marked:,}",
        f"{summary.rate:.2%}",
        f"{summary.marked / eligible:.1%}",
        f"{renamed:,} ({renamed / summary.marked:.0%})",
        f"{len({(draw.group, draw.unit) for draw in draws}):,}",
        f"{fmean(draw.entropy for draw in draws):.2f}",
        f"{len({draw.group for draw in draws})}",
    )
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
