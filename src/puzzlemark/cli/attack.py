"""`puzzlemark attack`: a dataset goes in, and comes out as somebody leaves it who fears marks."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from puzzlemark.cli.base import (
    AsJson,
    CodeColumn,
    Dataset,
    EngineName,
    Force,
    IdColumn,
    Language,
    LanguageColumn,
    Workers,
    output_console,
    print_json,
    progress,
    read_settings,
    warn,
)

if TYPE_CHECKING:
    from puzzlemark.attacks._run import Attacked
    from puzzlemark.bench.damage import Damage

REASONS_SHOWN = 8


def run(
    dataset: Dataset,
    attack: Annotated[
        str,
        typer.Option(
            "--attack",
            "-a",
            help="An attack, with settings: rename:detector=concat; see: puzzlemark list.",
        ),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Where the attacked dataset goes.")
    ],
    suspicion: Annotated[
        Path | None,
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
            help="Folder for results on the way, kept. (default: OUTPUT.cache until all is done)"
        ),
    ] = None,
    language: Language = None,
    code_column: CodeColumn = None,
    id_column: IdColumn = None,
    language_column: LanguageColumn = None,
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

    [bold]Examples[/]

    puzzlemark attack marked.jsonl.gz --attack rename:detector=concat --output left.jsonl.gz

    puzzlemark attack marked.jsonl.gz -a dilution:rate=0.1 --other more.jsonl.gz -o mixed.jsonl.gz
    """
    import puzzlemark as pm
    from puzzlemark.files import keep_apart

    keep_apart({"--output": output, "--cache": cache}, {"--truth": truth})
    if truth is not None:
        pm.load_manifest(truth)  # a wrong one is an error before any work
    with progress(not as_json) as report:
        attacked = pm.attack(
            dataset,
            output,
            attack=attack,
            settings=read_settings(setting or []),
            suspicion=suspicion,
            others=other or (),
            clean=clean,
            language=language,
            code_column=code_column,
            id_column=id_column,
            language_column=language_column,
            cache=cache,
            workers=workers,
            engine=engine,
            overwrite=force,
            progress=report,
        )
    damage = None if truth is None else pm.count_damage(attacked, truth)
    if as_json:
        print_json({**attacked.to_json(), "damage": damage and damage.to_json()})
    else:
        _print(attacked, damage)


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
