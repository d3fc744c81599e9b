"""`puzzlemark attack`: a dataset goes in, and comes out as somebody leaves it who fears marks."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from puzzlemark.cli._completing import names_of
from puzzlemark.cli.base import (
    AsJson,
    CodeColumn,
    Dataset,
    EngineName,
    Fenced,
    Force,
    IdColumn,
    Language,
    LanguageColumn,
    Place,
    Split,
    Workers,
    code_path,
    output_console,
    place,
    print_json,
    progress,
    read_settings,
    refuse_ignored,
    warn,
)
from puzzlemark.errors import UsageError

if TYPE_CHECKING:
    from puzzlemark.attacks._run import Attacked
    from puzzlemark.bench.damage import Damage
    from puzzlemark.models.base import Estimate

WHEN_INTERRUPTED = "what was computed is kept; the same command goes on from there"
REASONS_SHOWN = 8


def run(
    context: typer.Context,
    dataset: Dataset,
    attack: Annotated[
        str,
        typer.Option(
            "--attack",
            "-a",
            help="An attack, with settings: rename:detector=concat; see: puzzlemark list.",
            autocompletion=names_of("attacks"),
        ),
    ],
    output: Annotated[
        Place | None,
        typer.Option(
            "--output",
            "-o",
            parser=place,
            metavar="<path>",
            help="Where the attacked dataset goes.",
            show_default=False,
        ),
    ] = None,
    suspicion: Annotated[
        str | None,
        typer.Option(help="What `puzzlemark detect` wrote of this dataset: which records to hit."),
    ] = None,
    other: Annotated[
        list[str] | None,
        typer.Option(help="Another dataset: to mix in, or to compare with. Repeatable."),
    ] = None,
    clean: Annotated[
        str | None,
        typer.Option(help="A dataset known to be clean, for detectors that compare."),
    ] = None,
    truth: Annotated[
        Path | None,
        typer.Option(help="The manifest of the dataset: how many of its marks are left?"),
    ] = None,
    setting: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A setting of the attack; repeatable."),
    ] = None,
    cache: Annotated[
        Path | None,
        typer.Option(
            help="Folder for results on the way, kept. (default: hidden, until all is done)"
        ),
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Count the calls and tokens of an attack that asks a model; no more."
        ),
    ] = False,
    language: Language = None,
    code_column: CodeColumn = None,
    fenced: Fenced = False,
    id_column: IdColumn = None,
    language_column: LanguageColumn = None,
    split: Split = None,
    workers: Workers = None,
    engine: EngineName = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Attack a dataset, without knowing its manifest.

    The output is the same dataset but for what the attack does: records that it leaves alone keep
    their bytes, and columns that are derived from the code are recomputed. With the manifest as the
    truth it tells how many marks survive, are broken or are dropped, and how many other records
    were lost or changed.

    What a model has answered is kept when a run is interrupted, and not asked again.

    [bold]Examples[/]

    puzzlemark attack marked.jsonl.gz --attack rename:detector=concat --output left.jsonl.gz

    puzzlemark attack marked.jsonl.gz -a dilution:rate=0.1 --other more.jsonl.gz -o mixed.jsonl.gz
    """
    import puzzlemark as pm
    from puzzlemark.bench.damage import refuse_truth
    from puzzlemark.files import keep_apart

    settings = read_settings(setting or [])
    columns = {
        "language": language,
        "code_column": code_path(code_column, fenced),
        "id_column": id_column,
        "language_column": language_column,
        "split": split,
    }
    if dry_run:
        refuse_ignored(
            context,
            "output other clean truth cache workers engine force".split(),
            "--dry-run writes nothing",
        )
        cost = pm.attack_cost(
            dataset, attack=attack, settings=settings, suspicion=suspicion, **columns
        )
        _print_cost(cost, as_json)
        return
    if output is None:
        raise UsageError("pass --output: where the attacked dataset goes")
    keep_apart({"--output": output, "--cache": cache}, {"--truth": truth})
    if truth is not None:
        refuse_truth(dataset, truth)  # a wrong one is an error before any work
    with progress(not as_json) as report:
        attacked = pm.attack(
            dataset,
            output,
            attack=attack,
            settings=settings,
            suspicion=suspicion,
            others=other or (),
            clean=clean,
            cache=cache,
            workers=workers,
            engine=engine,
            overwrite=force,
            progress=report,
            **columns,
        )
    damage = None if truth is None else pm.count_damage(attacked, truth)
    if as_json:
        print_json({**attacked.to_json(), "damage": damage and damage.to_json()})
    else:
        _print(attacked, damage)


def _print_cost(cost: "Estimate", as_json: bool) -> None:
    if as_json:
        print_json(asdict(cost))
        return
    output_console().print(
        f"at most {cost.calls:,} calls: {cost.prompt_tokens:,} tokens of prompts (estimated), and "
        f"{cost.completion_tokens:,} of answers"
    )


def _print(attacked: "Attacked", damage: "Damage | None") -> None:
    console = output_console()
    console.print(
        f"[bold]{attacked.attack}: {attacked.written:,} records written[/] of "
        f"{attacked.records:,}: {attacked.dropped:,} dropped, {attacked.changed:,} changed, "
        f"{attacked.added:,} added"
    )
    for what, count in attacked.counts.items():
        console.print(f"  {count:>9,}  {escape(what)}")
    if attacked.spared:
        console.print("left as they were, wholly or in part:")
    for reason, count in list(attacked.spared.items())[:REASONS_SHOWN]:
        console.print(f"  {count:>9,}  {escape(reason)}")
    for column, count in attacked.recomputed.items():
        console.print(f"recomputed column {escape(column)!r} in {count:,} records")
    if damage is not None:
        console.print(
            f"marks     {damage.survived:,} of {damage.marks:,} survive, {damage.broken:,} are "
            f"broken, {damage.dropped:,} are dropped"
        )
        console.print(
            f"others    {damage.clean_kept:,} of {damage.clean:,} records without a mark are as "
            f"they were, {damage.clean_changed:,} are changed, {damage.clean_dropped:,} are dropped"
        )
    console.print(f"dataset   {escape(attacked.output)}")
    console.print(f"digest    {attacked.output_digest}")
    for message in attacked.warnings:
        warn(message)
