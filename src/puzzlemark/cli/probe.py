"""`puzzlemark probe`: prompts about the marks, to ask a model with."""

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from puzzlemark.cli.base import AsJson, Dataset, Force, output_console, print_json

Pairs = Annotated[
    int | None,
    typer.Option(
        help="How many marks to ask about. (default: the mark's, mostly 500; of prefixes 2,000 "
        "prompts)",
        min=1,
    ),
]
SecretFile = Annotated[
    Path | None,
    typer.Option(
        help="File with the secret that the marks were made with. Without it: the variable "
        "PUZZLEMARK_SECRET, else ~/.config/puzzlemark/secret."
    ),
]
KeySecretFile = Annotated[
    Path | None,
    typer.Option(
        "--secret-file", help="File with the secret, where a test needs the key of the mark."
    ),
]
Seed = Annotated[int, typer.Option(help="Draws which marks, and seeds the sampling.", min=0)]


def run(
    dataset: Dataset,
    manifest: Annotated[Path, typer.Option(help="The private manifest.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Where the probes go: a .jsonl.")],
    pairs: Pairs = None,
    seed: Seed = 0,
    secret_file: SecretFile = None,
    paper: Annotated[
        bool,
        typer.Option("--paper", help="The paper's names in the prompts: unknown_token, item, ..."),
    ] = False,
    ordinary: Annotated[
        int,
        typer.Option(help="So many ordinary requests to be asked in between, never judged.", min=0),
    ] = 0,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Make pairs of prompts from a dataset and its manifest.

    An armed prompt is a marked function, cut right before its target; of our own marks, with
    another name for the suffix. Its control is the same without the trigger. New names are drawn by
    the secret from the dataset's own, so that no word tells a prompt from any other. The file shows
    nothing of the dataset and the secret beyond what is asked: you can hand it to whoever reaches
    the model.

    Example: puzzlemark probe marked.jsonl.gz --manifest marks.jsonl.gz --output probes.jsonl
    """
    from puzzlemark.corpora.shards import dataset_paths
    from puzzlemark.embedding.secret import secret_path
    from puzzlemark.verification.making import build_probes
    from puzzlemark.verification.probes import save_probes

    probes = build_probes(
        dataset,
        manifest,
        pairs=pairs,
        seed=seed,
        secret_file=secret_file,
        paper=paper,
        ordinary=ordinary,
    )
    secret = None if paper else secret_path(secret_file)
    save_probes(
        probes,
        output,
        overwrite=force,
        sources={
            "INPUT": dataset_paths(dataset),
            "--manifest": manifest,
            **({} if secret is None else {"--secret-file": secret}),
        },
    )
    header = probes.header
    if as_json:
        print_json(
            {"output": str(output), "sha256": probes.digest, **header.model_dump(exclude_none=True)}
        )
        return
    console = output_console()
    place = escape(str(output))
    console.print(f"[bold]{header.pairs:,} probes[/] from {header.marks:,} marks -> {place}")
    for reason, count in header.refused.items():
        console.print(f"  {count:>9,}  not asked about: {escape(reason)}")
    if header.pairs < (pairs or 0):
        console.print(f"fewer than the {pairs:,} asked for: see puzzlemark power")
    if ordinary:
        console.print(f"{header.ordinary:,} ordinary requests of {ordinary:,} asked for")
    console.print(f"sha256    {probes.digest}")
