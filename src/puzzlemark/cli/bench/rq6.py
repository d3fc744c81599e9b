"""`puzzlemark bench rq6`: marks with a key before attackers who know them, and in models."""

from pathlib import Path
from typing import Annotated

import typer

from puzzlemark.cli._completing import marks, names_of, one_of, with_commas
from puzzlemark.cli.base import EngineName, Workers, output_console, refuse_ignored
from puzzlemark.cli.bench.base import (
    GOES_ON,
    Corpus,
    Given,
    Page,
    Records,
    given_corpora,
    say,
    write_page,
)
from puzzlemark.errors import UsageError

WHEN_INTERRUPTED = GOES_ON
# for `bench paper`: attackers only; `--base` would train models instead
_ATTACKERS = {"base": None, "budget": None, "side_by_side": None}
SCALES = {
    "tiny": {**_ATTACKERS, "marks": "P1,synonyms"},
    "small": _ATTACKERS,
    "full": _ATTACKERS,
}


def run(
    context: typer.Context,
    python: Corpus = None,
    java: Corpus = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder for marked datasets and suspicions.")
    ] = Path("rq6"),
    marks: Annotated[
        str | None,
        typer.Option(
            help="Which watermarks, with commas; @ and a rate may follow: synonyms:share=1@0.1. "
            "(default: all that have a name, and those with a key)",
            autocompletion=with_commas(marks),
        ),
    ] = None,
    methods: Annotated[
        str | None,
        typer.Option(
            help="Which detectors, with commas: decoma, or decoma:z=2.5. "
            "(default: the four of the page)",
            autocompletion=with_commas(names_of("detectors")),
        ),
    ] = None,
    fine_tune: Annotated[
        Path | None,
        typer.Option(
            help="Model to fine-tune on a sample of each set, for spectral_signature and "
            "activation_clustering. (default: without them)"
        ),
    ] = None,
    size: Annotated[str, typer.Option(help="Records to draw from each dataset, or all.")] = "all",
    base: Annotated[
        Path | None,
        typer.Option(help="Train models instead, from this one: the folder of `model fetch`."),
    ] = None,
    budget: Annotated[
        str,
        typer.Option(
            help="With --base: tiny, cpu, cpu_all, cpu_loud, cpu_loud_deep or full: which models.",
            autocompletion=one_of("tiny", "cpu", "cpu_all", "cpu_loud", "cpu_loud_deep", "full"),
        ),
    ] = "cpu",
    jobs: Annotated[
        str | None,
        typer.Option(
            help="With --base: only these models, with commas: "
            "java-0/synonyms-share-1-rate-0-1-a,java-0/bare."
        ),
    ] = None,
    list_jobs: Annotated[
        bool,
        typer.Option("--list", help="With --base: show the models and which are done, and end."),
    ] = False,
    side_by_side: Annotated[
        int, typer.Option(help="Models trained at the same time, one core each.", min=1, max=2)
    ] = 2,
    seed: Annotated[int, typer.Option(help="Draws the records.")] = 0,
    beyond: Annotated[
        int,
        typer.Option(
            help="Leave out so many records of the draw, those of an earlier run, and take "
            "another secret.",
            min=0,
        ),
    ] = 0,
    workers: Workers = None,
    engine: EngineName = None,
    records: Records = None,
    page: Page = None,
) -> None:
    """Let every attacker look for every watermark; with a model, train it and ask.

    Goes on where it stopped. Records of a run go to a folder of --records that is called as
    the run's. Without a dataset, only the page is written, from the records.

    [bold]Examples[/]

    puzzlemark bench rq6 --python python.jsonl.gz --marks P1,synonyms --size 5000 -o rq6

    puzzlemark bench rq6 --python python.jsonl.gz --base smollm2 --budget cpu -o rq6-models
    """
    from puzzlemark.bench import rq6, rq6_models, rq6_page
    from puzzlemark.bench.choices import split_specs
    from puzzlemark.detectors.base import load_detector

    given = given_corpora(python, java)
    training = ("budget", "side_by_side", "jobs", "list_jobs")
    running = ("methods", "fine_tune", "size", "seed", "beyond", "workers", "engine", *training)
    Given(given, output, base, records, page).check(context, *running)
    if given and base is not None:
        because = "models are trained by --budget alone"
        refuse_ignored(
            context,
            ("marks", "methods", "fine_tune", "size", "seed", "beyond", "workers", "engine"),
            because,
        )
        if budget not in rq6_models.BUDGETS:
            known = ", ".join(rq6_models.BUDGETS)
            raise UsageError(f"no budget {budget!r}; known: {known}")
        chosen = rq6_models.BUDGETS[budget]
        if list_jobs:
            for job in rq6_models.plan_jobs(output, given, base, chosen):
                output_console().print(f"{'done' if job.is_done else 'open'}  {job.name}")
            return
        names = jobs.split(",") if jobs else None
        place = rq6_models.run(
            output, given, base, chosen, jobs=names, side_by_side=side_by_side, say=say
        )
        if records is not None:
            rq6_page.collect(place, records / place.name)
    elif given:
        refuse_ignored(context, training, "no model is trained without --base")
        if size != "all" and not size.isdecimal():
            raise UsageError(f"--size {size}: pass a number of records, or all")
        plan = rq6.Plan(
            records=None if size == "all" else int(size),
            seed=seed,
            beyond=beyond,
            methods=_choose_methods(methods, fine_tune),
            workers=workers,
            engine=engine,
            base=fine_tune,
        )
        for method in plan.methods:
            load_detector(method)  # refuses what there is not, before anything is written
        wanted = split_specs(marks) if marks else rq6.usual_marks()
        rq6.cases(wanted, list(given))  # the same for watermarks
        rq6.run(output, given, wanted, plan, say=say)
        if records is not None:
            rq6_page.collect(output, records / output.name)
    if page is not None and records is not None:
        write_page(page, rq6_page.page(records))


def _choose_methods(methods: str | None, base: Path | None) -> tuple[str, ...]:
    """Those that are named, or the usual ones; two of them need a model."""
    from puzzlemark.bench import rq6
    from puzzlemark.bench.choices import split_specs
    from puzzlemark.bench.tuned import NEEDS_MODEL

    every = (*rq6.METHODS, *NEEDS_MODEL) if base else rq6.METHODS
    chosen = tuple(split_specs(methods)) if methods else every
    looking = set(chosen) & set(NEEDS_MODEL)
    both = " and ".join(NEEDS_MODEL)
    if looking and base is None:
        raise UsageError(f"{both} look into a model; name the one to begin with: --fine-tune")
    if base is not None and not looking:
        raise UsageError(f"only {both} look into a model; leave out --fine-tune")
    return chosen
