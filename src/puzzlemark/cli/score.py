"""`puzzlemark score`: how suitable each record is to carry a mark."""

from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from puzzlemark.cli.base import (
    AsJson,
    CodeColumn,
    Dataset,
    EngineName,
    Features,
    Fenced,
    Force,
    IdColumn,
    Language,
    LanguageColumn,
    Place,
    Projection,
    Split,
    Tau,
    Workers,
    code_path,
    output_console,
    place,
    print_json,
    progress,
)

if TYPE_CHECKING:
    from puzzlemark.embedding.scores import Scored
    from puzzlemark.stores import Location


WHEN_INTERRUPTED = "what was done is kept; the same command goes on from there"


def run(
    dataset: Dataset,
    output: Annotated[
        Place,
        typer.Option(
            "--output",
            "-o",
            parser=place,
            metavar="<path>",
            help="Parquet file for features and suitability.",
        ),
    ],
    picture: Annotated[
        Place | None,
        typer.Option(
            parser=place,
            metavar="<path>",
            help="SVG of the distribution. (default: OUTPUT with the ending .svg)",
        ),
    ] = None,
    tau: Tau = 0.35,
    features: Features = None,
    projection: Projection = "pca",
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
    """Measure every snippet, and see who may carry a mark.

    Writes ten features, the suitability and the decision for each record as Parquet, and draws the
    distribution with its threshold. Simple code is suitable: a mark in it is least conspicuous.

    [bold]Example[/]

    puzzlemark score train.jsonl.gz --output features.parquet
    """
    from puzzlemark.corpora.shards import dataset_paths
    from puzzlemark.embedding.drawing import save_scores_picture
    from puzzlemark.embedding.scores import score
    from puzzlemark.files import keep_apart, refuse_existing
    from puzzlemark.stores import locate_output

    target = locate_output(output)
    drawing = locate_output(picture or target.with_suffix(".svg"))
    keep_apart({"--output": target, "--picture": drawing}, {"INPUT": dataset_paths(dataset)})
    refuse_existing(drawing, overwrite=force)
    with progress(not as_json) as report:
        scored = score(
            dataset,
            target,
            tau=tau,
            features=features.split(",") if features else None,
            projection=projection,
            language=language,
            code_column=code_path(code_column, fenced),
            id_column=id_column,
            language_column=language_column,
            split=split,
            workers=workers,
            engine=engine,
            overwrite=force,
            progress=report,
        )
    save_scores_picture(scored, drawing, overwrite=force)
    if as_json:
        print_json({**scored.to_json(), "picture": str(drawing)})
    else:
        _print(scored, drawing)


def _print(scored: "Scored", picture: "Location") -> None:
    console = output_console()
    console.print(
        f"[bold]{scored.candidates:,} of {scored.records:,} records[/] may carry a mark "
        f"({scored.measured:,} were measured)"
    )
    if scored.threshold is not None:
        console.print(f"threshold {scored.threshold:.4f} (tau {scored.tau:g})")
    if scored.weights:
        explained = scored.explained_variance
        share = "" if explained is None else f", {explained:.0%} of the variance"
        message = "  ".join(f"{name} {weight:.3f}" for name, weight in scored.weights.items())
        console.print(f"weights   {message} ({scored.projection}{share})")
    for reason, count in scored.unmeasured.items():
        console.print(f"  not measured {count:>9,}  {escape(reason)}")
    console.print(f"scores    {escape(scored.output)}")
    console.print(f"picture   {escape(str(picture))}")
