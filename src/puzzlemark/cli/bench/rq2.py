"""`puzzlemark bench rq2`: what each detector finds of each watermark."""

from pathlib import Path
from typing import Annotated

import typer

from puzzlemark.cli.base import Workers, errors_console, output_console
from puzzlemark.errors import UsageError

WHEN_INTERRUPTED = "what is finished is kept; the same command goes on"
Corpus = Annotated[Path | None, typer.Option(help="Dataset with functions of this language.")]


def run(
    python: Corpus = None,
    java: Corpus = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder for marked datasets and suspicions.")
    ] = Path("rq2"),
    marks: Annotated[
        str | None, typer.Option(help="Which marks, with commas. (default: all sixteen)")
    ] = None,
    methods: Annotated[
        str | None, typer.Option(help="Which detectors, with commas. (default: all five)")
    ] = None,
    size: Annotated[str, typer.Option(help="Records to draw from each dataset, or all.")] = "all",
    models: Annotated[
        Path | None,
        typer.Option(help="Folder of `bench rq1` and its budget: SS and AC need trained models."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Draws the records.")] = 0,
    workers: Workers = None,
    records: Annotated[
        Path | None, typer.Option(help="Folder for what others need to make the page again.")
    ] = None,
    page: Annotated[
        Path | None, typer.Option(help="Write the page here, from the records.")
    ] = None,
) -> None:
    """Embed every watermark, run every detector, write the table of the paper beside ours.

    Goes on where it stopped. Without a dataset, only the page is written, from the records.

    [bold]Example[/]

    puzzlemark bench rq2 --python python.jsonl.gz --marks W1,P1 --methods decoma,concat -o rq2
    """
    from puzzlemark.bench import rq2, rq2_page
    from puzzlemark.pages.files import write_text
    from puzzlemark.watermarks.base import named

    corpora = {"python": python, "java": java}
    given = {language: path for language, path in corpora.items() if path is not None}
    if given:
        if size != "all" and not size.isdecimal():
            raise UsageError(f"--size {size}: pass a number of records, or all")
        plan = rq2.Plan(
            records=None if size == "all" else int(size),
            seed=seed,
            methods=tuple(methods.split(",")) if methods else rq2.METHODS,
            workers=workers,
        )
        rq2.run(
            output,
            given,
            marks.split(",") if marks else list(named()),
            plan,
            models=_find_models(models),
            say=lambda text: errors_console().print(text, markup=False),
        )
        if records is not None:
            rq2_page.collect(output, records)
    elif page is None or records is None:
        raise UsageError("pass a dataset (--python, --java), or --records and --page")
    if page is not None and records is not None:
        write_text(page, rq2_page.page(records))
        output_console().print(f"page      {page}", markup=False)


def _find_models(folder: Path | None) -> dict[str, Path]:
    """Trained models by the set they saw; a bare twin is called bare-python-200, by its steps."""
    found = sorted(folder.glob("*/model/training.json")) if folder else []
    names = ("-".join(path.parent.parent.name.split("-")[:2]) for path in found)
    return {name: path.parent for name, path in zip(names, found, strict=True)}
