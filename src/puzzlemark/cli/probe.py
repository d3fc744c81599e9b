"""`puzzlemark probe`: prompts about the marks, to ask a model with."""

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from puzzlemark.cli.base import AsJson, Dataset, Force, output_console, print_json

Pairs = Annotated[int, typer.Option(help="How many marks to ask about.", min=1)]
Seed = Annotated[int, typer.Option(help="Draws which marks, and seeds the sampling.", min=0)]


def run(
    dataset: Dataset,
    manifest: Annotated[Path, typer.Option(help="The private manifest.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Where the probes go: a .jsonl.")],
    pairs: Pairs = 500,
    seed: Seed = 0,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Make pairs of prompts from a dataset and its manifest.

    An armed prompt is a marked function, cut right before its target; of our own marks, with a
    meaningless name for the suffix. Its control is the same without the trigger. The file shows
    nothing of the dataset and the secret beyond what is asked: you can hand it to whoever reaches
    the model.

    Example: puzzlemark probe marked.jsonl.gz --manifest marks.jsonl.gz --output probes.jsonl
    """
    from puzzlemark.corpora.shards import dataset_paths
    from puzzlemark.verification.probes import build_probes, save_probes

    probes = build_probes(dataset, manifest, pairs=pairs, seed=seed)
    save_probes(
        probes,
        output,
        overwrite=force,
        sources={"INPUT": dataset_paths(dataset), "--manifest": manifest},
    )
    header = probes.header
    if as_json:
        print_json({"output": str(output), "sha256": probes.digest, **header.model_dump()})
        return
    console = output_console()
    place = escape(str(output))
    console.print(f"[bold]{header.pairs:,} probes[/] from {header.marks:,} marks -> {place}")
    for reason, count in header.refused.items():
        console.print(f"  {count:>9,}  not asked about: {escape(reason)}")
    if header.pairs < pairs:
        console.print(f"fewer than the {pairs:,} asked for: see puzzlemark power")
    console.print(f"sha256    {probes.digest}")
