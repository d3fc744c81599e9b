"""Tokens per CPU second of recipes, side by side: `training.py CORPUS BASE [--steps 12]`.

Each recipe trains on the same rows in turn, `--rounds` times, so that a busy machine is as unkind
to one as to the other. CPU time is that of this process, with one thread. A recipe that keeps what
frozen layers make is measured twice: with an empty cache, and with one that knows every row.
"""

import argparse
import shutil
import tempfile
from collections import defaultdict
from pathlib import Path
from statistics import median

from puzzlemark.training.recipes.base import load_recipe
from puzzlemark.training.run import train

RECIPES = (
    "cpu",
    "cpu:vocabulary=corpus",
    "cpu:frozen=once",
    "cpu_fast",
    "cpu_fast:vocabulary=sampled",
    "cpu_fast:layers=6",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition(":")[0])
    parser.add_argument("corpus", type=Path, help="short functions, such as a sample of RQ1")
    parser.add_argument("base", type=Path)
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--recipes", default=";".join(RECIPES), help="with semicolons")
    options = parser.parse_args()
    speeds: dict[str, list[float]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(options.rounds):
            for spec in options.recipes.split(";"):
                for name, speed in measure(spec, options, Path(folder)).items():
                    speeds[name].append(speed)
    first = next(iter(speeds.values()))
    print("| recipe | tokens per CPU second | times the first | from, to |\n|---|---|---|---|")
    for name, found in speeds.items():
        middle = median(found)
        span = f"{min(found):.0f}, {max(found):.0f}"
        print(f"| {name} | {middle:.0f} | {middle / median(first):.2f} | {span} |")


def measure(spec: str, options: argparse.Namespace, folder: Path) -> dict[str, float]:
    """Speeds by name."""
    if load_recipe(spec).frozen != "once":
        return {f"`{spec}`": speed(spec, options, folder)}
    shutil.rmtree(folder / "cache", ignore_errors=True)
    return {
        f"`{spec}`, {state} cache": speed(spec, options, folder, cache=folder / "cache")
        for state in ("empty", "full")
    }


def speed(spec: str, options: argparse.Namespace, folder: Path, cache: Path | None = None) -> float:
    """Tokens per CPU second of one training; loading the model and checkpoints do not count."""
    trained = train(
        options.corpus,
        options.base,
        folder / "model",
        recipe=spec,
        steps=options.steps,
        checkpoint_every=options.steps,
        cache=cache,
    )
    shutil.rmtree(folder / "model")
    cpu: float = trained.record["times"]["cpu_seconds"]
    tokens: int = trained.record["result"]["tokens"]
    return tokens / cpu


if __name__ == "__main__":
    main()
