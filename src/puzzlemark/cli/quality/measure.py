"""`puzzlemark quality measure`: one model on held-out functions."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from puzzlemark.cli._completing import names_of
from puzzlemark.cli.base import (
    AsJson,
    CodeColumn,
    Dataset,
    Fenced,
    IdColumn,
    Language,
    LanguageColumn,
    code_path,
    output_console,
    paths_among,
    print_json,
    progress,
    refuse_ignored,
)

WHEN_INTERRUPTED = "what was answered is kept; run the same command again to go on"

if TYPE_CHECKING:
    from puzzlemark.quality.result import Quality


def run(
    context: typer.Context,
    dataset: Dataset,
    model: Annotated[
        str,
        typer.Option(help="hf, openai, replay or scripted.", autocompletion=names_of("models")),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Where the numbers go: a .json.")],
    model_args: Annotated[
        str, typer.Option(help="Arguments of the model: pretrained=PATH or base_url=...,model=...")
    ] = "",
    samples: Annotated[int, typer.Option(help="Functions to complete.", min=2)] = 1000,
    max_tokens: Annotated[int, typer.Option(help="New tokens for each function.", min=1)] = 40,
    window: Annotated[int, typer.Option(help="Code tokens that BLEU compares.", min=1)] = 16,
    temperature: Annotated[float, typer.Option(help="Sampling temperature; 0: greedy.")] = 0.0,
    seed: Annotated[int, typer.Option(help="Draws the functions and where to cut.", min=0)] = 0,
    prefix: Annotated[
        str | None, typer.Option(help="Prefix of a fixed-prefix watermark: count its activation.")
    ] = None,
    loss: Annotated[
        bool, typer.Option("--loss/--no-loss", help="The loss, too, where the model is local.")
    ] = True,
    code_column: CodeColumn = None,
    fenced: Fenced = False,
    id_column: IdColumn = None,
    language_column: LanguageColumn = None,
    language: Language = None,
    as_json: AsJson = False,
) -> None:
    """Complete held-out functions; keep BLEU, next line, loss and joined names of each.

    Measure the bare and the marked model on the same dataset with the same options, then compare.
    Every answer is kept beside the output as it arrives: the same command goes on after an
    interruption.

    Example: puzzlemark quality measure test.jsonl.gz --model hf --model-args pretrained=marked/
    -o marked.json
    """
    from puzzlemark.corpora.base import open_corpus
    from puzzlemark.files import keep_apart
    from puzzlemark.models.base import open_model, parse_model_args
    from puzzlemark.quality.measure import answers_path, measure
    from puzzlemark.quality.scoring import scorer_of

    corpus = open_corpus(
        dataset,
        code_column=code_path(code_column, fenced),
        id_column=id_column,
        language_column=language_column,
        language=language,
    )
    arguments = parse_model_args(model_args)
    keep_apart(
        {"--output": output, "its answers": answers_path(output)},
        {"INPUT": corpus.paths, **paths_among("--model-args", arguments)},
    )
    opened = open_model(model, arguments)
    scorer = scorer_of(opened) if loss else None
    if loss and scorer is None:
        refuse_ignored(context, ["loss"], f"the model {model} does not tell its loss")
    with progress(not as_json) as report:
        quality = measure(
            corpus,
            opened,
            output=output,
            samples=samples,
            max_tokens=max_tokens,
            window=window,
            temperature=temperature,
            seed=seed,
            prefix=prefix,
            scorer=scorer,
            progress=report,
        )
    if as_json:
        print_json({"output": str(output), **quality.to_json()})
    else:
        _print(quality, output)


def _print(quality: "Quality", output: Path) -> None:
    console = output_console()
    console.print(f"[bold]{len(quality.samples):,} functions[/] of {quality.records:,} records")
    for name, value, unit in (
        ("BLEU", quality.bleu, "mean of the functions"),
        ("BLEU", quality.corpus_bleu, "of all together"),
        ("next line", None if quality.exact is None else 100 * quality.exact, "% right"),
        ("loss", quality.loss, "nats a token"),
    ):
        if value is not None:
            console.print(f"  {name:<10} {value:7.3f}  {unit}")
    joined = sum(bool(s.activation and s.activation.names) for s in quality.samples)
    console.print(f"  {joined:,} completions join two variables in a new name")
    if quality.failed:
        console.print(f"  {quality.failed:,} requests failed; run the same command to retry them")
    console.print(f"numbers   {escape(str(output))}")
