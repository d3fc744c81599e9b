"""`puzzlemark bench paper`: every experiment of the paper, in order."""

import inspect
import sys
import traceback
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from puzzlemark import plugins
from puzzlemark.cli._completing import one_of
from puzzlemark.cli.base import EngineName, output_console
from puzzlemark.cli.bench.base import GOES_ON, Corpus, given_corpora, say
from puzzlemark.errors import PuzzleMarkError, UsageError

if TYPE_CHECKING:
    from puzzlemark.bench.paper import Experiment

WHEN_INTERRUPTED = GOES_ON


def run(
    scale: Annotated[
        str,
        typer.Option(
            help="tiny (a toy model, minutes), small (a computer), full.",
            autocompletion=one_of("tiny", "small", "full"),
        ),
    ] = "tiny",
    python: Corpus = None,
    java: Corpus = None,
    base: Annotated[
        Path | None, typer.Option(help="Model to train. (default: for tiny, a toy made here)")
    ] = None,
    project: Annotated[
        list[Path] | None,
        typer.Option(help="Functions of one project, for RQ5; repeat it for more."),
    ] = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder for runs, records and pages.")
    ] = Path("paper"),
    only: Annotated[
        str | None, typer.Option(help="Which experiments, with commas. (default: all there are)")
    ] = None,
    at_once: Annotated[int, typer.Option(help="Experiments at the same time.", min=1)] = 2,
    engine: EngineName = None,
) -> None:
    """Run motivation, RQ1 to RQ5 and section 6, and write their pages.

    Goes on where it stopped: what ended well is not run again. At the scale tiny no dataset and no
    model are needed. With an engine of several machines each runs one experiment; they must see the
    same paths.

    [bold]Examples[/]

    puzzlemark bench paper --scale tiny -o paper

    puzzlemark bench paper --scale small --python p.jsonl.gz --java j.jsonl.gz --base smollm2
    """
    from puzzlemark.bench import paper, toy

    corpora = given_corpora(python, java)
    chosen = _choose(experiments(), only)
    if scale not in paper.SCALES:
        raise UsageError(f"no scale {scale!r}; known: {', '.join(paper.SCALES)}")
    if scale == "tiny":
        ground = output / "ground"
        corpora = corpora or {"python": toy.make_corpus(ground / "python.jsonl.gz")}
        some = next(iter(corpora.values()))
        base = base or toy.make_model(ground / "model", some)
        project = project or [toy.make_project(ground / "project_toy.jsonl.gz", some)]
    elif not corpora:
        raise UsageError(f"--scale {scale} needs datasets: pass --python and --java")
    outcomes = paper.run(
        output,
        chosen,
        paper.Inputs(corpora, base, tuple(project or ())),
        scale,
        call,
        at_once=at_once,
        engine=engine,
        say=say,
    )
    output_console().print(f"page      {output / 'README.md'}", markup=False)
    if failed := [each.name for each in outcomes if each.code != 0]:
        raise PuzzleMarkError(f"failed: {', '.join(failed)}; see {output / 'logs'}, and run again")


def experiments() -> "list[Experiment]":
    """Every other command of this group; one that comes later is found as well."""
    from puzzlemark.bench.paper import Experiment

    found = []
    for name, module in plugins.every("cli.bench"):
        if name != "paper":
            parameters = inspect.signature(module.run).parameters
            options = {each.name: each.default for each in parameters.values()}
            scales, records = (getattr(module, said, None) for said in ("SCALES", "RECORDS"))
            found.append(Experiment(name, options, scales or {}, records))
    return found


def _choose(found: "list[Experiment]", only: str | None) -> "list[Experiment]":
    if only is None:
        return found
    wanted = [name.strip() for name in only.split(",")]
    known = {each.name: each for each in found}
    if unknown := sorted(set(wanted) - set(known)):
        raise UsageError(f"no experiment {unknown[0]!r}; known: {', '.join(sorted(known))}")
    return [known[name] for name in wanted]


def call(words: Sequence[str], log: Path) -> int:
    """Run a command in this process; what it prints goes to the log. Its exit code."""
    from typer.main import get_command

    from puzzlemark.cli.__main__ import application

    with (
        log.open("w", encoding="utf-8") as stream,
        redirect_stdout(stream),
        redirect_stderr(stream),
    ):
        print("$ puzzlemark", *words, flush=True)
        try:
            get_command(application()).main(list(words), prog_name="puzzlemark")
        except SystemExit as exc:  # how a command ends, also well
            return exc.code if isinstance(exc.code, int) else int(exc.code is not None)
        except Exception:  # a bug of one experiment is no reason to lose the others
            traceback.print_exc(file=sys.stdout)
            return 70
    return 0
