"""`puzzlemark detect`: look for marks as whoever took the dataset would."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

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
    paths_among,
    place,
    print_json,
    progress,
    read_settings,
)

if TYPE_CHECKING:
    from puzzlemark.detectors._accuracy import Accuracy, Share
    from puzzlemark.detectors._run import Detected
    from puzzlemark.stores import Location

WHEN_INTERRUPTED = "what was computed is kept; the same command goes on from there"
REASONS_SHOWN = 5


def run(
    dataset: Dataset,
    method: Annotated[
        str,
        typer.Option(
            "--method",
            "-m",
            help="decoma, killbadcode, spectral_signature, activation_clustering, concat or "
            "synonym_shadow; with settings: decoma:z=2.5.",
            autocompletion=names_of("detectors"),
        ),
    ],
    output: Annotated[
        Place,
        typer.Option(
            "--output",
            "-o",
            parser=place,
            metavar="<path>",
            help="Parquet file for the suspicion of each record.",
        ),
    ],
    clean: Annotated[
        str | None, typer.Option(help="A dataset known to be clean, for methods that compare.")
    ] = None,
    truth: Annotated[
        Path | None,
        typer.Option(help="The manifest of the dataset: how many of its marks are found?"),
    ] = None,
    setting: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A setting of the method; repeatable."),
    ] = None,
    picture: Annotated[
        Place | None,
        typer.Option(
            parser=place,
            metavar="<path>",
            help="SVG of the scores. (default: OUTPUT with the ending .svg)",
        ),
    ] = None,
    cache: Annotated[
        Path | None,
        typer.Option(
            help="Folder for results on the way, kept. (default: hidden, until all is done)"
        ),
    ] = None,
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
    """Look for marks in a dataset, without knowing its manifest.

    Writes which records are flagged, with a score and a reason each, as Parquet, and draws the
    scores. With the manifest as the truth it tells how many marks were found, and how many of the
    other records were flagged for nothing.

    [bold]Example[/]

    puzzlemark detect marked.jsonl.gz --method concat --output suspicion.parquet
    """
    from puzzlemark.bench.truth import read_truth
    from puzzlemark.corpora.shards import dataset_paths
    from puzzlemark.detectors._picture import save_suspicion_picture
    from puzzlemark.detectors._run import detect
    from puzzlemark.files import keep_apart, refuse_existing
    from puzzlemark.stores import locate_output

    target = locate_output(output)
    drawing = locate_output(picture or target.with_suffix(".svg"))
    settings = read_settings(setting or [])
    keep_apart(
        {"--output": target, "--picture": drawing, "--cache": cache},
        {
            "INPUT": dataset_paths(dataset),
            "--clean": None if clean is None else dataset_paths(clean),
            "--truth": truth,
            **paths_among("--set", settings),
        },
    )
    refuse_existing(drawing, overwrite=force)
    with progress(not as_json) as report:
        found = detect(
            dataset,
            target,
            method=method,
            settings=settings,
            clean=clean,
            truth=None if truth is None else read_truth(truth),
            language=language,
            code_column=code_path(code_column, fenced),
            id_column=id_column,
            language_column=language_column,
            split=split,
            cache=cache,
            workers=workers,
            engine=engine,
            overwrite=force,
            progress=report,
        )
    save_suspicion_picture(found, drawing, overwrite=force)
    if as_json:
        print_json({**found.to_json(), "picture": str(drawing)})
    else:
        _print(found, drawing)


def _print(found: "Detected", picture: "Location") -> None:
    console = output_console()
    console.print(
        f"[bold]{found.flagged:,} of {found.records:,} records are flagged[/] "
        f"({found.rate:.2%}) by {found.method}"
    )
    for reason, count in found.skipped.items():
        console.print(f"  not judged {count:>9,}  {escape(reason)}")
    if found.accuracy is not None:
        _print_accuracy(found.accuracy)
    for reason, count in found.suspicion.why_flagged.most_common(REASONS_SHOWN):
        console.print(f"  {count:>9,}  {escape(reason)}")
    for line in found.details.get("findings", ()):
        console.print(f"finding   {escape(str(line))}")
    console.print(f"suspicion {escape(found.output)}")
    console.print(f"picture   {escape(str(picture))}")


def _print_accuracy(accuracy: "Accuracy") -> None:
    console = output_console()
    rows: dict[str, tuple[Share, str]] = {
        "recall": (accuracy.recall, "of the marked records are flagged"),
        "FPR": (accuracy.fpr, "of the others are flagged"),
        "precision": (accuracy.precision, "of the flagged are marked"),
    }
    for name, (share, words) in rows.items():
        payload: dict[str, Any] = share.to_json()
        value = "-" if share.value is None else f"{share.value:.2%}"
        between = f"95 % interval {payload['low']:.2%} to {payload['high']:.2%}"
        console.print(
            f"{name:<10}{value:>8}  {share.hits:,} of {share.total:,} {words} ({between})"
        )
    if accuracy.f1 is not None:
        console.print(f"{'F1':<10}{accuracy.f1:>8.4f}")
