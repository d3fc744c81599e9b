"""`puzzlemark train`: fine-tune a language model on a dataset."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)

from puzzlemark.cli._completing import names_of
from puzzlemark.cli.base import (
    AsJson,
    CodeColumn,
    Dataset,
    Fenced,
    Force,
    IdColumn,
    Language,
    LanguageColumn,
    Report,
    code_path,
    errors_console,
    output_console,
    print_json,
)
from puzzlemark.cli.probe import Seed

if TYPE_CHECKING:
    from puzzlemark.training.loop import Moment
    from puzzlemark.training.record import Trained

WHEN_INTERRUPTED = "the same command goes on from the last checkpoint"
LINES = 20  # of a log, where there is no terminal
Watch = Callable[["Moment"], None]


def run(
    dataset: Dataset,
    base: Annotated[
        str,
        typer.Option(
            help="The model to begin with: a folder, or a name in the local cache.",
            autocompletion=names_of("models.pretrained"),
        ),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The model's folder, resumed if it exists.")
    ],
    recipe: Annotated[
        str | None,
        typer.Option(
            help="paper, cpu or cpu_fast. (default: paper on a GPU, cpu elsewhere)",
            autocompletion=names_of("training.recipes"),
        ),
    ] = None,
    seed: Seed = 0,
    part: Annotated[
        Literal["all", "top", "lora"] | None,
        typer.Option(help="What is trained: all, the top layers, or an adapter."),
    ] = None,
    layers: Annotated[int | None, typer.Option(help="How many layers, with --part top.")] = None,
    rank: Annotated[int | None, typer.Option(help="Rank of the adapter.")] = None,
    alpha: Annotated[float | None, typer.Option(help="Weight of the adapter.")] = None,
    dropout: Annotated[float | None, typer.Option(help="Dropout in the adapter.")] = None,
    targets: Annotated[
        str | None, typer.Option(help="Modules that get an adapter: q_proj,v_proj.")
    ] = None,
    epochs: Annotated[float | None, typer.Option(help="Passes over the dataset.")] = None,
    steps: Annotated[int | None, typer.Option(help="Steps, instead of epochs.")] = None,
    batch: Annotated[int | None, typer.Option(help="Rows in a batch.")] = None,
    accumulate: Annotated[int | None, typer.Option(help="Batches in a step.")] = None,
    rate: Annotated[float | None, typer.Option(help="Learning rate.")] = None,
    schedule: Annotated[
        Literal["linear", "constant"] | None, typer.Option(help="Rate after the warm-up.")
    ] = None,
    warmup: Annotated[int | None, typer.Option(help="Steps until the full rate.")] = None,
    betas: Annotated[
        tuple[float, float] | None, typer.Option(help="Of AdamW: two numbers.")
    ] = None,
    weight_decay: Annotated[float | None, typer.Option(help="Of AdamW.")] = None,
    clip: Annotated[float | None, typer.Option(help="Longest gradient; 0: any.")] = None,
    max_tokens: Annotated[int | None, typer.Option(help="Tokens in a row.")] = None,
    longer: Annotated[
        Literal["cut", "skip"] | None, typer.Option(help="What happens to longer snippets.")
    ] = None,
    batching: Annotated[
        Literal["bucketed", "packed"] | None,
        typer.Option(help="One snippet a row, or snippets joined into full rows."),
    ] = None,
    dtype: Annotated[
        Literal["auto", "float32", "bfloat16"] | None, typer.Option(help="Arithmetic.")
    ] = None,
    device: Annotated[
        Literal["auto", "cpu", "cuda", "mps"] | None, typer.Option(help="Where it runs.")
    ] = None,
    threads: Annotated[int | None, typer.Option(help="On a CPU.")] = None,
    checkpoint_every: Annotated[
        int | None, typer.Option(help="Steps. (default: a twentieth of them)")
    ] = None,
    gradient_checkpointing: Annotated[
        bool | None, typer.Option(help="Less memory, a third slower.")
    ] = None,
    frozen: Annotated[
        Literal["each_step", "once"] | None,
        typer.Option(help="With --part top: when a row goes through the layers below."),
    ] = None,
    vocabulary: Annotated[
        Literal["all", "corpus", "sampled"] | None,
        typer.Option(
            help="Pieces in the softmax: all, those of the dataset, or a draw of the others, too."
        ),
    ] = None,
    cache: Annotated[
        Path | None,
        typer.Option(help="With --frozen once: folder that trainings of one base share."),
    ] = None,
    language: Language = None,
    code_column: CodeColumn = None,
    fenced: Fenced = False,
    id_column: IdColumn = None,
    language_column: LanguageColumn = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Fine-tune a causal language model on the code of a dataset.

    Nothing is downloaded. The folder becomes an ordinary transformers model (or a peft adapter)
    with training.json, which says all that is needed to repeat it, and the loss as a picture.
    Killed or stopped, the same command goes on, and ends with the same weights.

    What is not passed comes from the recipe.

    [bold]Examples[/]

    puzzlemark train marked.jsonl.gz --base smollm2 -o model/ --recipe cpu --steps 200

    puzzlemark train marked.jsonl.gz --base Qwen/Qwen2.5-3B -o model/

    puzzlemark train marked.jsonl.gz --base starcoder/ -o adapter/ --part lora --rank 16
    """
    from puzzlemark.training.run import train

    overrides = {
        "part": part,
        "layers": layers,
        "rank": rank,
        "alpha": alpha,
        "dropout": dropout,
        "targets": tuple(targets.split(",")) if targets else None,
        "epochs": epochs,
        "steps": steps,
        "batch": batch,
        "accumulate": accumulate,
        "rate": rate,
        "schedule": schedule,
        "warmup": warmup,
        "betas": betas,
        "weight_decay": weight_decay,
        "clip": clip,
        "max_tokens": max_tokens,
        "longer": longer,
        "batching": batching,
        "dtype": dtype,
        "device": device,
        "threads": threads,
        "checkpoint_every": checkpoint_every,
        "gradient_checkpointing": gradient_checkpointing,
        "frozen": frozen,
        "vocabulary": vocabulary,
    }
    with _shown(not as_json) as (report, watch):
        trained = train(
            dataset,
            base,
            output,
            recipe=recipe,
            seed=seed,
            language=language,
            code_column=code_path(code_column, fenced),
            id_column=id_column,
            language_column=language_column,
            cache=cache,
            force=force,
            progress=report,
            watch=watch,
            **{name: value for name, value in overrides.items() if value is not None},
        )
    print_json(trained.to_json()) if as_json else _print(trained)


