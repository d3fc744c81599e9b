"""`puzzlemark probe`: prompts about the marks, to ask a model with."""

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from puzzlemark.cli.base import (
    AsJson,
    Dataset,
    Force,
    ManifestOf,
    find_manifest,
    output_console,
    print_json,
    refuse_ignored,
    warn,
    was_passed,
)

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
CommitmentFolder = Annotated[
    Path | None,
    typer.Option(
        "--commitment",
        metavar="FOLDER",
        help="The commitment whose plan decides all that is not said here.",
    ),
]
Licensee = Annotated[
    str | None,
    typer.Option(help="Whose copy the marks are of, where `embed --licensee` made them."),
]
Seed = Annotated[int, typer.Option(help="Draws which marks, and seeds the sampling.", min=0)]


def run(
    context: typer.Context,
    dataset: Dataset,
    output: Annotated[Path, typer.Option("--output", "-o", help="Where the probes go: a .jsonl.")],
    manifest: ManifestOf = None,
    pairs: Pairs = None,
    seed: Seed = 0,
    secret_file: SecretFile = None,
    commitment: CommitmentFolder = None,
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
    the model. Any other dataset than the manifest's is refused. With --commitment the plan decides
    pairs and seed, and the file names the commitment. INPUT may as well be a repository that
    `protect` has marked.

    [bold]Examples[/]

    puzzlemark probe marked.jsonl.gz --manifest marks.jsonl.gz --output probes.jsonl

    puzzlemark probe marked.jsonl.gz --manifest marks.jsonl.gz --commitment commitment -o p.jsonl
    """
    from puzzlemark.corpora.shards import dataset_paths
    from puzzlemark.embedding.secret import secret_path
    from puzzlemark.protecting.dataset import as_dataset, is_repository
    from puzzlemark.verification.making import build_probes
    from puzzlemark.verification.probes import save_probes

    manifest = find_manifest(dataset, manifest)
    if commitment is None:
        with as_dataset(dataset, manifest) as (functions, marks):
            probes = build_probes(
                functions,
                marks,
                pairs=pairs,
                seed=seed,
                secret_file=secret_file,
                paper=paper,
                ordinary=ordinary,
            )
    else:
        from puzzlemark.evidence.commitment import load_commitment
        from puzzlemark.evidence.opening import committed_probes

        refuse_ignored(context, ["paper", "ordinary"], "the plan of the commitment decides it")
        made = load_commitment(commitment)
        own_seed = seed if was_passed(context, "seed") else None
        probes = committed_probes(
            dataset, manifest, made, pairs=pairs, seed=own_seed, secret_file=secret_file
        )
        if made.content.questions not in (None, probes.questions):
            warn("these are not the questions that were committed to: a verdict is exploratory")
    secret = None if paper else secret_path(secret_file)
    save_probes(
        probes,
        output,
        overwrite=force,
        sources={
            "INPUT": Path(dataset) if is_repository(dataset, manifest) else dataset_paths(dataset),
            "--manifest": manifest,
            "--commitment": commitment or [],
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