@contextmanager
def _shown(enabled: bool) -> Iterator[tuple[Report, Watch]]:
    """A bar on a terminal, a line for each twentieth elsewhere, nothing when not enabled."""
    if not enabled:
        yield (lambda _stage, _done, _total: None), (lambda _moment: None)
    elif errors_console().is_terminal:
        yield from _bars()
    else:
        yield (lambda _stage, _done, _total: None), _log


def _bars() -> Iterator[tuple[Report, Watch]]:
    bars = Progress(
        SpinnerColumn(),
        TextColumn("{task.description:<10}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[about]}"),
        console=errors_console(),
    )
    tasks = {}

    def report(stage: str, done: int, total: int | None) -> None:
        if stage not in tasks:
            tasks[stage] = bars.add_task(stage, total=total, about="")
        bars.update(tasks[stage], completed=done, total=total)

    def watch(moment: "Moment") -> None:
        bars.update(tasks["training"], about=_about(moment))

    with bars:
        yield report, watch


def _log(moment: "Moment") -> None:
    number = moment.step.step
    if number == 1 or number % -(-moment.steps // LINES) == 0 or number == moment.steps:
        errors_console().print(f"step {number:,} of {moment.steps:,}, {_about(moment)}")


def _about(moment: "Moment") -> str:
    return (
        f"loss {moment.step.loss:.3f}, {moment.tokens_per_second:,.0f} tokens/s, "
        f"{_spell(moment.seconds_left)} left"
    )


def _spell(seconds: float) -> str:
    """`_spell(3725) -> "1:02:05"`."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _print(trained: "Trained") -> None:
    console = output_console()
    record = trained.record
    corpus, recipe, result = record["corpus"], record["recipe"], record["result"]
    verb = "was trained before" if trained.was_there else "trained"
    console.print(
        f"[bold]{verb}[/] on {corpus['documents']:,} of {corpus['records']:,} records, "
        f"{result['steps']:,} steps, {result['tokens']:,} tokens, {recipe['epochs']:g} epochs"
    )
    for reason, count in corpus["left_out"].items():
        console.print(f"  {count:>9,}  left out: {escape(reason)}")
    if corpus["cut"]:
        console.print(f"  {corpus['cut']:>9,}  cut at {recipe['max_tokens']} tokens")
    console.print(f"loss      {result['first_loss']:.3f} -> {result['final_loss']:.3f}")
    console.print(
        f"time      {_spell(record['times']['seconds'])}, "
        f"{record['times']['tokens_per_second']:,.0f} tokens/s"
    )
    console.print(f"model     {escape(str(trained.folder))} (with training.json and loss.svg)")
